//! Replays the stored corpus of the fuzzer without the fuzzer.

#![expect(
    clippy::expect_used,
    reason = "a helper that cannot go on fails its test"
)]

#[path = "../../../../fuzz/replay.rs"]
mod replay;
mod reply;
mod retry;

use opencode_llm::ProtocolId;

use replay::replay;

#[test]
fn replies_of_anthropic_keep_their_properties() {
    replay("anthropic", |input| {
        reply::check(ProtocolId::AnthropicMessages, input);
    });
}

#[test]
fn replies_of_bedrock_keep_their_properties() {
    replay("bedrock", |input| {
        reply::check(ProtocolId::BedrockConverse, input);
    });
}

#[test]
fn replies_of_chat_keep_their_properties() {
    replay("chat", |input| reply::check(ProtocolId::OpenAiChat, input));
}

#[test]
fn replies_of_gemini_keep_their_properties() {
    replay("gemini", |input| reply::check(ProtocolId::Gemini, input));
}

#[test]
fn replies_of_responses_keep_their_properties() {
    replay("responses", |input| {
        reply::check(ProtocolId::OpenAiResponses, input);
    });
}

#[test]
fn refusals_keep_their_properties() {
    replay("retry", retry::check);
}
