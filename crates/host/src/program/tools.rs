//! Tools of the program: registers them in the registry of tools, and runs and recovers their calls over the channel of
//! all functions of the program (`calls`).

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use opencode_llm::NormalSchema;
use opencode_protocol::failure::Failure;
use opencode_schema::check::{Nulls, check, convert_meant};
use opencode_schema::message::ToolContent;
use opencode_tools::{
    PermissionRequest, Recovery, Registration, Registry, Tool, ToolContext, ToolFailure,
    ToolOutput, TurnPorts, check_input,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::LOG_TARGET;
use super::calls::{Message, Permission, ProgramCall, ProgramCalls, ProgramError};
use super::registered::Registered;

/// Name of the function that runs a call.
const RUN: &str = "tool";

/// Name of the function that finds out the effect of a call.
const RECOVER: &str = "recoverTool";

/// Maximum time to find out the effect of a call.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(30);

/// A tool, as the program registers it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolRegistration {
    /// The name for calls.
    pub name: String,
    /// The text that tells the model when and how to use the tool.
    pub description: String,
    /// The JSON Schema of the input.
    pub input_schema: Value,
    /// True if the host checks the input against its schema. Else the program does.
    pub checks_input: bool,
    /// The JSON Schema against which the host checks structured results. Default: none.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// The action of its permission requests. Default: the name.
    #[serde(default)]
    pub action: Option<String>,
    /// The permission of every call. Default: the program requests a permission for each call.
    #[serde(default)]
    pub permission: Option<StaticPermission>,
    /// True if the tool can find out the effect of a call that an earlier process began.
    #[serde(default)]
    pub recovers: bool,
    /// Maximum time of a call in milliseconds, without the time that it waits for a permission. Default: no limit.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// A permission that does not depend on the input of a call. The host requests it without a call of the program.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StaticPermission {
    /// The resources.
    pub resources: Vec<String>,
    /// The patterns that an answer of `always` saves.
    pub save: Vec<String>,
}

/// The registered tools of the program.
pub(crate) struct ProgramTools {
    registry: Arc<Registry>,
    calls: ProgramCalls,
    tools: Registered<Registration>,
}

impl ProgramTools {
    pub(crate) fn new(registry: Arc<Registry>, calls: ProgramCalls) -> Self {
        Self {
            registry,
            calls,
            tools: Registered::default(),
        }
    }

    /// Registers a tool for one Location, or for all. Returns its number.
    ///
    /// # Errors
    ///
    /// `InvalidOption` if no provider would accept the name.
    pub(crate) fn register(
        &self,
        tool: ToolRegistration,
        directory: Option<&str>,
    ) -> Result<u32, Failure> {
        let NormalSchema { schema, simplified } = NormalSchema::of(&tool.input_schema);
        if !simplified.is_empty() {
            let (tool, simplified) = (&tool.name, simplified.join(", "));
            tracing::warn!(
                target: LOG_TARGET,
                tool,
                simplified,
                "the input schema of a tool is simplified for models"
            );
        }
        let registered = self.tools.add(|number| {
            let name = tool.name.clone();
            let tool: Arc<dyn Tool> = Arc::new(ProgramTool {
                number,
                calls: self.calls.clone(),
                advertised: schema,
                tool,
            });
            let tools = vec![(name, tool)];
            match directory {
                Some(directory) => self.registry.register_in(directory, tools),
                None => self.registry.host().register(tools),
            }
        });
        registered.map_err(|error| Failure::InvalidOption {
            option: "name".into(),
            message: format!(
                "{error}. A name begins with a letter, has only letters, digits, \"_\" and \"-\", and at most 64 characters"
            ),
        })
    }

    /// Removes a tool. Its running calls continue. Ignores an unknown number.
    pub(crate) fn remove(&self, number: u32) {
        self.tools.remove(number);
    }

    /// Removes all tools.
    pub(crate) fn end(&self) {
        self.tools.clear();
    }
}

/// A tool whose function is in the program.
struct ProgramTool {
    number: u32,
    calls: ProgramCalls,
    /// The normal form of the schema of the input. Arguments are checked against the schema of the program.
    advertised: Value,
    tool: ToolRegistration,
}

/// The input of a call across the border.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallInput<'a> {
    tool: u32,
    input: &'a Value,
    #[serde(rename = "sessionID")]
    session_id: &'a str,
    #[serde(rename = "messageID")]
    message_id: &'a str,
    #[serde(rename = "callID")]
    call_id: &'a str,
    agent: &'a str,
    directory: &'a str,
    idempotency_key: String,
}

/// The result of a tool across the border.
#[derive(Deserialize)]
struct Output {
    #[serde(default)]
    structured: Value,
    #[serde(default)]
    content: Vec<ToolContent>,
}

/// The effect of a call across the border.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Effect {
    Done(Box<RawValue>),
    NotStarted,
    Unknown,
}

impl Tool for ProgramTool {
    fn description(&self) -> String {
        self.tool.description.clone()
    }

    fn input_schema(&self) -> Value {
        self.advertised.clone()
    }

    fn permission(&self) -> Option<&str> {
        self.tool.action.as_deref()
    }

    fn recovers(&self) -> bool {
        self.tool.recovers
    }

    fn recover(&self, mut input: Value, context: ToolContext) -> BoxFuture<'_, Recovery> {
        Box::pin(async move {
            let recovering = async {
                self.read(&mut input).map_err(message_of)?;
                self.effect(&input, &context).await
            };
            in_time(recovering).await.unwrap_or_else(|error| {
                let (tool, call_id) = (&self.tool.name, &context.source.call_id);
                tracing::warn!(
                    target: LOG_TARGET,
                    tool,
                    call_id,
                    error,
                    "the effect of a call is unknown"
                );
                Recovery::Unknown
            })
        })
    }

    fn run(
        &self,
        mut input: Value,
        context: ToolContext,
        _: &TurnPorts,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            self.read(&mut input)?;
            if let Some(permission) = &self.tool.permission {
                self.permit(permission, &context).await?;
            }
            let call = self.begin(RUN, &input, &context);
            let mut call = call.map_err(|error| ToolFailure::new(error.to_string()))?;
            self.follow(&mut call, &context).await
        })
    }
}

impl ProgramTool {
    /// Reads the arguments of a call by the schema. If the program checks them, only what the schema refuses and what
    /// has one meaning is converted.
    fn read(&self, input: &mut Value) -> Result<(), ToolFailure> {
        if self.tool.checks_input {
            return check_input(&self.tool.input_schema, input);
        }
        convert_meant(&self.tool.input_schema, input);
        Ok(())
    }

    fn begin(
        &self,
        function: &str,
        input: &Value,
        context: &ToolContext,
    ) -> Result<ProgramCall, ProgramError> {
        let source = &context.source;
        let (session, message) = (&source.session_id, &source.message_id);
        let directory = context.files.directory.to_string_lossy();
        let input = CallInput {
            tool: self.number,
            input,
            session_id: session.as_str(),
            message_id: message.as_str(),
            call_id: &source.call_id,
            agent: &source.agent,
            directory: &directory,
            idempotency_key: format!("{session}/{message}/{}", source.call_id),
        };
        self.calls.begin(function, &input)
    }

    /// Requests the permission of every call.
    async fn permit(
        &self,
        permission: &StaticPermission,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        let action = self.tool.action.clone();
        let permission = Permission {
            action: action.unwrap_or_else(|| self.tool.name.clone()),
            resources: permission.resources.clone(),
            save: permission.save.clone(),
        };
        self.assert(permission, context).await
    }

    async fn assert(
        &self,
        permission: Permission,
        context: &ToolContext,
    ) -> Result<(), ToolFailure> {
        let refused = format!("{} is not permitted", self.tool.name);
        let request = PermissionRequest {
            tool: Some(self.tool.name.clone()).filter(|name| *name != permission.action),
            ..request(context, permission)
        };
        context.assert(request, &refused).await
    }

    /// Asks the program for the effect of a call.
    async fn effect(&self, input: &Value, context: &ToolContext) -> Result<Recovery, String> {
        let call = self.begin(RECOVER, input, context);
        let mut call = call.map_err(|error| error.to_string())?;
        let effect = call.result().await.map_err(|error| error.to_string())?;
        Ok(match effect {
            Effect::Done(output) => Recovery::Done(self.read_output(&output).map_err(message_of)?),
            Effect::NotStarted => Recovery::NotStarted,
            Effect::Unknown => Recovery::Unknown,
        })
    }

    /// Follows a call to its result. The time that it waits for a permission does not count for its limit.
    async fn follow(
        &self,
        call: &mut ProgramCall,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let limit = self.tool.timeout_ms.map(Duration::from_millis);
        let mut left = limit;
        loop {
            let began = tokio::time::Instant::now();
            let message = match left {
                Some(left) => match tokio::time::timeout(left, call.next()).await {
                    Ok(message) => message,
                    Err(_) => return Err(timed_out(self.tool.timeout_ms)),
                },
                None => call.next().await,
            };
            left = left.map(|left| left.saturating_sub(began.elapsed()));
            match message {
                Message::Result(value) => return self.read_output(&value),
                Message::Error(error) => return Err(failed(&self.tool.name, error)),
                Message::Progress(progress) => {
                    let (structured, content) = (progress.structured, progress.content);
                    context
                        .progress
                        .report(&context.source.call_id, structured, content);
                }
                Message::Events(_) => {}
                Message::Permission(permission) => {
                    self.assert(permission, context).await?;
                    call.permit();
                }
            }
        }
    }

    fn read_output(&self, value: &RawValue) -> Result<ToolOutput, ToolFailure> {
        let output: Output =
            serde_json::from_str(value.get()).map_err(|error| invalid_output(&error))?;
        if let Some(schema) = &self.tool.output_schema {
            check(schema, &output.structured, Nulls::Values)
                .map_err(|issue| invalid_output(&issue))?;
        }
        Ok(ToolOutput {
            structured: output.structured,
            content: output.content,
            ..ToolOutput::default()
        })
    }
}

/// Waits for the effect of a call.
async fn in_time(
    recovering: impl Future<Output = Result<Recovery, String>>,
) -> Result<Recovery, String> {
    let found = tokio::time::timeout(RECOVERY_TIMEOUT, recovering).await;
    found.unwrap_or_else(|_| {
        let limit = RECOVERY_TIMEOUT.as_secs();
        Err(format!("it took more than {limit} seconds"))
    })
}

fn invalid_output(issue: &dyn std::fmt::Display) -> ToolFailure {
    ToolFailure::new(format!(
        "Tool returned an invalid value for its output schema: {issue}"
    ))
}

fn request(context: &ToolContext, permission: Permission) -> PermissionRequest {
    let Permission {
        action,
        resources,
        save,
    } = permission;
    PermissionRequest {
        save,
        ..context.permission_request(&action, resources)
    }
}

/// Returns the failure for the model. Only the log has the stack.
fn failed(tool: &str, error: ProgramError) -> ToolFailure {
    let ProgramError { message, stack } = error;
    tracing::warn!(
        target: LOG_TARGET,
        tool,
        error = message,
        stack,
        "a tool of the program failed"
    );
    ToolFailure::new(message)
}

fn message_of(failure: ToolFailure) -> String {
    match failure {
        ToolFailure::Failed { message, .. } => message,
        ToolFailure::Declined | ToolFailure::Interrupted => "it was stopped".to_owned(),
    }
}

fn timed_out(limit: Option<u64>) -> ToolFailure {
    let limit = limit.unwrap_or_default();
    ToolFailure::new(format!(
        "The tool was stopped: it took more than {limit} milliseconds"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_effect_of_a_call_is_unknown_after_thirty_seconds() {
        let began = tokio::time::Instant::now();
        let found = in_time(std::future::pending()).await;
        assert_eq!(found.err().as_deref(), Some("it took more than 30 seconds"));
        assert_eq!(began.elapsed(), RECOVERY_TIMEOUT);
    }
}
