//! The answers of a scripted model, one piece of network input at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use opencode_llm::{
    BlockId, CallProblem, ErrorKind, FinishReason, LlmError, LlmEvent, ProviderMetadata,
    ToolOutput, ToolResultValue, Usage,
};
use serde_json::{Value, json};

use crate::gate::Gate;

/// One step of the stream.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Emit(Vec<LlmEvent>),
    Fail(LlmError),
    Hold(Gate),
}

/// An answer. Each method adds one piece of network input. [`Reply::in_one_piece`] joins the
/// pieces.
///
/// No piece is added implicitly: an answer without a finish only ends, and unfinished blocks stay
/// open.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) steps: VecDeque<Step>,
    texts: usize,
    reasonings: usize,
    usage: Option<Usage>,
}

impl Default for Reply {
    fn default() -> Self {
        Self::nothing().events([LlmEvent::StepStart { index: 0 }])
    }
}

impl Reply {
    /// An answer with its start event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer without any event.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            steps: VecDeque::new(),
            texts: 0,
            reasonings: 0,
            usage: None,
        }
    }

    /// A text and a regular stop.
    #[must_use]
    pub fn says(text: &str) -> Self {
        Self::new().text(text).stop()
    }

    /// One call of a local tool, and a finish that expects its result.
    #[must_use]
    pub fn calls(id: &str, tool: &str, input: Value) -> Self {
        Self::new().call(id, tool, input).tool_calls()
    }

    /// A failure of the exchange before any response.
    #[must_use]
    pub fn fails(error: LlmError) -> Self {
        Self::nothing().fail(error)
    }

    /// Any events as one piece.
    #[must_use]
    pub fn events(mut self, events: impl IntoIterator<Item = LlmEvent>) -> Self {
        self.steps
            .push_back(Step::Emit(events.into_iter().collect()));
        self
    }

    /// A complete text block.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.begin_text().delta(text).end_text()
    }

    /// The beginning of the next text block.
    #[must_use]
    pub fn begin_text(mut self) -> Self {
        self.texts += 1;
        let id = self.text_id();
        self.events([LlmEvent::TextStart {
            id,
            provider_metadata: None,
        }])
    }

    /// A delta of the current text block.
    #[must_use]
    pub fn delta(self, text: &str) -> Self {
        let id = self.text_id();
        self.events([LlmEvent::TextDelta {
            id,
            text: text.to_owned(),
            provider_metadata: None,
        }])
    }

    /// The end of the current text block.
    #[must_use]
    pub fn end_text(self) -> Self {
        let id = self.text_id();
        self.events([LlmEvent::TextEnd {
            id,
            provider_metadata: None,
        }])
    }

    /// A complete reasoning block. The metadata at its end must go back to the provider.
    #[must_use]
    pub fn reasoning(mut self, text: &str, metadata: Option<ProviderMetadata>) -> Self {
        let id: BlockId = format!("reasoning-{}", self.reasonings).into();
        self.reasonings += 1;
        let start = LlmEvent::ReasoningStart {
            id: Arc::clone(&id),
            provider_metadata: None,
        };
        let delta = LlmEvent::ReasoningDelta {
            id: Arc::clone(&id),
            text: text.to_owned(),
            provider_metadata: None,
        };
        let end = LlmEvent::ReasoningEnd {
            id,
            provider_metadata: metadata,
        };
        self.events([start]).events([delta]).events([end])
    }

    /// The beginning of a call: its name and a first part of its arguments.
    #[must_use]
    pub fn begin_call(self, id: &str, tool: &str, arguments: &str) -> Self {
        let start = LlmEvent::ToolInputStart {
            id: id.into(),
            name: tool.into(),
            provider_metadata: None,
        };
        let delta = LlmEvent::ToolInputDelta {
            id: id.into(),
            name: tool.into(),
            text: arguments.to_owned(),
        };
        self.events([start]).events([delta])
    }

    /// The end of a call that has begun.
    #[must_use]
    pub fn end_call(self, id: &str, tool: &str, input: Value) -> Self {
        let end = LlmEvent::ToolInputEnd {
            id: id.into(),
            name: tool.into(),
            provider_metadata: None,
        };
        self.events([end, tool_call(id, tool, input, false)])
    }

    /// A complete call of a local tool.
    #[must_use]
    pub fn call(self, id: &str, tool: &str, input: Value) -> Self {
        self.begin_call(id, tool, &input.to_string())
            .end_call(id, tool, input)
    }

    /// A call that cannot run. The model wrote this input.
    #[must_use]
    pub fn invalid_call(self, id: &str, tool: &str, written: &str, problem: CallProblem) -> Self {
        let (id, name): (BlockId, BlockId) = (id.into(), tool.into());
        let end = LlmEvent::ToolInputEnd {
            id: Arc::clone(&id),
            name: Arc::clone(&name),
            provider_metadata: None,
        };
        let call = LlmEvent::InvalidToolCall {
            id: Arc::clone(&id),
            name,
            problem,
            provider_metadata: None,
        };
        self.begin_call(&id, tool, written).events([end, call])
    }

    /// A call that the provider executes itself.
    #[must_use]
    pub fn hosted_call(self, id: &str, tool: &str, input: Value) -> Self {
        self.events([tool_call(id, tool, input, true)])
    }

    /// The result of a call that the provider executed.
    #[must_use]
    pub fn hosted_result(
        self,
        id: &str,
        tool: &str,
        result: ToolResultValue,
        output: Option<ToolOutput>,
    ) -> Self {
        self.events([LlmEvent::ToolResult {
            id: id.into(),
            name: tool.into(),
            result,
            output: output.map(Box::new),
            provider_executed: true,
            provider_metadata: None,
        }])
    }

    /// Waits until the test releases the gate.
    #[must_use]
    pub fn hold(mut self, gate: &Gate) -> Self {
        self.steps.push_back(Step::Hold(gate.clone()));
        self
    }

    /// Sets the usage that the next finish reports.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// A finish with the reason `stop`.
    #[must_use]
    pub fn stop(self) -> Self {
        self.finish(FinishReason::Stop)
    }

    /// A finish that expects tool results.
    #[must_use]
    pub fn tool_calls(self) -> Self {
        self.finish(FinishReason::ToolCalls)
    }

    /// A finish of a provider that paused. It continues when it gets its answer back.
    #[must_use]
    pub fn pause(self) -> Self {
        let attached = json!({"anthropic": {"pauseTurn": true}});
        let Value::Object(attached) = attached else {
            unreachable!("it is an object");
        };
        self.end(FinishReason::Stop, Some(Box::new(attached)))
    }

    /// The end of the step and of the answer.
    #[must_use]
    pub fn finish(self, reason: FinishReason) -> Self {
        self.end(reason, None)
    }

    fn end(self, reason: FinishReason, provider_metadata: Option<ProviderMetadata>) -> Self {
        let usage = self.usage.clone();
        let step = LlmEvent::StepFinish {
            index: 0,
            reason,
            usage: usage.clone(),
            provider_metadata,
        };
        let reply = LlmEvent::Finish {
            reason,
            usage,
            provider_metadata: None,
        };
        self.events([step, reply])
    }

    /// A failure that the provider reports in its stream.
    #[must_use]
    pub fn provider_error(self, message: &str, kind: ErrorKind) -> Self {
        self.events([LlmEvent::ProviderError {
            message: message.to_owned(),
            kind,
            retryable: kind.is_retryable(),
            provider_metadata: None,
        }])
    }

    /// A failure of the exchange.
    #[must_use]
    pub fn fail(mut self, error: LlmError) -> Self {
        self.steps.push_back(Step::Fail(error));
        self
    }

    /// Joins all pieces between two gates into one piece of network input.
    #[must_use]
    pub fn in_one_piece(mut self) -> Self {
        let mut joined: VecDeque<Step> = VecDeque::new();
        for step in self.steps {
            match (joined.back_mut(), step) {
                (Some(Step::Emit(before)), Step::Emit(more)) => before.extend(more),
                (_, step) => joined.push_back(step),
            }
        }
        self.steps = joined;
        self
    }

    fn text_id(&self) -> BlockId {
        format!("text-{}", self.texts.saturating_sub(1)).into()
    }
}

fn tool_call(id: &str, tool: &str, input: Value, provider_executed: bool) -> LlmEvent {
    LlmEvent::ToolCall {
        id: id.into(),
        name: tool.into(),
        input,
        provider_executed,
        provider_metadata: None,
    }
}
