//! The result of a child session's prompt.

use opencode_schema::id::SessionID;
use opencode_schema::message::{AssistantMessage, AssistantPart, SessionMessage, TURN_LIMIT};
use opencode_store::{Anchored, Order, Reader, Sequence, SessionKey, StoreError};
use opencode_tools::Incomplete;

use super::TaskSessions;
use crate::error::RuntimeError;

/// Number of messages per read.
const PAGE: usize = 16;

/// Error if a session gave no answer.
const UNANSWERED: &str = "nothing was answered";

/// The answer of a child session to its prompt.
pub(super) enum TaskAnswer {
    /// The last text, and the reason if the newest answer is not complete.
    Text(String, Option<Incomplete>),
    /// The error of its newest turn.
    Failure(String),
}

impl TaskSessions {
    /// Returns the last text of a session after this sequence number, or the error of its newest turn.
    pub(super) async fn answer_after(
        &self,
        session: &SessionID,
        seq: Sequence,
    ) -> Result<TaskAnswer, RuntimeError> {
        self.journal
            .of_session(session, move |reader, key| answer_after(reader, key, seq))
            .await
    }
}

fn answer_after(
    reader: &Reader<'_>,
    session: SessionKey,
    seq: Sequence,
) -> Result<TaskAnswer, StoreError> {
    let mut is_answered = false;
    let mut incomplete = None;
    let mut anchor = None;
    loop {
        let page = reader.messages(session, Order::Descending, anchor.as_ref(), PAGE)?;
        let newer = page.iter().take_while(|(at, _)| *at > seq);
        for (_, message) in newer {
            let SessionMessage::Assistant(message) = message else {
                continue;
            };
            if !is_answered && let Some(error) = &message.error {
                return Ok(TaskAnswer::Failure(error.message.clone()));
            }
            if !is_answered && let Some(limit) = turn_limit(message) {
                return Ok(TaskAnswer::Failure(format!(
                    "it made {limit} Provider Turns, as many as it may, and wanted more; give it a next prompt to go on"
                )));
            }
            if !is_answered {
                incomplete = message.finish.as_deref().and_then(Incomplete::of);
            }
            is_answered = true;
            if let Some(text) = last_text(message) {
                return Ok(TaskAnswer::Text(text.to_owned(), incomplete));
            }
        }
        match page.last() {
            Some((at, _)) if *at > seq && page.len() == PAGE => {
                let (at, before) = (*at, false);
                anchor = Some(Anchored { at, before });
            }
            _ if is_answered => return Ok(TaskAnswer::Text(String::new(), incomplete)),
            _ => return Ok(TaskAnswer::Failure(UNANSWERED.to_owned())),
        }
    }
}

/// Returns the number of turns that the work on a prompt could take, if the answer was the last one and called tools.
fn turn_limit(message: &AssistantMessage) -> Option<u64> {
    let limit = message.metadata.as_ref()?.get(TURN_LIMIT)?;
    limit.as_u64()
}

fn last_text(message: &AssistantMessage) -> Option<&str> {
    let mut parts = message.content.iter().rev();
    parts.find_map(|part| match part {
        AssistantPart::Text { text, .. } if !text.trim().is_empty() => Some(&**text),
        _ => None,
    })
}
