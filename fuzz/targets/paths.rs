//! Paths that a model writes.

#![no_main]

#[path = "../../crates/location/tests/suite/contained.rs"]
mod paths;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    paths::check(input);
});
