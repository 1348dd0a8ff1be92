//! Removal of secrets from the provider's output: each part is cleaned when it is finished, before it is recorded.

use opencode_location::secret::Redactor;
use opencode_schema::Record;
use opencode_schema::event::SessionEvent;
use opencode_schema::message::{ProviderMetadata, SessionErrorUnknown, ToolContent};
use serde_json::Value;

/// Removes secrets from the parts of an event that come from a provider. The results of local calls
/// were cleaned when the calls settled.
pub(super) fn clean(event: &mut SessionEvent, secrets: &Redactor) {
    match event {
        SessionEvent::TextEnded(ended) => secrets.clean(&mut ended.text),
        SessionEvent::ReasoningStarted(started) => {
            clean_metadata(started.provider_metadata.as_mut(), secrets);
        }
        SessionEvent::ReasoningEnded(ended) => {
            secrets.clean(&mut ended.text);
            clean_metadata(ended.provider_metadata.as_mut(), secrets);
        }
        SessionEvent::ToolInputEnded(ended) => secrets.clean(&mut ended.text),
        SessionEvent::ToolCalled(called) => {
            secrets.clean_members(&mut called.input);
            clean_metadata(called.provider.metadata.as_mut(), secrets);
        }
        SessionEvent::ToolSuccess(success) if success.provider.executed => {
            clean_hosted(&mut success.structured, &mut success.content, secrets);
            clean_result(success.result.as_mut(), secrets);
            clean_metadata(success.provider.metadata.as_mut(), secrets);
        }
        SessionEvent::ToolFailed(failed) => {
            clean_error(&mut failed.error, secrets);
            clean_result(failed.result.as_mut(), secrets);
            clean_metadata(failed.provider.metadata.as_mut(), secrets);
        }
        SessionEvent::OutputProduced(produced) => secrets.clean_members(&mut produced.output),
        SessionEvent::OutputFailed(failed) => clean_error(&mut failed.error, secrets),
        SessionEvent::OutputRejected(rejected) => secrets.clean(&mut rejected.text),
        SessionEvent::StepFailed(failed) => clean_error(&mut failed.error, secrets),
        _ => {}
    }
}

fn clean_hosted(structured: &mut Record, content: &mut [ToolContent], secrets: &Redactor) {
    secrets.clean_members(structured);
    for part in content {
        if let ToolContent::Text { text } = part {
            secrets.clean(text);
        }
    }
}

fn clean_error(error: &mut SessionErrorUnknown, secrets: &Redactor) {
    secrets.clean(&mut error.message);
}

fn clean_result(result: Option<&mut Value>, secrets: &Redactor) {
    if let Some(result) = result {
        secrets.clean_value(result);
    }
}

fn clean_metadata(metadata: Option<&mut ProviderMetadata>, secrets: &Redactor) {
    for members in metadata.into_iter().flat_map(|it| it.values_mut()) {
        secrets.clean_members(members);
    }
}
