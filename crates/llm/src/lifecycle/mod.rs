//! The grammar of the event stream, enforced in one place for all adapters.
//!
//! ```text
//! step-start ( block | tool-call | invalid-tool-call | tool-result | tool-error | cited )* step-finish finish
//!                                                                                        | provider-error
//! ```
//!
//! A block is `start delta* end`. Several blocks may be open at once. The consumer writes durable
//! records from these events. A repeated start, a delta for a closed block or a tool that changes
//! its name must therefore fail the step visibly, instead of leaving an incomplete record. Adapters
//! give each call an identifier and one name, so a mistake of a model in a call does not get here.

mod blocks;
mod bounds;
mod tools;

use std::sync::Arc;

use serde_json::Value;

use crate::canonical::error::LlmError;
use crate::canonical::event::{FinishReason, LlmEvent, ProviderMetadata};
use crate::canonical::usage::Usage;
use blocks::OpenBlocks;
pub use bounds::{MAX_DEPTH, MAX_ID, MAX_NAME, is_within};
pub use tools::MAX_TOOL_CALLS;
use tools::Tools;

/// Checks, completes and forwards the events of one step.
///
/// It adds events that adapters may omit: the opening `step-start`, and the ends of blocks that are
/// open when the step finishes. It drops empty deltas but keeps their metadata. It adds the metadata of
/// the whole block to the end of each block. After a terminal event or a failure it forwards nothing.
#[derive(Debug)]
pub struct Lifecycle {
    route: Arc<str>,
    phase: Phase,
    text: OpenBlocks,
    reasoning: OpenBlocks,
    tools: Tools,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Fresh,
    Running,
    StepFinished,
    Over,
}

impl Lifecycle {
    /// Creates the lifecycle of one step. `route` names provider and protocol in failures.
    #[must_use]
    pub fn new(route: impl Into<Arc<str>>) -> Self {
        Self {
            route: route.into(),
            phase: Phase::Fresh,
            text: OpenBlocks::new("text"),
            reasoning: OpenBlocks::new("reasoning"),
            tools: Tools::default(),
        }
    }

    /// True if an event was forwarded.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.phase != Phase::Fresh
    }

    /// True if the answer has a call, also one that the provider ran itself.
    pub fn has_calls(&self) -> bool {
        !self.tools.is_empty()
    }

    /// True if a terminal event was forwarded or a failure was reported.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Returns the name of provider and protocol in failures.
    #[must_use]
    pub fn route(&self) -> &str {
        &self.route
    }

    /// Stops forwarding, because the adapter is about to report its own failure.
    pub fn fail(&mut self) {
        self.phase = Phase::Over;
    }

    /// Forwards an event, together with the events that must surround it.
    ///
    /// # Errors
    ///
    /// `InvalidProviderOutput` if the event violates the grammar. The step is then over.
    pub fn accept(&mut self, mut event: LlmEvent, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        let checked = bounds::check(&event)
            .and_then(|()| self.advance(&event, out))
            .and_then(|()| self.record(&mut event));
        if let Err(problem) = checked {
            self.fail();
            let message = format!("Invalid event stream from {}: {problem}", self.route);
            return Err(LlmError::invalid_output(&self.route, message));
        }
        if !is_empty_delta(&event) {
            out.push(event);
        }
        Ok(())
    }

    /// Ends the step: closes open blocks, then emits `step-finish` and `finish`.
    ///
    /// # Errors
    ///
    /// The same as [`Lifecycle::accept`].
    pub fn finish(
        &mut self,
        reason: FinishReason,
        usage: Option<Usage>,
        provider_metadata: Option<ProviderMetadata>,
        out: &mut Vec<LlmEvent>,
    ) -> Result<(), LlmError> {
        let step = LlmEvent::StepFinish {
            index: 0,
            reason,
            usage: usage.clone(),
            provider_metadata: provider_metadata.clone(),
        };
        self.accept(step, out)?;
        let reply = LlmEvent::Finish {
            reason,
            usage,
            provider_metadata,
        };
        self.accept(reply, out)
    }

    /// Marks the end of the provider's stream.
    ///
    /// # Errors
    ///
    /// `InvalidProviderOutput` if there was no terminal event, because an interrupted reply must
    /// not look like a finished one.
    pub fn end(&mut self) -> Result<(), LlmError> {
        if self.is_over() {
            return Ok(());
        }
        self.fail();
        let message = format!("The {} stream ended before a finish event", self.route);
        Err(LlmError::unfinished(&self.route, message))
    }

    /// Moves to the phase of the event and emits the events that this requires.
    fn advance(&mut self, event: &LlmEvent, out: &mut Vec<LlmEvent>) -> Result<(), String> {
        if self.phase == Phase::Fresh {
            self.phase = Phase::Running;
            if matches!(event, LlmEvent::StepStart { .. }) {
                return Ok(());
            }
            out.push(LlmEvent::StepStart { index: 0 });
        }
        self.phase = match (self.phase, event) {
            (_, LlmEvent::ProviderError { .. })
            | (Phase::StepFinished, LlmEvent::Finish { .. }) => Phase::Over,
            (Phase::StepFinished, _) => {
                return Err("an event came after the step had finished".to_owned());
            }
            (_, LlmEvent::StepStart { .. }) => return Err("the step started twice".to_owned()),
            (_, LlmEvent::Finish { .. }) => {
                return Err("the reply finished before its step".to_owned());
            }
            (_, LlmEvent::StepFinish { .. }) => {
                self.close_blocks(out);
                Phase::StepFinished
            }
            (phase, _) => phase,
        };
        Ok(())
    }

    /// Updates the state of the block or tool of an event.
    fn record(&mut self, event: &mut LlmEvent) -> Result<(), String> {
        use LlmEvent as E;
        match event {
            E::TextStart {
                id,
                provider_metadata: pm,
            } => self.text.start(id, pm.as_ref()),
            E::TextDelta {
                id,
                provider_metadata: pm,
                ..
            } => self.text.delta(id, pm.as_ref()),
            E::TextEnd {
                id,
                provider_metadata: pm,
            } => self.text.end(id, pm),
            E::ReasoningStart {
                id,
                provider_metadata: pm,
            } => self.reasoning.start(id, pm.as_ref()),
            E::ReasoningDelta {
                id,
                provider_metadata: pm,
                ..
            } => self.reasoning.delta(id, pm.as_ref()),
            E::ReasoningEnd {
                id,
                provider_metadata: pm,
            } => self.reasoning.end(id, pm),
            E::ToolInputStart {
                id,
                name,
                provider_metadata: pm,
            } => self.tools.start_input(id, name, pm.as_ref()),
            E::ToolInputDelta { id, name, .. } => self.tools.input(id, name),
            E::ToolInputEnd {
                id,
                name,
                provider_metadata: pm,
            } => self.tools.end_input(id, name, pm),
            E::ToolCall {
                id,
                name,
                provider_metadata: pm,
                ..
            } => self.tools.call(id, name, pm),
            E::InvalidToolCall {
                id,
                name,
                provider_metadata: pm,
                ..
            } => {
                self.tools.call(id, name, pm)?;
                self.tools.settle(id, name)
            }
            E::ToolResult { id, name, .. } | E::ToolError { id, name, .. } => {
                self.tools.settle(id, name)
            }
            E::StepStart { .. }
            | E::Cited(_)
            | E::StepFinish { .. }
            | E::Finish { .. }
            | E::ProviderError { .. } => Ok(()),
        }
    }

    /// Closes reasoning before text. A consumer that stores blocks in order of their ends then
    /// keeps the reasoning before the answer.
    fn close_blocks(&mut self, out: &mut Vec<LlmEvent>) {
        for (id, provider_metadata) in self.reasoning.close_all() {
            out.push(LlmEvent::ReasoningEnd {
                id,
                provider_metadata,
            });
        }
        for (id, provider_metadata) in self.text.close_all() {
            out.push(LlmEvent::TextEnd {
                id,
                provider_metadata,
            });
        }
    }
}

fn is_empty_delta(event: &LlmEvent) -> bool {
    match event {
        LlmEvent::TextDelta { text, .. }
        | LlmEvent::ReasoningDelta { text, .. }
        | LlmEvent::ToolInputDelta { text, .. } => text.is_empty(),
        _ => false,
    }
}

/// Merges metadata key by key within each namespace. An identifier from the start of a block and a
/// signature from its end are both kept.
pub fn merge_metadata(into: &mut Option<ProviderMetadata>, more: ProviderMetadata) {
    let Some(into) = into else {
        *into = Some(more);
        return;
    };
    for (namespace, members) in *more {
        match (into.get_mut(&namespace), members) {
            (Some(Value::Object(known)), Value::Object(mut new)) => known.append(&mut new),
            (_, members) => {
                into.insert(namespace, members);
            }
        }
    }
}

/// Returns an identifier in quotes, shortened for a message.
fn shown(id: &str) -> String {
    let short: String = id.chars().take(64).collect();
    format!("{short:?}")
}
