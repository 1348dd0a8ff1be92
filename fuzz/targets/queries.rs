//! Query strings and path parameters.

#![no_main]

#[path = "../../crates/protocol/tests/fuzz/properties/queries.rs"]
mod queries;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    queries::check(input);
});
