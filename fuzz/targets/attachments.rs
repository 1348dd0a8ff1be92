//! Text attachments.

#![no_main]

#[path = "../../crates/runtime/src/inbox/attached_text.rs"]
mod attached_text;
#[path = "../../crates/runtime/src/inbox/fuzz.rs"]
mod fuzz;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
