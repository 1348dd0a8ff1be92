//! Error responses of providers.

#![no_main]

#[path = "../../crates/protocols/tests/fuzz/retry.rs"]
mod retry;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    retry::check(input);
});
