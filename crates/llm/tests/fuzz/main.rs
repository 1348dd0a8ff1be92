//! The kept corpus of the fuzzer, replayed without the fuzzer.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod reply;

use std::path::Path;

use opencode_llm::ProtocolId;

fn replay(target: &str, protocol: ProtocolId) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut inputs = 0;
    for entry in std::fs::read_dir(corpus.join(target)).unwrap() {
        reply::check(protocol, &std::fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "the corpus of {target} is empty");
}

#[test]
fn replies_of_anthropic_keep_their_properties() {
    replay("anthropic", ProtocolId::AnthropicMessages);
}

#[test]
fn replies_of_chat_keep_their_properties() {
    replay("chat", ProtocolId::OpenAiChat);
}

#[test]
fn replies_of_responses_keep_their_properties() {
    replay("responses", ProtocolId::OpenAiResponses);
}
