//! The headers of requests to GitHub Copilot.

use opencode_llm::canonical::model::CompatibleServer;
use opencode_llm::canonical::request::{LlmRequest, Message, Part, Role, ToolContent};

/// Returns the headers of a request, none if its model belongs to another server. `x-initiator` decides how GitHub
/// counts the request: one that a user began costs more than one that continues the work of an agent.
pub(super) fn headers(request: &LlmRequest) -> Vec<(String, String)> {
    if request.model.compatibility.compatible_server != Some(CompatibleServer::Copilot) {
        return Vec::new();
    }
    let spoken = |message: &&Message| message.role != Role::System;
    let last = request.messages.iter().rev().find(spoken);
    let is_prompted = last.is_none_or(|message| message.role == Role::User);
    let initiator = match is_prompted && !request.is_by_agent {
        true => "user",
        false => "agent",
    };
    let mut headers = vec![
        ("openai-intent", "conversation-edits"),
        ("x-initiator", initiator),
    ];
    if request.messages.iter().any(has_image) {
        headers.push(("copilot-vision-request", "true"));
    }
    let owned = headers.into_iter();
    owned
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn has_image(message: &Message) -> bool {
    let is_image = |mime: &str| mime.starts_with("image/");
    message.content.iter().any(|part| match part {
        Part::Media(media) => is_image(&media.media_type),
        Part::ToolResult(result) => result.result.as_text().err().is_some_and(|pieces| {
            let mut pieces = pieces.iter();
            pieces.any(|it| matches!(it, ToolContent::File { mime, .. } if is_image(mime)))
        }),
        _ => false,
    })
}
