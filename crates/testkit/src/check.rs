//! Rules that every request satisfies, in every situation. A provider refuses a request that breaks
//! one of them.

use opencode_llm::{LlmRequest, Message, Part, Role};

/// Fails with a description of the first broken rule.
pub fn check(request: &LlmRequest) -> Result<(), String> {
    if request.system.iter().any(|part| part.text.is_empty()) {
        return Err("a part of the System Context is empty".into());
    }
    if request.messages.is_empty() {
        return Err("there is no message".into());
    }
    let mut open = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        advance(message, &mut open).map_err(|problem| format!("message {at}: {problem}"))?;
    }
    all_settled(&open)?;
    crate::wire::check(request)
}

/// Updates the open local calls, which wait for their results, for one message.
fn advance<'a>(message: &'a Message, open: &mut Vec<&'a str>) -> Result<(), String> {
    if message.content.is_empty() {
        return Err("it is empty".into());
    }
    message.check().map_err(|error| error.to_string())?;
    if message.role == Role::Tool {
        for part in message.content.iter() {
            settle(part, open)?;
        }
        return Ok(());
    }
    all_settled(open)?;
    let mut hosted = Vec::new();
    for part in message.content.iter() {
        match part {
            Part::ToolCall(call) if open.contains(&call.id.as_str()) => {
                return Err(format!("it calls {} twice", call.id));
            }
            Part::ToolCall(call) if call.provider_executed => hosted.push(call.id.as_str()),
            Part::ToolCall(call) => open.push(&call.id),
            Part::ToolResult(_) => settle(part, &mut hosted)?,
            _ => {}
        }
    }
    all_settled(&hosted)
}

fn settle(part: &Part, open: &mut Vec<&str>) -> Result<(), String> {
    let Part::ToolResult(result) = part else {
        return Err("it holds something else than results".into());
    };
    let at = open.iter().position(|id| *id == result.id);
    let at = at.ok_or_else(|| format!("the result {} has no call before it", result.id))?;
    open.remove(at);
    Ok(())
}

fn all_settled(open: &[&str]) -> Result<(), String> {
    if open.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the calls {} have no result before it",
        open.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use opencode_llm::{ProtocolId, ResolvedModel, ToolCallPart, ToolResultPart, ToolResultValue};
    use serde_json::json;

    use super::*;

    fn call(id: &str, provider_executed: bool) -> Part {
        Part::ToolCall(ToolCallPart {
            id: id.into(),
            name: "t".into(),
            input: json!({}),
            provider_executed,
            provider_metadata: None,
        })
    }

    fn result(id: &str, provider_executed: bool) -> Part {
        Part::ToolResult(ToolResultPart {
            id: id.into(),
            name: "t".into(),
            result: ToolResultValue::Text("ok".into()),
            provider_executed,
            provider_metadata: None,
        })
    }

    fn problem(messages: Vec<Message>) -> Option<String> {
        let model = ResolvedModel::new("mock", "m1", ProtocolId::OpenAiChat, "http://mock");
        let request = LlmRequest {
            messages: messages.into(),
            ..LlmRequest::new(Arc::new(model))
        };
        check(&request).err()
    }

    #[test]
    fn calls_and_results_belong_together() {
        let hi = || Message::user([Part::text("hi")]);
        for (messages, expected) in [
            (vec![], Some("there is no message")),
            (vec![hi()], None),
            (
                vec![
                    hi(),
                    Message::assistant([call("a", false), call("b", false)]),
                    Message::tool([result("b", false)]),
                    Message::tool([result("a", false)]),
                    hi(),
                ],
                None,
            ),
            (
                vec![hi(), Message::assistant([call("a", false)])],
                Some("the calls a have no result before it"),
            ),
            (
                vec![hi(), Message::assistant([call("a", false)]), hi()],
                Some("message 2: the calls a have no result before it"),
            ),
            (
                vec![hi(), Message::tool([result("a", false)])],
                Some("message 1: the result a has no call before it"),
            ),
            (
                vec![
                    hi(),
                    Message::assistant([call("a", true), result("a", true)]),
                    hi(),
                ],
                None,
            ),
            (
                vec![Message::assistant([call("a", true)])],
                Some("message 0: the calls a have no result before it"),
            ),
            (
                vec![Message::user([result("a", false)])],
                Some("message 0: user messages cannot contain tool-result parts"),
            ),
        ] {
            assert_eq!(problem(messages).as_deref(), expected);
        }
    }
}
