//! Calls of tools of the host that do not run yet, because the rest of the answer decides about them.
//!
//! A complete call waits for the next event of the answer, or for its regular end. If the answer fails instead, the
//! consumer reads the failure together with the call and does not run it. A call that the output limit may have cut
//! waits for the reason of the end.

use opencode_llm::canonical::event::{CallProblem, FinishReason, LlmEvent};

/// The reason that a call is not complete, as a part of a sentence.
const AT_LIMIT: &str = "the answer reached its limit of output tokens";

/// The calls that wait, in the order of the answer.
#[derive(Default)]
pub(super) struct WaitingCalls {
    complete: Vec<LlmEvent>,
    /// The last call, if the output limit may have cut it.
    may_be_cut: Option<LlmEvent>,
}

impl WaitingCalls {
    /// Keeps a complete call. Returns every other event.
    pub(super) fn keep(&mut self, event: LlmEvent) -> Option<LlmEvent> {
        if !is_local_call(&event) {
            return Some(event);
        }
        self.complete.push(event);
        None
    }

    /// Keeps a call that the output limit may have cut.
    pub(super) fn hold(&mut self, call: LlmEvent) {
        self.confirm(None);
        self.may_be_cut = Some(call);
    }

    /// Decides about the call that may be cut: the answer goes on, or ends for a reason.
    pub(super) fn confirm(&mut self, reason: Option<FinishReason>) {
        let held = self.may_be_cut.take();
        self.complete.extend(held.map(|call| match reason {
            Some(FinishReason::Length) => cut_by_limit(call),
            _ => call,
        }));
    }

    /// The answer ends without a reason. A call that may be cut must not run.
    pub(super) fn break_off(&mut self) {
        let held = self.may_be_cut.take();
        self.complete
            .extend(held.filter(|call| matches!(call, LlmEvent::InvalidToolCall { .. })));
    }

    /// Takes the complete calls.
    pub(super) fn take(&mut self) -> Vec<LlmEvent> {
        std::mem::take(&mut self.complete)
    }
}

/// Returns a call that was the last event before the output limit, as a call that must not run.
fn cut_by_limit(call: LlmEvent) -> LlmEvent {
    let (id, name, problem, provider_metadata) = match call {
        LlmEvent::ToolCall {
            id,
            name,
            provider_metadata,
            ..
        } => {
            let (reason, written) = (AT_LIMIT.to_owned(), String::new());
            let problem = CallProblem::Input { reason, written };
            (id, name, problem, provider_metadata)
        }
        LlmEvent::InvalidToolCall {
            id,
            name,
            problem: CallProblem::Input { reason, written },
            provider_metadata,
        } => {
            let reason = format!("{reason}; {AT_LIMIT}");
            let problem = CallProblem::Input { reason, written };
            (id, name, problem, provider_metadata)
        }
        other => return other,
    };
    LlmEvent::InvalidToolCall {
        id,
        name,
        problem,
        provider_metadata,
    }
}

/// True for a complete call of a tool of the host.
const fn is_local_call(event: &LlmEvent) -> bool {
    matches!(
        event,
        LlmEvent::ToolCall {
            provider_executed: false,
            ..
        } | LlmEvent::InvalidToolCall { .. }
    )
}
