//! Hooks of the program.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_runtime::{
    Hooks, OfferedPrompt, PreparedCompaction, PreparedRequest, RequestChanges, SummaryInstructions,
};
use opencode_schema::Record;
use opencode_schema::message::ToolContent;
use opencode_schema::prompt::PromptInput;
use opencode_tools::{CallHooks, ToolContext, ToolFailure, ToolOutput};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LOG_TARGET;
use super::calls::{ProgramCalls, ProgramError};
use super::registered::Registered;

/// Name of the function in calls.
const FUNCTION: &str = "hook";

/// Maximum size of the texts of one hook for one request or summary, in bytes.
const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// The moment of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HookMoment {
    /// Before the admission of a prompt.
    OnPrompt,
    /// Before the request of a Provider Turn is sent.
    OnRequest,
    /// Before a summary is requested.
    OnCompaction,
    /// Before a tool call asks for permission.
    OnToolCall,
    /// Before the result of a tool call is stored.
    OnToolResult,
}

impl HookMoment {
    /// Returns the name of the method that registers hooks of this moment.
    const fn name(self) -> &'static str {
        match self {
            Self::OnPrompt => "onPrompt",
            Self::OnRequest => "onRequest",
            Self::OnCompaction => "onCompaction",
            Self::OnToolCall => "onToolCall",
            Self::OnToolResult => "onToolResult",
        }
    }
}

/// A hook, as the program registers it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookRegistration {
    /// The moment.
    pub moment: HookMoment,
    /// Maximum time of one call in milliseconds.
    pub timeout_ms: u64,
}

#[derive(Clone)]
struct Hook {
    hook: HookRegistration,
    /// The only Location. `None` means all Locations.
    directory: Option<String>,
}

/// The registered hooks of the program, in the order of their registration.
pub(crate) struct ProgramHooks {
    calls: ProgramCalls,
    hooks: Registered<Hook>,
}

/// The input of a hook across the border.
#[derive(Serialize)]
struct HookInput<'a, I> {
    hook: u32,
    input: &'a I,
}

/// A tool call across the border.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookedCall<'a, T> {
    tool: &'a str,
    #[serde(rename = "sessionID")]
    session_id: &'a str,
    #[serde(rename = "messageID")]
    message_id: &'a str,
    #[serde(rename = "callID")]
    call_id: &'a str,
    agent: &'a str,
    directory: &'a str,
    #[serde(flatten)]
    subject: T,
}

#[derive(Serialize)]
struct Arguments<'a> {
    input: &'a Value,
}

/// A result of a call. The call failed if it has an error.
#[derive(Serialize)]
struct CallResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a [ToolContent]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Deserialize)]
struct ChangedPrompt {
    prompt: PromptInput,
}

#[derive(Deserialize)]
struct ChangedRequest {
    #[serde(default)]
    headers: Record,
    #[serde(default)]
    body: Record,
    #[serde(default)]
    system: Option<String>,
}

#[derive(Deserialize)]
struct ChangedSummary {
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    instructions: Option<String>,
}

#[derive(Deserialize)]
struct ChangedArguments {
    input: Value,
}

/// Another result of a call: an error, or a value with its content for the model.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum ChangedResult {
    Error(String),
    Output {
        #[serde(default)]
        structured: Value,
        #[serde(default)]
        content: Vec<ToolContent>,
    },
}

impl ProgramHooks {
    pub(crate) fn new(calls: ProgramCalls) -> Self {
        Self {
            calls,
            hooks: Registered::default(),
        }
    }

    /// Registers a hook for one Location, or for all. Returns its number.
    pub(crate) fn register(&self, hook: HookRegistration, directory: Option<String>) -> u32 {
        let registered = self
            .hooks
            .add(|_| Ok::<_, std::convert::Infallible>(Hook { hook, directory }));
        let Ok(number) = registered;
        number
    }

    /// Removes a hook. Ignores an unknown number.
    pub(crate) fn remove(&self, number: u32) {
        self.hooks.remove(number);
    }

    /// Removes all hooks.
    pub(crate) fn end(&self) {
        self.hooks.clear();
    }

    fn at(&self, moment: HookMoment, directory: &str) -> Vec<(u32, Hook)> {
        self.hooks.matching(|it| {
            it.hook.moment == moment && it.directory.as_deref().is_none_or(|only| only == directory)
        })
    }

    /// Calls a hook. Returns `None` if it changes nothing.
    async fn call<I: Serialize, R: DeserializeOwned>(
        &self,
        number: u32,
        hook: &HookRegistration,
        input: &I,
    ) -> Result<Option<R>, ProgramError> {
        let input = HookInput {
            hook: number,
            input,
        };
        let answered = async {
            let mut call = self.calls.begin(FUNCTION, &input)?;
            call.result().await
        };
        let limit = Duration::from_millis(hook.timeout_ms);
        let answered = tokio::time::timeout(limit, answered).await;
        answered.unwrap_or_else(|_| {
            let limit = hook.timeout_ms;
            let message = format!("it took more than {limit} milliseconds");
            Err(ProgramError::new(message))
        })
    }

    /// Calls a hook whose failure has no effect.
    async fn call_leniently<I: Serialize, R: DeserializeOwned>(
        &self,
        number: u32,
        hook: &Hook,
        input: &I,
    ) -> Option<R> {
        let called = self.call(number, &hook.hook, input).await;
        called.unwrap_or_else(|error| {
            ignored(hook.hook.moment, &error);
            None
        })
    }

    async fn changed_prompt(&self, mut offered: OfferedPrompt) -> PromptInput {
        for (number, hook) in self.at(HookMoment::OnPrompt, &offered.directory) {
            let changed = self.call_leniently(number, &hook, &offered).await;
            if let Some(ChangedPrompt { prompt }) = changed {
                offered.prompt = prompt;
            }
        }
        offered.prompt
    }

    async fn changed_request(&self, prepared: PreparedRequest) -> RequestChanges {
        let mut changes = RequestChanges::default();
        for (number, hook) in self.at(HookMoment::OnRequest, &prepared.directory) {
            let changed = self.call_leniently(number, &hook, &prepared).await;
            let Some(changed) = changed else { continue };
            if let Err(error) = add(&mut changes, changed) {
                ignored(HookMoment::OnRequest, &ProgramError::new(error));
            }
        }
        changes
    }

    async fn changed_summary(&self, prepared: PreparedCompaction) -> SummaryInstructions {
        let mut instructions = SummaryInstructions::default();
        for (number, hook) in self.at(HookMoment::OnCompaction, &prepared.directory) {
            let changed = self.call_leniently(number, &hook, &prepared).await;
            let Some(ChangedSummary {
                prompt,
                instructions: additional,
            }) = changed
            else {
                continue;
            };
            instructions.prompt = prompt.or(instructions.prompt);
            instructions.additional.extend(additional);
        }
        instructions
    }
}

fn add(changes: &mut RequestChanges, changed: ChangedRequest) -> Result<(), String> {
    let headers = changed
        .headers
        .into_iter()
        .map(|(name, value)| header(name, &value));
    let headers = headers.collect::<Result<Vec<_>, _>>()?;
    let system = changed.system.filter(|text| !text.is_empty());
    if system.as_ref().map_or(0, String::len) > MAX_TEXT_BYTES {
        return Err(format!("its text has more than {MAX_TEXT_BYTES} bytes"));
    }
    changes.headers.extend(headers);
    changes.body.extend(changed.body);
    changes.system.extend(system);
    Ok(())
}

fn header(name: String, value: &Value) -> Result<(String, String), String> {
    let valid = value.as_str().filter(|value| {
        HeaderName::try_from(&name).is_ok() && HeaderValue::try_from(*value).is_ok()
    });
    match valid {
        Some(value) => Ok((name, value.to_owned())),
        None => Err(format!("its header {name:?} is invalid")),
    }
}

impl Hooks for ProgramHooks {
    fn changes_prompts(&self) -> bool {
        let is_one = |hook: &Hook| hook.hook.moment == HookMoment::OnPrompt;
        !self.hooks.matching(is_one).is_empty()
    }

    fn prompt(&self, prompt: OfferedPrompt) -> BoxFuture<'_, PromptInput> {
        self.changed_prompt(prompt).boxed()
    }

    fn request(&self, request: PreparedRequest) -> BoxFuture<'_, RequestChanges> {
        self.changed_request(request).boxed()
    }

    fn compaction(&self, compaction: PreparedCompaction) -> BoxFuture<'_, SummaryInstructions> {
        self.changed_summary(compaction).boxed()
    }
}

impl CallHooks for ProgramHooks {
    fn before<'a>(
        &'a self,
        tool: &'a str,
        mut input: Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        let directory = context.files.directory.to_string_lossy();
        let hooks = self.at(HookMoment::OnToolCall, &directory);
        async move {
            for (number, hook) in hooks {
                let call = hooked(tool, context, &directory, Arguments { input: &input });
                let changed = self.call(number, &hook.hook, &call).await;
                match changed {
                    Ok(Some(ChangedArguments { input: changed })) => input = changed,
                    Ok(None) => {}
                    Err(error) => return Err(refused(hook.hook.moment, tool, &error)),
                }
            }
            Ok(input)
        }
        .boxed()
    }

    fn after<'a>(
        &'a self,
        tool: &'a str,
        mut result: Result<ToolOutput, ToolFailure>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        let directory = context.files.directory.to_string_lossy();
        let hooks = self.at(HookMoment::OnToolResult, &directory);
        async move {
            for (number, hook) in hooks {
                let Some(shown) = shown(&result) else {
                    return result;
                };
                let call = hooked(tool, context, &directory, shown);
                let changed = self.call(number, &hook.hook, &call).await;
                result = match changed {
                    Ok(Some(changed)) => replaced(result, changed),
                    Ok(None) => result,
                    Err(error) => Err(refused(hook.hook.moment, tool, &error)),
                };
            }
            result
        }
        .boxed()
    }
}

fn hooked<'a, T>(
    tool: &'a str,
    context: &'a ToolContext,
    directory: &'a str,
    subject: T,
) -> HookedCall<'a, T> {
    HookedCall {
        tool,
        session_id: context.source.session_id.as_str(),
        message_id: context.source.message_id.as_str(),
        call_id: &context.source.call_id,
        agent: &context.source.agent,
        directory,
        subject,
    }
}

/// Returns the result that a hook reads. A declined or interrupted call has none.
fn shown(result: &Result<ToolOutput, ToolFailure>) -> Option<CallResult<'_>> {
    match result {
        Ok(output) => Some(CallResult {
            structured: Some(&output.structured),
            content: Some(&output.content),
            error: None,
        }),
        Err(ToolFailure::Failed { message, .. }) => Some(CallResult {
            structured: None,
            content: None,
            error: Some(message),
        }),
        Err(ToolFailure::Declined | ToolFailure::Interrupted) => None,
    }
}

/// Replaces a result. The files and directories of the call stay recorded.
fn replaced(
    result: Result<ToolOutput, ToolFailure>,
    changed: ChangedResult,
) -> Result<ToolOutput, ToolFailure> {
    match changed {
        ChangedResult::Error(message) => Err(ToolFailure::new(message)),
        ChangedResult::Output {
            structured,
            content,
        } => Ok(ToolOutput {
            structured,
            content,
            explored: result.map(|output| output.explored).unwrap_or_default(),
            ..ToolOutput::default()
        }),
    }
}

fn ignored(moment: HookMoment, error: &ProgramError) {
    let ProgramError { message, stack } = error;
    let hook = moment.name();
    tracing::warn!(
        target: LOG_TARGET,
        hook,
        error = message,
        stack,
        "a hook failed, and the work continues without it"
    );
}

/// Returns the failure of a call whose hook failed. The model learns nothing of the reason: it may contain the text that
/// the hook should have removed.
fn refused(moment: HookMoment, tool: &str, error: &ProgramError) -> ToolFailure {
    let ProgramError { message, stack } = error;
    let hook = moment.name();
    tracing::warn!(
        target: LOG_TARGET,
        hook,
        tool,
        error = message,
        stack,
        "a hook failed, so the call fails"
    );
    ToolFailure::new(match moment {
        HookMoment::OnToolResult => "The result is withheld, because a hook of the program failed",
        _ => "The call did not run, because a hook of the program failed",
    })
}
