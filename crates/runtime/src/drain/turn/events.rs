//! The effect of one event of the provider on a turn.

use std::sync::Arc;

use opencode_llm::{BlockId, LlmError, LlmEvent};
use opencode_schema::message::{ErrorCause, SessionErrorUnknown};
use opencode_tools::ToolCall;

use super::super::ends::Finish;
use super::super::publisher::FragmentKind;
use super::super::translate::{hosted, hosted_failure, is_paused, refusal};
use super::{MAX_ANSWER, Turn};
use crate::history::lowering::from_llm;
use crate::json::escaped_bytes;
use crate::provider::kind_of;

impl Turn<'_> {
    /// Counts the received bytes. Returns an error if they exceed the limit of one answer.
    pub(super) fn count(&mut self, event: &LlmEvent) -> Option<LlmError> {
        if let LlmEvent::TextDelta { text, .. }
        | LlmEvent::ReasoningDelta { text, .. }
        | LlmEvent::ToolInputDelta { text, .. } = event
        {
            self.received += escaped_bytes(text);
        }
        (self.received > MAX_ANSWER).then(|| {
            let message = format!("The provider sent more than {MAX_ANSWER} bytes in one answer");
            LlmError::invalid_output(&self.route, message)
        })
    }

    /// Applies an event. `paths` are the files that it stored.
    pub(super) fn apply(&mut self, event: LlmEvent, paths: Vec<String>) -> Option<LlmError> {
        let publisher = &mut self.publisher;
        match event {
            LlmEvent::StepStart { .. } | LlmEvent::Finish { .. } => {}
            LlmEvent::TextStart { id, .. } => publisher.begin_text(id),
            LlmEvent::TextDelta { id, text, .. } => {
                if let Some(output) = &mut self.output {
                    output.append(&text);
                }
                publisher.append(FragmentKind::Text, &id, text);
            }
            LlmEvent::TextEnd {
                id,
                provider_metadata,
            } => publisher.end(FragmentKind::Text, &id, from_llm(provider_metadata)),
            LlmEvent::ReasoningStart {
                id,
                provider_metadata,
            } => {
                publisher.begin_reasoning(id, from_llm(provider_metadata));
            }
            LlmEvent::ReasoningDelta { id, text, .. } => {
                publisher.append(FragmentKind::Reasoning, &id, text);
            }
            LlmEvent::ReasoningEnd {
                id,
                provider_metadata,
            } => {
                publisher.end(FragmentKind::Reasoning, &id, from_llm(provider_metadata));
            }
            LlmEvent::ToolInputStart { id, name, .. } => {
                self.calls.begin(&id);
                publisher.begin_tool_input(id, &name);
            }
            LlmEvent::ToolInputDelta { id, text, .. } => {
                publisher.append(FragmentKind::ToolInput, &id, text);
            }
            LlmEvent::ToolInputEnd { id, .. } => publisher.end(FragmentKind::ToolInput, &id, None),
            LlmEvent::InvalidToolCall {
                id,
                name,
                problem,
                provider_metadata,
            } => self.record_invalid_call(&id, &name, problem, from_llm(provider_metadata)),
            call @ (LlmEvent::ToolCall { .. }
            | LlmEvent::ToolResult { .. }
            | LlmEvent::ToolError { .. }) => return self.apply_call(call, paths),
            LlmEvent::Cited(source) => publisher.remember_source(*source),
            LlmEvent::StepFinish {
                reason,
                usage,
                provider_metadata,
                ..
            } => {
                if let Some(id) = self.calls.incomplete() {
                    let message =
                        format!("The provider finished its answer inside the tool call {id}");
                    let error = LlmError::invalid_output(&self.route, message);
                    return Some(error.ended_by(Some(reason)));
                }
                publisher.ensure_step();
                publisher.end_all();
                self.finish = Some(Finish {
                    reason,
                    usage,
                    is_paused: is_paused(provider_metadata.as_ref()) && self.calls.may_run(),
                    refusal: refusal(provider_metadata.as_ref()),
                });
            }
            ref failure @ LlmEvent::ProviderError {
                ref message,
                kind,
                retryable,
                ..
            } => {
                let may_be = failure.may_be_overflow();
                if may_be {
                    self.refused = self.size.refused(message);
                }
                let advice = self.size.advice(kind, may_be, &self.provider_id);
                let message = match advice {
                    Some(advice) => format!("{}. {advice}", message.trim_end_matches('.')),
                    None => message.clone(),
                };
                let cause = ErrorCause {
                    kind: kind_of(kind),
                    status: None,
                    retryable,
                    retry_after_ms: None,
                    provider_id: Some(self.provider_id.clone()),
                };
                // Before the end of the step, so that a client that follows it learns what became of the calls.
                publisher.end_all();
                self.fail_not_started(cause.kind, &message);
                self.provider_failed = true;
                self.fail_step(SessionErrorUnknown {
                    cause: Some(cause),
                    ..SessionErrorUnknown::new(message)
                });
            }
        }
        None
    }

    /// Ends the input of a call.
    pub(super) fn end_input(&mut self, id: &BlockId, name: &str) {
        if !self.calls.is_begun(id) {
            // Some protocols send a call in one piece. Its record still needs a beginning.
            self.calls.begin(id);
            self.publisher.begin_tool_input(Arc::clone(id), name);
        }
        self.publisher.end(FragmentKind::ToolInput, id, None);
    }

    /// Records a complete call, or the outcome of a call that the provider ran itself.
    fn apply_call(&mut self, event: LlmEvent, paths: Vec<String>) -> Option<LlmError> {
        let (id, outcome) = match event {
            LlmEvent::ToolCall {
                id,
                name,
                input,
                provider_executed,
                provider_metadata,
            } => {
                if self.calls.is_repeated(&id) {
                    let message =
                        format!("The provider repeated the tool call {id} in one message");
                    return Some(LlmError::invalid_output(&self.route, message));
                }
                self.end_input(&id, &name);
                let metadata = from_llm(provider_metadata);
                if !provider_executed && self.takes_output(&name) {
                    self.record_output_call(&id, &name, input, metadata);
                    return None;
                }
                let kind = self.repetition.count(&name, &input);
                let call = ToolCall {
                    id: id.to_string(),
                    name: name.to_string(),
                    input,
                    kind,
                    problem: None,
                };
                let called = self.calls.record(call, provider_executed, metadata);
                self.publisher.push(called);
                if let Some(refused) = self.calls.refuse(&id) {
                    self.publisher.push(refused);
                }
                return None;
            }
            LlmEvent::ToolResult {
                id,
                result,
                output,
                provider_metadata,
                ..
            } => (id, hosted(result, output, from_llm(provider_metadata))),
            LlmEvent::ToolError {
                id,
                message,
                error,
                provider_metadata,
                ..
            } => {
                let metadata = from_llm(provider_metadata);
                (id, hosted_failure(message, error, metadata))
            }
            _ => return None,
        };
        if let Some(event) = self.calls.settle_hosted(&id, outcome, paths) {
            self.publisher.push(event);
        }
        None
    }
}
