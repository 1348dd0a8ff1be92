//! Prompts of MCP servers as commands: the server writes the text, from the real arguments.

use std::collections::BTreeMap;
use std::time::Duration;

use opencode_mcp::ServerPrompt;
use opencode_schema::message::ToolContent;
use opencode_schema::prompt::PromptInputFileAttachment;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::arguments::{parameters, words};
use crate::error::RuntimeError;
use crate::mcp::LocationServers;

/// Maximum time of a request for a prompt.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The answer of a server.
pub(super) struct Answered {
    pub(super) text: String,
    pub(super) files: Vec<PromptInputFileAttachment>,
}

/// Requests a prompt with these arguments. The words of the caller are the values of its arguments, in their order.
///
/// # Errors
///
/// `Unavailable` with the reason if the server fails.
pub(super) async fn request(
    servers: &LocationServers,
    prompt: &ServerPrompt,
    arguments: &str,
) -> Result<Answered, RuntimeError> {
    let words = words(arguments);
    let names = prompt
        .arguments
        .iter()
        .map(|argument| argument.name.clone());
    let values = parameters(&words, prompt.arguments.len());
    let named = names.zip(values).filter(|(_, value)| !value.is_empty());
    let named: BTreeMap<_, _> = named.collect();
    let cancel = CancellationToken::new();
    let _stop = cancel.clone().drop_guard();
    let requesting = servers.prompt(&prompt.server, &prompt.prompt, &named, &cancel);
    let messages = match timeout(MAX_WAIT, requesting).await {
        Ok(Ok(messages)) => messages,
        Ok(Err(reason)) => return Err(unavailable(prompt, &reason)),
        Err(_) => return Err(unavailable(prompt, "it did not answer in time")),
    };
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for message in messages {
        match message.content {
            ToolContent::Text { text } => texts.push(text),
            ToolContent::File { uri, name, .. } => files.push(PromptInputFileAttachment {
                uri,
                name,
                description: None,
                source: None,
            }),
        }
    }
    Ok(Answered {
        text: texts.join("\n\n"),
        files,
    })
}

fn unavailable(prompt: &ServerPrompt, reason: &str) -> RuntimeError {
    let ServerPrompt { server, prompt, .. } = prompt;
    RuntimeError::Unavailable {
        service: "commands.run",
        message: format!("The MCP server {server:?} does not give its prompt {prompt:?}: {reason}"),
    }
}
