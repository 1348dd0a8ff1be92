//! Cursors.

#![no_main]

#[path = "../../crates/protocol/tests/fuzz/properties/cursors.rs"]
mod cursors;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    cursors::check(input);
});
