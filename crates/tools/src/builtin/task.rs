//! The `task` tool: another agent works on a task in its own session.

use std::sync::Arc;

use opencode_schema::{id::SessionID, message::ToolContent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::reasons::one_of;
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use crate::ports::task::{Incomplete, TaskOutcome, TaskRequest, Tasks};

pub(super) struct Task;

#[derive(Deserialize, JsonSchema)]
pub(super) struct TaskInput {
    #[schemars(description = "The task in three to five words.")]
    description: String,
    #[schemars(description = "All that the agent has to know, and what it is to report.")]
    prompt: String,
    #[schemars(description = "Name of the agent, as the list of available agents has it.")]
    agent: String,
    #[serde(rename = "sessionID")]
    #[schemars(description = "Session of an earlier task to go on with. \
                              Its agent still knows what was said there.")]
    session_id: Option<String>,
}

impl TypedTool for Task {
    const LISTS_SUBAGENTS: bool = true;

    type Input = TaskInput;
    type Port = Arc<dyn Tasks>;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: TaskInput,
        context: ToolContext,
        tasks: Arc<dyn Tasks>,
    ) -> Result<ToolOutput, ToolFailure> {
        let TaskInput {
            description,
            prompt,
            agent,
            session_id,
        } = input;
        let session_id = session_id.filter(|id| !id.is_empty());
        let session_id = session_id.as_deref().map(session).transpose()?;
        // The text is the same for a missing agent and for one that may not be used.
        let refused = format!("Unable to run task: {agent}");
        if !tasks.accepts(&agent) {
            let agents = one_of("agents", &tasks.agents());
            return Err(ToolFailure::new(format!(
                "{refused}: no agent of this name takes tasks. {agents}"
            )));
        }
        let mut request = context.permission_request("task", vec![agent.clone()]);
        request.save = vec!["*".to_owned()];
        request.metadata = [("description".to_owned(), json!(description))]
            .into_iter()
            .collect();
        context.assert(request, &refused).await?;
        // From here on, an interruption takes effect only after the session of the task has settled.
        context.begin_change()?;
        let task = TaskRequest {
            description,
            prompt,
            agent,
            session_id,
            cancel: context.cancel.clone(),
        };
        let outcome = tasks.run(task).await;
        output(&outcome.map_err(|error| error.into_failure(&refused))?)
    }
}

const DESCRIPTION: &str = "\
Give a task to another agent. It works in a session of its own that knows nothing but your prompt, \
with its own tools, and you get its last text.

Use it for work that stands on its own and would fill this conversation: wide searches, research, a \
change of its own. Do small things yourself. Call it several times in one answer to have independent \
tasks done side by side; agents that change the same files must not run at the same time.

Say in the prompt what to do, what is known already, where to look, and what to report: you cannot \
answer back while it works. The user does not see the report, so pass on what matters. It ends with a \
session, by which you can go on with the same task.";

const CUT: &str = "(the answer is incomplete: it reached the limit of its length; continue the session for the rest)";
const WITHHELD: &str = "(the answer is incomplete: the provider withheld the rest)";

fn session(id: &str) -> Result<SessionID, ToolFailure> {
    SessionID::parse(id).map_err(|error| {
        ToolFailure::new(format!("Invalid tool input: {error}\n  at [\"sessionID\"]"))
    })
}

/// Returns the text for the model and the session id, which it needs to continue the task.
fn output(outcome: &TaskOutcome) -> Result<ToolOutput, ToolFailure> {
    let TaskOutcome {
        session_id,
        text,
        incomplete,
    } = outcome;
    let mut structured = json!({ "sessionID": session_id, "text": text });
    if let Some(incomplete) = incomplete {
        structured["finish"] = incomplete.finish().into();
    }
    let last = Some(text.clone()).filter(|text| !text.is_empty());
    let note = incomplete.map(|incomplete| match incomplete {
        Incomplete::Length => CUT.to_owned(),
        Incomplete::ContentFilter => WITHHELD.to_owned(),
    });
    let content = last.into_iter().chain(note);
    let content = content.chain([format!("(session {session_id})")]);
    let content = content.map(|text| ToolContent::Text { text }).collect();
    Ok(ToolOutput::encode(&structured)?.with_content(content))
}
