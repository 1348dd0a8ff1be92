//! Request bodies.

#![no_main]

#[path = "../../crates/protocol/tests/fuzz/properties/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    bodies::check(input);
});
