//! Options as JSON.

#![no_main]

#[path = "../../crates/host/src/fuzz.rs"]
mod fuzz;

use opencode_host::{HostOptions, ListenOptions, LogOptions};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzz::check(input);
});
