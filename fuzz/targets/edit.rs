//! Text replacements.

#![no_main]

#[path = "../../crates/tools/src/builtin/edit/fuzz.rs"]
mod fuzz;
#[path = "../../crates/tools/src/builtin/edit/matching.rs"]
mod matching;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
