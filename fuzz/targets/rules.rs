//! Permission rules.

#![no_main]

#[path = "../../crates/schema/src/permission/fuzz.rs"]
mod fuzz;

use opencode_schema::permission::{
    PermissionEffect, PermissionRule, Ruleset, evaluate, is_denied_everywhere, matches,
};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
