//! Requests and events of models of the embedding program.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod decode;
mod encode;
#[path = "../common/outcome.rs"]
mod outcome;

use std::sync::Arc;

use opencode_llm::{LlmRequest, Message, ProtocolId, ResolvedModel};

fn model(change: impl FnOnce(&mut ResolvedModel)) -> Arc<ResolvedModel> {
    let mut model = ResolvedModel::new("mine", "m1", ProtocolId::Program(7), "");
    change(&mut model);
    Arc::new(model)
}

fn request_to(model: Arc<ResolvedModel>, messages: Vec<Message>) -> LlmRequest {
    LlmRequest {
        messages: messages.into(),
        ..LlmRequest::new(model)
    }
}
