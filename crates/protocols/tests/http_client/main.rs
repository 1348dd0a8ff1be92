//! Tests of the HTTP client with a server that is scripted byte by byte.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod authorized;
mod downloads;
mod exchange;
mod failures;
mod retry;
mod server;

use std::sync::Arc;
use std::time::SystemTime;

use futures::StreamExt;
use opencode_llm::{
    FinishReason, LlmError, LlmEvent, LlmRequest, Message, ModelClient, Part, ProtocolId,
    ResolvedModel, Sources,
};
use opencode_protocols::{HttpModelClient, HttpOptions};

const HELLO: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn options() -> HttpOptions {
    HttpOptions {
        // The middle of the range, so that waits have no jitter.
        sources: Sources::new(|| 1 << 63, || SystemTime::UNIX_EPOCH),
        // A paused clock jumps to the next timer when no task can run, so only the tested timers may exist.
        connect_timeout: None,
        ..HttpOptions::default()
    }
}

fn request(base_url: &str, change: impl FnOnce(&mut ResolvedModel)) -> LlmRequest {
    let mut model = ResolvedModel::new("mock", "m1", ProtocolId::OpenAiChat, base_url);
    change(&mut model);
    LlmRequest {
        messages: vec![Message::user([Part::text("hi")])].into(),
        ..LlmRequest::new(Arc::new(model))
    }
}

type Item = Result<Vec<LlmEvent>, LlmError>;

async fn items(request: LlmRequest) -> Vec<Item> {
    HttpModelClient::new(options())
        .stream(request)
        .collect()
        .await
}

/// Returns all events, and the failure that ended them.
async fn outcome(request: LlmRequest) -> (Vec<LlmEvent>, Option<LlmError>) {
    let mut events = Vec::new();
    let mut failure = None;
    for item in items(request).await {
        assert_eq!(failure, None, "nothing follows a failure");
        match item {
            Ok(batch) => {
                assert!(!batch.is_empty());
                events.extend(batch);
            }
            Err(error) => failure = Some(error),
        }
    }
    (events, failure)
}

async fn failure(request: LlmRequest) -> LlmError {
    outcome(request).await.1.unwrap()
}

fn says_hi(events: &[LlmEvent]) -> bool {
    let hi = |event: &LlmEvent| matches!(event, LlmEvent::TextDelta { text, .. } if text == "Hi");
    events.iter().any(hi)
        && matches!(
            events.last(),
            Some(LlmEvent::Finish {
                reason: FinishReason::Stop,
                ..
            })
        )
}
