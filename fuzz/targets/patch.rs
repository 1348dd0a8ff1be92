//! Patches.

#![no_main]

/// The place of the texts of files in the crate.
mod builtin {
    #[path = "../../../crates/tools/src/builtin/text/mod.rs"]
    pub(crate) mod text;
}

#[path = "../../crates/tools/src/builtin/apply_patch/find.rs"]
mod find;
#[path = "../../crates/tools/src/builtin/apply_patch/fuzz.rs"]
mod fuzz;
#[path = "../../crates/tools/src/builtin/apply_patch/parse/mod.rs"]
mod parse;
#[path = "../../crates/tools/src/builtin/apply_patch/update/mod.rs"]
mod update;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
