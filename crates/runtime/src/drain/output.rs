//! The structured output of an activity: the form in which a Provider Turn asks for it, and the check of its answer.
//!
//! A model that accepts a format answers with text in this format. Any other model calls a tool whose arguments are the
//! output. The model may call the tools of the agent before. An answer that ends without a valid output is an attempt.
//! After all attempts the output has failed.

use std::sync::Arc;

use opencode_llm::{OutputFormat, ResolvedModel, ToolChoice, ToolDefinition};
use opencode_schema::Record;
use opencode_schema::event::{OutputFailed, OutputProduced, OutputRejected, SessionEvent};
use opencode_schema::id::{IdSource, MessageID};
use opencode_schema::message::{ErrorKind, SessionErrorUnknown, ToolContent};
use opencode_schema::prompt::PromptOutput;
use opencode_tools::{Materialized, Registry, Settlement, ToolFailure};
use serde_json::Value;

use super::boundary::Boundary;
use crate::error::DrainError;
use crate::structured::OutputSchema;

/// Name of an output if the caller gave none.
const NAME: &str = "structured_output";
/// Number of further attempts if the caller gave none.
const RETRIES: u32 = 2;

const DESCRIPTION: &str = "\
Gives the final output of this request. Call it once, when the work is done, with the whole output as its arguments.";
const ACCEPTED: &str = "The output is accepted.";
const REPEATED: &str = "The output was given already";

/// The way in which a model gives an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The answer is text in the requested format.
    Text,
    /// The output is the arguments of a tool call.
    Call,
}

/// The structured output that a turn asks for.
#[derive(Clone)]
pub(super) struct DueOutput {
    pub(super) name: Arc<str>,
    pub(super) way: Way,
    wanted: PromptOutput,
    schema: OutputSchema,
    /// Number of earlier attempts since the last promotion.
    attempts: u32,
}

impl Way {
    fn of(model: &ResolvedModel) -> Self {
        match model.has_output_format() {
            true => Self::Text,
            false => Self::Call,
        }
    }
}

impl DueOutput {
    /// Returns the output that the turn must ask for, if the activity has one and it is not settled.
    ///
    /// # Errors
    ///
    /// Fails if the schema cannot be used. Imported logs can contain such a schema.
    pub(super) fn of(boundary: &Boundary) -> Result<Option<Self>, DrainError> {
        let Some(settings) = &boundary.sampled.settings else {
            return Ok(None);
        };
        let Some(wanted) = &settings.values.output else {
            return Ok(None);
        };
        // A promotion begins all attempts anew.
        let earlier = boundary.session.activity.filter(|_| boundary.promoted == 0);
        if earlier.is_some_and(|activity| activity.is_output_settled) {
            return Ok(None);
        }
        let schema = settings.output_schema(wanted).map_err(|problem| {
            DrainError::Model(format!(
                "the schema of the output cannot be used: {problem}"
            ))
        })?;
        Ok(Some(Self {
            name: Arc::from(wanted.name.as_deref().unwrap_or(NAME)),
            way: Way::of(&boundary.model.model),
            wanted: wanted.clone(),
            schema,
            attempts: earlier.map_or(0, |activity| activity.rejected),
        }))
    }

    /// The format of the answer.
    pub(super) fn format(&self) -> Option<OutputFormat> {
        (self.way == Way::Text).then(|| OutputFormat {
            name: self.name.to_string(),
            schema: self.schema_value(),
        })
    }

    /// The tool that takes the output.
    pub(super) fn tool(&self) -> Option<ToolDefinition> {
        (self.way == Way::Call).then(|| ToolDefinition {
            name: self.name.to_string(),
            description: DESCRIPTION.to_owned(),
            input_schema: self.schema_value().into(),
        })
    }

    /// The model must call the tool if it can call no other one, or ended an answer without a valid output.
    pub(super) fn tool_choice(&self, has_other_tools: bool) -> Option<ToolChoice> {
        let is_forced = self.way == Way::Call && (self.attempts > 0 || !has_other_tools);
        is_forced.then(|| ToolChoice::Tool(self.name.to_string()))
    }

    fn schema_value(&self) -> Value {
        Value::Object(self.wanted.schema.clone())
    }
}

impl Boundary {
    /// Returns the tools of the turn. The last turn that the agent allows offers none, and a model that cannot call tools
    /// is offered none. The tool that takes the structured output hides a tool with its name.
    pub(super) fn offered(
        &self,
        tools: &Registry,
        is_last: bool,
        output: Option<&DueOutput>,
    ) -> Materialized {
        let offers_tools = !is_last && self.model.model.capabilities.tools;
        let hidden = output.filter(|it| it.way == Way::Call).map(|it| &*it.name);
        let offered = self.sampled.tools(tools, offers_tools);
        offered.keeping(|name| Some(name) != hidden)
    }
}

/// The output of a running turn.
pub(super) struct TurnOutput {
    due: DueOutput,
    /// The text of the answer so far.
    text: String,
    /// Complete calls of the tool that takes the output, with their arguments, or why these are unreadable.
    calls: Vec<(String, Result<Value, String>)>,
    valid: Option<Record>,
    /// The problem of the newest invalid call.
    problem: Option<String>,
}

/// The effect of an answer on the output.
pub(super) enum OutputStep {
    /// The model has more work to do before the output.
    Unfinished,
    /// The output is produced or has failed, and nothing follows.
    Settled(SessionEvent),
    /// Another attempt follows.
    Rejected(SessionEvent),
}

impl TurnOutput {
    pub(super) fn new(due: DueOutput) -> Self {
        Self {
            due,
            text: String::new(),
            calls: Vec::new(),
            valid: None,
            problem: None,
        }
    }

    /// Collects text of the answer.
    pub(super) fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// True if a call of this tool gives the output.
    pub(super) fn takes(&self, tool: &str) -> bool {
        self.due.way == Way::Call && *self.due.name == *tool
    }

    /// Collects a complete call of the tool.
    pub(super) fn call(&mut self, id: &str, input: Result<Value, String>) {
        self.calls.push((id.to_owned(), input));
    }

    /// Checks the collected calls. Returns their settlements. The first valid call gives the output.
    pub(super) async fn settle_calls(&mut self) -> Vec<(String, Settlement)> {
        let mut settled = Vec::new();
        for (id, input) in std::mem::take(&mut self.calls) {
            let settlement = if self.valid.is_some() {
                ToolFailure::new(REPEATED).into()
            } else {
                match self.check_call(input).await {
                    Ok(output) => {
                        self.valid = Some(output);
                        accepted()
                    }
                    Err(problem) => {
                        self.problem = Some(problem.clone());
                        ToolFailure::new(problem).into()
                    }
                }
            };
            settled.push((id, settlement));
        }
        settled
    }

    async fn check_call(&self, input: Result<Value, String>) -> Result<Record, String> {
        let checked = self.due.schema.check(input?).await;
        checked.map_err(|problems| {
            format!(
                "The output does not conform to the schema:\n{problems}\nCall the tool again with the whole corrected output."
            )
        })
    }

    /// Decides about a complete answer. `has_work` is true if the model waits for results of other calls, or if the
    /// provider paused the answer.
    pub(super) async fn finish(
        mut self,
        message: &MessageID,
        has_work: bool,
        ids: &IdSource,
    ) -> OutputStep {
        if self.valid.is_none() && self.problem.is_none() {
            if has_work {
                return OutputStep::Unfinished;
            }
            // A model may write the arguments of the tool as text instead of calling it.
            match self.due.schema.check_text(&self.text).await {
                Ok(output) => self.valid = Some(output),
                Err(problems) => {
                    return self.reject(message, self.text_problem(&problems), Some(ids));
                }
            }
        }
        if let Some(output) = self.valid {
            return OutputStep::Settled(
                OutputProduced {
                    assistant_message_id: message.clone(),
                    name: self.due.name.to_string(),
                    output,
                }
                .into(),
            );
        }
        let problem = self.problem.take().unwrap_or_default();
        self.reject(message, problem, None)
    }

    fn text_problem(&self, problems: &str) -> String {
        match self.due.way {
            Way::Text => format!(
                "The answer is not the requested output:\n{problems}\nAnswer again with the whole corrected output as JSON and nothing else."
            ),
            Way::Call => format!(
                "The output is missing. Call the tool {} with the whole output.",
                self.due.name
            ),
        }
    }

    /// Asks for another attempt, or fails the output after the last one. With `ids` a message tells the model the problem.
    fn reject(&self, message: &MessageID, text: String, ids: Option<&IdSource>) -> OutputStep {
        let assistant_message_id = message.clone();
        if self.due.attempts >= self.due.wanted.retries.unwrap_or(RETRIES) {
            let error = SessionErrorUnknown::of(ErrorKind::InvalidOutput, text);
            return OutputStep::Settled(
                OutputFailed {
                    assistant_message_id,
                    error,
                }
                .into(),
            );
        }
        OutputStep::Rejected(
            OutputRejected {
                assistant_message_id,
                message_id: ids.map(MessageID::generate),
                text,
            }
            .into(),
        )
    }
}

fn accepted() -> Settlement {
    let text = ACCEPTED.to_owned();
    Settlement::Success {
        structured: Record::new(),
        content: vec![ToolContent::Text { text }],
        output_paths: Vec::new(),
        explored: Vec::new(),
    }
}
