//! Configuration documents.

#![no_main]

#[path = "../../crates/location/src/config/fuzz.rs"]
mod fuzz;
#[path = "../../crates/location/src/config/jsonc.rs"]
mod jsonc;
#[path = "../../crates/location/src/config/step.rs"]
mod step;

use opencode_location::config::problems;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
