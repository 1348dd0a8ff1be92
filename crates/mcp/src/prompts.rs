//! The prompts of a server.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use opencode_schema::message::ToolContent;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::call::CallError;
use crate::connection::Connection;
use crate::content::{parts, take};
use crate::limits::{MAX_DESCRIPTION, MAX_ITEMS, MAX_NAME, cut};
use crate::listing::{ListError, list};
use crate::names::prompt_name;

/// Maximum number of arguments of a prompt.
const MAX_ARGUMENTS: usize = 50;

/// A prompt of a connected server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPrompt {
    /// The name of the server.
    pub server: String,
    /// The name that the server gives to the prompt.
    pub prompt: String,
    /// The name as a command.
    pub name: String,
    /// The description for users.
    pub description: Option<String>,
    /// The arguments, in their order.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// The description for users.
    pub description: Option<String>,
    /// True if the prompt needs it.
    pub required: bool,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: String,
    /// The content.
    pub content: ToolContent,
}

/// Lists the prompts of a server.
pub(crate) async fn list_prompts(
    connection: &Connection,
    server: &str,
    cancel: &CancellationToken,
) -> Result<Vec<Arc<ServerPrompt>>, ListError> {
    let mut prompts = Vec::new();
    let each = |item| {
        prompts.extend(read(item, server).map(Arc::new));
        match prompts.len() {
            MAX_ITEMS => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    list(connection, "prompts/list", "prompts", cancel, each).await?;
    Ok(prompts)
}

fn read(mut item: Value, server: &str) -> Option<ServerPrompt> {
    let prompt = name(&mut item)?;
    let arguments = match item.get_mut("arguments").map(Value::take) {
        Some(Value::Array(arguments)) if arguments.len() > MAX_ARGUMENTS => return None,
        Some(Value::Array(arguments)) => {
            arguments.into_iter().map(argument).collect::<Option<_>>()?
        }
        _ => Vec::new(),
    };
    Some(ServerPrompt {
        server: server.to_owned(),
        name: prompt_name(server, &prompt),
        prompt,
        description: description(&mut item),
        arguments,
    })
}

fn argument(mut item: Value) -> Option<PromptArgument> {
    Some(PromptArgument {
        name: name(&mut item)?,
        description: description(&mut item),
        required: item.get("required") == Some(&Value::Bool(true)),
    })
}

fn name(item: &mut Value) -> Option<String> {
    take(item, "name").filter(|name| !name.is_empty() && name.len() <= MAX_NAME)
}

fn description(item: &mut Value) -> Option<String> {
    take(item, "description").map(|text| cut(text, MAX_DESCRIPTION))
}

/// Returns the messages of a prompt.
pub(crate) async fn get_prompt(
    connection: &Connection,
    prompt: &str,
    arguments: &BTreeMap<String, String>,
    cancel: &CancellationToken,
) -> Result<Vec<PromptMessage>, CallError> {
    let params = json!({ "name": prompt, "arguments": arguments });
    let mut result = connection
        .request("prompts/get", params, None, cancel)
        .await?;
    let messages = match result.get_mut("messages").map(Value::take) {
        Some(Value::Array(messages)) => messages,
        Some(message @ Value::Object(_)) => vec![message],
        _ => return Err(CallError::Failed("The prompt has no messages.".to_owned())),
    };
    Ok(messages.into_iter().flat_map(of_message).collect())
}

/// Returns the contents of a message. One of an unknown role counts as one of the user.
fn of_message(mut message: Value) -> impl Iterator<Item = PromptMessage> {
    let role = match message.get("role").and_then(Value::as_str) {
        Some("assistant") => "assistant",
        _ => "user",
    };
    let given = message.get_mut("content").map(Value::take);
    let contents = parts(given.unwrap_or_default()).into_iter();
    contents.map(move |content| PromptMessage {
        role: role.to_owned(),
        content,
    })
}
