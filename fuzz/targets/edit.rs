//! Text replacements.

#![no_main]

/// The place of the texts of files in the crate.
mod builtin {
    #[path = "../../../crates/tools/src/builtin/text/mod.rs"]
    pub(crate) mod text;
}

#[path = "../../crates/tools/src/builtin/edit/fuzz.rs"]
mod fuzz;
#[path = "../../crates/tools/src/builtin/edit/matching/mod.rs"]
mod matching;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
