//! Pruning: removes old tool output from later requests. The output stays stored and readable.
//!
//! The rule depends only on Session History and on the protocol of its model, so the same history is always pruned in
//! the same way. Pruning changes
//! messages that were already sent, so the provider must process everything after them again. Therefore it happens
//! only at the end of an activity, for many outputs at once, and only if it frees many tokens.

use opencode_llm::{Message, Part, Role, ToolResultValue};
use opencode_schema::event::PrunedCall;
use opencode_schema::id::MessageID;
use opencode_schema::message::{AssistantPart, SessionMessage, ToolState};

use crate::history::estimate::tokens;
use crate::history::lowering::{Target, calls_by_id};
use crate::json::json_size;

/// Text that replaces pruned output in requests.
pub(crate) const CLEARED: &str = "[Old tool result content cleared]";

/// Tools whose output is never pruned: the text of a skill applies to the rest of the session.
const PROTECTED: [&str; 1] = ["skill"];

/// Number of the newest user messages whose answers are not pruned.
const KEPT_TURNS: usize = 2;

/// Number of tokens of the newest output before those that are not pruned either.
pub(crate) const KEPT_TOKENS: u64 = 40_000;

/// Minimum number of freed tokens that justifies a changed prefix.
const LEAST_TOKENS: u64 = 20_000;

/// The outputs of an assistant message's calls that pruning may remove.
pub(crate) struct Outputs {
    message_id: MessageID,
    /// In the order of the calls.
    calls: Vec<Output>,
}

struct Output {
    call_id: String,
    tokens: u64,
    is_pruned: bool,
}

impl Outputs {
    /// Returns the outputs of a stored message. `lowered` has its messages, each with its size in UTF-16 units.
    /// Includes calls that the provider ran only if the provider of the target does not require their exact results.
    pub(crate) fn of<'a>(
        stored: &SessionMessage,
        target: &Target,
        lowered: impl Iterator<Item = (&'a Message, u64)>,
    ) -> Option<Box<Self>> {
        let SessionMessage::Assistant(answer) = stored else {
            return None;
        };
        let mut results = lowered.filter(|(message, _)| message.role == Role::Tool);
        let by_id = calls_by_id(&answer.content);
        let replaces_hosted = target.may_replace_hosted(answer);
        let calls: Vec<_> = answer
            .content
            .iter()
            .enumerate()
            .filter_map(|(at, part)| {
                let AssistantPart::Tool {
                    id,
                    name,
                    provider,
                    state,
                    time,
                } = part
                else {
                    return None;
                };
                if by_id[id.as_str()] != at {
                    return None;
                }
                let is_hosted = provider.as_ref().is_some_and(|it| it.executed);
                let is_settled = matches!(
                    **state,
                    ToolState::Completed { .. } | ToolState::Error { .. }
                );
                if is_hosted {
                    let units = hosted_units(state).filter(|_| replaces_hosted)?;
                    return Some(Output {
                        call_id: id.clone(),
                        tokens: tokens(units),
                        is_pruned: time.pruned.is_some(),
                    });
                }
                let (result, counted) = is_settled.then(|| results.next())??;
                let is_completed = matches!(**state, ToolState::Completed { .. });
                let is_protected = PROTECTED.contains(&name.as_str());
                (is_completed && !is_protected).then(|| Output {
                    call_id: id.clone(),
                    tokens: tokens(output_units(result).unwrap_or(counted)),
                    is_pruned: time.pruned.is_some(),
                })
            })
            .collect();
        let message_id = answer.id.clone();
        (!calls.is_empty()).then(|| Box::new(Self { message_id, calls }))
    }

    /// Returns the tokens of the outputs that are not pruned yet.
    pub(crate) fn tokens(&self) -> u64 {
        let left = self.calls.iter().filter(|output| !output.is_pruned);
        left.map(|output| output.tokens).sum()
    }
}

/// Returns the UTF-16 units of the result of a call that the provider ran, as the provider gave it.
fn hosted_units(state: &ToolState) -> Option<u64> {
    match state {
        ToolState::Completed {
            result: Some(result),
            ..
        } => Some(json_size(result).units),
        ToolState::Completed { structured, .. } => Some(json_size(structured).units),
        _ => None,
    }
}

/// Returns the UTF-16 units of the output itself, without the rest of the message. `None` for an output with several
/// parts, because files among them count by other rules than text.
fn output_units(result: &Message) -> Option<u64> {
    match result.content.first() {
        Some(Part::ToolResult(part)) => match &part.result {
            ToolResultValue::Text(text) => Some(text.encode_utf16().count() as u64),
            ToolResultValue::Json(value) => Some(json_size(value).units),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the calls whose output is to be pruned, oldest first. `history` goes from the newest message to the oldest;
/// each item has true for a user message, and the outputs of the message.
///
/// Stops at the first output that is already pruned: an earlier pruning has examined everything older.
pub(crate) fn select<'a>(
    history: impl Iterator<Item = (bool, Option<&'a Outputs>)>,
) -> Vec<PrunedCall> {
    let (mut turns, mut seen, mut freed) = (0, 0, 0);
    let mut calls = Vec::new();
    'history: for (is_user, outputs) in history {
        turns += usize::from(is_user);
        let Some(outputs) = outputs.filter(|_| turns >= KEPT_TURNS) else {
            continue;
        };
        for output in outputs.calls.iter().rev() {
            if output.is_pruned {
                break 'history;
            }
            seen += output.tokens;
            if seen > KEPT_TOKENS {
                freed += output.tokens;
                calls.push(PrunedCall {
                    assistant_message_id: outputs.message_id.clone(),
                    call_id: output.call_id.clone(),
                });
            }
        }
    }
    if freed <= LEAST_TOKENS {
        return Vec::new();
    }
    calls.reverse();
    calls
}

#[cfg(test)]
mod tests {
    use opencode_llm::HostedResults;
    use serde_json::{Value, json};

    use super::*;
    use crate::history::lowering::{Place, lower};

    /// Returns the tokens of an output.
    fn counted(content: &Value, structured: &Value) -> u64 {
        let stored: SessionMessage = serde_json::from_value(json!({
            "id": "msg_a", "time": { "created": 0, "completed": 1 }, "type": "assistant",
            "agent": "build", "model": { "id": "m", "providerID": "p" },
            "content": [{ "type": "tool", "id": "1", "name": "bash", "time": { "created": 0 },
                          "state": { "status": "completed", "input": {},
                                     "structured": structured, "content": content } }],
        }))
        .unwrap();
        let target = Target {
            provider_id: "p".to_owned(),
            wire_id: "m".to_owned(),
            calls_tools: true,
            delegates: false,
            hosted: HostedResults::Repeat,
        };
        let lowered = lower(&stored, &target, Place::Usual);
        let outputs = Outputs::of(
            &stored,
            &target,
            lowered.iter().map(|message| (message, 7_000)),
        );
        outputs.unwrap().tokens()
    }

    #[test]
    fn an_output_counts_by_its_text() {
        let text = |text: String| json!({ "type": "text", "text": text });
        for (content, structured, expected) in [
            // The escaping in JSON does not count.
            (json!([text("\n\"".repeat(20_000))]), json!({}), 10_000),
            (json!([text("😀".repeat(8))]), json!({}), 4),
            (json!([]), json!({ "text": "x".repeat(40_000) }), 10_003),
            (
                json!([text("a".into()), text("b".into())]),
                json!({}),
                1_750,
            ),
        ] {
            assert_eq!(counted(&content, &structured), expected);
        }
    }

    /// Outputs of one message, in thousands of tokens; a negative number is an output that is already pruned.
    fn outputs(name: &str, tokens: &[i64]) -> Outputs {
        let calls = tokens.iter().enumerate().map(|(n, tokens)| Output {
            call_id: format!("{name}{n}"),
            tokens: tokens.unsigned_abs() * 1000,
            is_pruned: *tokens < 0,
        });
        Outputs {
            message_id: MessageID::parse(&format!("msg_{name}")).unwrap(),
            calls: calls.collect(),
        }
    }

    /// Returns the pruned calls of these messages, oldest first. A message without outputs is a user message.
    fn pruned(history: &[&[i64]]) -> String {
        let names = 'a'..;
        let messages = names.zip(history).map(|(name, tokens)| match tokens {
            [] => (true, None),
            tokens => (false, Some(outputs(&name.to_string(), tokens))),
        });
        let messages: Vec<_> = messages.collect();
        let newest = messages.iter().rev();
        let calls = select(newest.map(|(is_user, outputs)| (*is_user, outputs.as_ref())));
        let calls: Vec<_> = calls.into_iter().map(|call| call.call_id).collect();
        calls.join(" ")
    }

    #[test]
    fn recent_outputs_stay_and_a_small_saving_prunes_nothing() {
        let user: &[i64] = &[];
        for (history, expected) in [
            (&[][..], ""),
            (&[user, &[90], user, &[90]][..], ""),
            (&[user, &[21, 40], user, user][..], "b0"),
            (&[user, &[20, 40], user, user][..], ""),
            // The output that crosses the limit is pruned too.
            (&[user, &[41], user, user][..], "b0"),
            (&[user, &[1, 20, 40, 90], user, user][..], "b0 b1 b2 b3"),
            (&[user, &[30], user, &[30, 30], user, user][..], "b0 d0"),
            (
                &[user, &[30], user, &[30], user, &[30], user, &[9]][..],
                "b0",
            ),
            (
                &[user, &[30], &[-50], user, &[21, 40], user, user][..],
                "e0",
            ),
            (&[user, &[21], &[-1], user, &[40], user, user][..], ""),
        ] {
            assert_eq!(pruned(history), expected, "{history:?}");
        }
    }
}
