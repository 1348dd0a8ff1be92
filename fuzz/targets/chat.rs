//! Response bodies of OpenAI Chat Completions.

#![no_main]

#[path = "../../crates/protocols/tests/fuzz/reply.rs"]
mod reply;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    reply::check(opencode_llm::ProtocolId::OpenAiChat, input);
});
