//! Request paths.

#![no_main]

#[path = "../../crates/server/src/router/path/fuzz.rs"]
mod fuzz;
#[path = "../../crates/server/src/router/path/mod.rs"]
mod path;

use path::{Params, Template, parse_segments};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
