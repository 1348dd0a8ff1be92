//! Tools of servers as tools of a Location.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_location::secret::Redactor;
use opencode_mcp::{Ask, AskRefused, CallContext, CallOutput, Progress, ServerTool};
use opencode_schema::Record;
use opencode_schema::check::convert_meant;
use opencode_schema::question::{QuestionAnswer, QuestionInfo};
use opencode_tools::{
    PermissionRequest, QuestionError, Questions, Tool, ToolContext, ToolFailure, ToolOutput,
    TurnPorts,
};
use serde_json::{Value, json};

use super::resource_tools::{clean, failure};

/// A tool of a server. Each call asks for the permission with the full name of the tool as action.
pub(super) struct McpTool {
    tool: Arc<ServerTool>,
    /// Removes the secrets of servers that clients added.
    secrets: Redactor,
}

impl McpTool {
    pub(super) fn new(tool: Arc<ServerTool>, secrets: Redactor) -> Self {
        Self { tool, secrets }
    }

    async fn call(
        &self,
        mut input: Value,
        context: ToolContext,
        user: Arc<dyn Questions>,
    ) -> Result<ToolOutput, ToolFailure> {
        // The server checks the arguments.
        convert_meant(&self.tool.input_schema, &mut input);
        let name = &self.tool.name;
        let request = PermissionRequest {
            save: vec!["*".to_owned()],
            ..context.permission_request(name, vec!["*".to_owned()])
        };
        let refused = format!("{name} is not permitted");
        context.assert(request, &refused).await?;
        // An interruption then waits for the call, which tells the server and ends at once.
        context.begin_change()?;
        let call = self.tool.call(input, call_context(context, user));
        match call.await {
            Ok(output) => Ok(self.output(output)),
            Err(error) => Err(failure(error, &self.secrets)),
        }
    }

    fn output(&self, output: CallOutput) -> ToolOutput {
        ToolOutput {
            structured: output.structured.unwrap_or_default(),
            content: clean(output.content, &self.secrets),
            ..ToolOutput::default()
        }
    }
}

fn call_context(context: ToolContext, user: Arc<dyn Questions>) -> CallContext {
    let progress = Arc::clone(&context.progress);
    let call_id = context.source.call_id.clone();
    CallContext {
        session: context.source.session_id.to_string(),
        cancel: context.cancel.clone(),
        progress: Arc::new(move |report| progress.report(&call_id, record(report), Vec::new())),
        ask: Arc::new(AskUser { context, user }),
    }
}

/// Returns a report of a server in the form for clients.
fn record(report: Progress) -> Record {
    let Progress {
        progress,
        total,
        message,
    } = report;
    let members = [
        ("progress", json!(progress)),
        ("total", json!(total)),
        ("message", json!(message)),
    ];
    let known = members.into_iter().filter(|(_, value)| !value.is_null());
    known
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Asks the user of the session of a call.
struct AskUser {
    context: ToolContext,
    user: Arc<dyn Questions>,
}

impl Ask for AskUser {
    fn ask(
        &self,
        questions: Vec<QuestionInfo>,
    ) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, AskRefused>> {
        async move {
            let request = self.context.question_request(questions);
            self.user.ask(request).await.map_err(|error| match error {
                QuestionError::Rejected => AskRefused::Declined,
                QuestionError::Unanswered => AskRefused::Unavailable,
            })
        }
        .boxed()
    }
}

impl Tool for McpTool {
    fn description(&self) -> String {
        self.tool.description.clone()
    }

    fn input_schema(&self) -> Value {
        self.tool.input_schema.clone()
    }

    fn run(
        &self,
        input: Value,
        context: ToolContext,
        ports: &TurnPorts,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        let user = Arc::clone(&ports.questions);
        self.call(input, context, user).boxed()
    }
}
