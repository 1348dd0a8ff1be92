//! Patches.

#![no_main]

#[path = "../../crates/tools/src/builtin/apply_patch/fuzz.rs"]
mod fuzz;
#[path = "../../crates/tools/src/builtin/apply_patch/parse.rs"]
mod parse;
#[path = "../../crates/tools/src/builtin/apply_patch/update.rs"]
mod update;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
