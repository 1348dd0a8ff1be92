//! Request paths.

#![no_main]

#[path = "../../crates/server/src/router/path/fuzz.rs"]
mod fuzz;
#[path = "../../crates/server/src/router/path/mod.rs"]
mod path;

use path::Canonical;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
