//! The structured output of a turn.

use opencode_schema::message::ProviderMetadata;
use opencode_tools::{CallKind, ToolCall};
use serde_json::Value;

use super::super::ends::StreamEnd;
use super::super::output::OutputStep;
use super::Turn;

impl Turn<'_> {
    /// True if a call of this tool gives the structured output.
    pub(super) fn takes_output(&self, tool: &str) -> bool {
        self.output
            .as_ref()
            .is_some_and(|output| output.takes(tool))
    }

    /// Records a call that gives the output. It is checked at the end of the answer.
    pub(super) fn record_output_call(
        &mut self,
        id: &str,
        name: &str,
        input: Value,
        metadata: Option<ProviderMetadata>,
    ) {
        let call = ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            input: input.clone(),
            kind: CallKind::New,
            problem: None,
        };
        let called = self.calls.record(call, false, metadata);
        self.publisher.push(called);
        self.calls.hold(id);
        if let Some(output) = &mut self.output {
            output.call(id, Ok(input));
        }
    }

    /// Keeps a recorded call that should give the output and has a problem. It counts as an attempt.
    pub(super) fn hold_invalid_output(&mut self, id: &str, problem: String) {
        self.calls.hold(id);
        if let Some(output) = &mut self.output {
            output.call(id, Err(problem));
        }
    }

    /// Settles the calls that give the output, unless the turn was stopped.
    pub(super) async fn settle_output_calls(&mut self) {
        if self.calls.cancelled().is_cancelled() || self.provider_failed {
            return;
        }
        let Some(output) = &mut self.output else {
            return;
        };
        for (id, settlement) in output.settle_calls().await {
            if let Some(event) = self.calls.settle(&id, settlement) {
                self.publisher.push(event);
            }
        }
    }

    /// Records the effect of a complete answer on the output. Returns true if another turn must follow, false if none
    /// may, and `None` if the output decides nothing.
    pub(super) async fn finish_output(&mut self, end: &StreamEnd, is_paused: bool) -> Option<bool> {
        let output = self.output.take()?;
        let is_complete = self.finish.is_some()
            && matches!(end, StreamEnd::Complete)
            && !self.provider_failed
            && !self.calls.cancelled().is_cancelled();
        if !is_complete {
            return None;
        }
        let has_work = is_paused || self.calls.any_local();
        let message = self.publisher.message_id().clone();
        let ids = self.publisher.ids();
        match output.finish(&message, has_work, &ids).await {
            OutputStep::Unfinished => None,
            OutputStep::Settled(event) => {
                self.publisher.push(event);
                Some(false)
            }
            OutputStep::Rejected(event) => {
                self.publisher.push(event);
                Some(true)
            }
        }
    }
}
