//! The tools of a server.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::call::{CallContext, CallError, CallOutput};
use crate::connection::Connection;
use crate::content::{self, take};
use crate::input_schema::normalise;
use crate::limits::{MAX_DESCRIPTION, MAX_ITEMS, MAX_LISTED, MAX_NAME, cut};
use crate::listing::{ListError, list};
use crate::names::tool_name;
use crate::slot::Slot;

/// A tool of a connected server.
pub struct ServerTool {
    /// The name of the server.
    pub server: String,
    /// The name that the server gives to the tool.
    pub tool: String,
    /// The name for models.
    pub name: String,
    /// The description for models.
    pub description: String,
    /// The JSON Schema of its input, in normal form.
    pub input_schema: Value,
    slot: Arc<Slot>,
}

impl fmt::Debug for ServerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTool")
            .field("server", &self.server)
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

impl ServerTool {
    /// Calls the tool with an object.
    ///
    /// # Errors
    ///
    /// Fails if the server is not connected, does not answer in time or breaks a rule, if the tool fails, or
    /// if the caller interrupts the call. The call settles at once in every case.
    pub async fn call(&self, input: Value, context: CallContext) -> Result<CallOutput, CallError> {
        let connection = self.slot.connected()?;
        let params = json!({ "name": self.tool, "arguments": input });
        let cancel = context.cancel.clone();
        let result = connection.request("tools/call", params, Some(context), &cancel);
        content::output(Box::pin(result).await?).map_err(CallError::Failed)
    }

    fn has_same_definition(&self, other: &Self) -> bool {
        self.tool == other.tool
            && self.name == other.name
            && self.description == other.description
            && self.input_schema == other.input_schema
    }
}

/// The tools of a server, and the problems of those that were left out or simplified.
#[derive(Default)]
pub(crate) struct Tools {
    pub(crate) tools: Vec<Arc<ServerTool>>,
    pub(crate) problems: Vec<String>,
}

/// Lists the tools of a server. A tool that did not change stays the same value.
pub(crate) async fn list_tools(
    connection: &Connection,
    slot: &Arc<Slot>,
    before: &[Arc<ServerTool>],
    cancel: &CancellationToken,
) -> Result<Tools, ListError> {
    let mut found = Tools::default();
    let mut size = 0;
    let each = |item| {
        if found.tools.len() == MAX_ITEMS {
            let problem = format!("only its first {MAX_ITEMS} tools are used");
            found.problems.push(problem);
            return ControlFlow::Break(());
        }
        match read(item, slot) {
            Ok((tool, simplified)) => {
                size += tool.description.len() + tool.input_schema.to_string().len();
                if size > MAX_LISTED {
                    let problem = "the definitions of its tools are too large";
                    found.problems.push(problem.to_owned());
                    return ControlFlow::Break(());
                }
                let problem = simplified.filter(|_| found.problems.len() < MAX_ITEMS);
                found.problems.extend(problem);
                found.tools.push(Arc::new(tool));
            }
            Err(problem) if found.problems.len() < MAX_ITEMS => found.problems.push(problem),
            Err(_) => {}
        }
        ControlFlow::Continue(())
    };
    list(connection, "tools/list", "tools", cancel, each).await?;
    let before: std::collections::HashMap<&str, &Arc<ServerTool>> = before
        .iter()
        .map(|tool| (tool.tool.as_str(), tool))
        .collect();
    for tool in &mut found.tools {
        if let Some(same) = before.get(tool.tool.as_str())
            && same.has_same_definition(tool)
        {
            *tool = Arc::clone(same);
        }
    }
    Ok(found)
}

/// Reads the definition of a tool. Returns it with the problem of its schema.
fn read(mut item: Value, slot: &Arc<Slot>) -> Result<(ServerTool, Option<String>), String> {
    let tool = take(&mut item, "name").filter(|name| !name.is_empty());
    let Some(tool) = tool.filter(|name| name.len() <= MAX_NAME) else {
        return Err("a tool has no name, or one that is too long".to_owned());
    };
    let support = item.get("execution").and_then(|it| it.get("taskSupport"));
    if support.and_then(Value::as_str) == Some("required") {
        return Err(format!(
            "the tool {tool:?} is left out: it works only as a task, which the host does not support"
        ));
    }
    let schema = item.get_mut("inputSchema").map(Value::take);
    let normal = normalise(&schema.unwrap_or(Value::Null))
        .map_err(|reason| format!("the tool {tool:?} is left out: {reason}"))?;
    let simplified = normal.simplified.join(", ");
    let problem = (!simplified.is_empty())
        .then(|| format!("the input schema of the tool {tool:?} is simplified: {simplified}"));
    let tool = ServerTool {
        name: tool_name(&slot.server, &tool),
        description: cut(
            take(&mut item, "description").unwrap_or_default(),
            MAX_DESCRIPTION,
        ),
        input_schema: normal.schema,
        server: slot.server.clone(),
        tool,
        slot: Arc::clone(slot),
    };
    Ok((tool, problem))
}
