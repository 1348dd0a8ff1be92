//! Operations on the recorded messages and events of a session.

use axum::http::StatusCode;
use opencode_protocol::operations as op;
use opencode_protocol::output::MessagesResponse;
use opencode_protocol::page::Direction;
use opencode_runtime::{Anchored, Sequence};
use opencode_schema::message::SessionMessage;

use crate::handlers::sessions::order;
use crate::router::answer::{Answered, Whole, Written};
use crate::router::operation::Call;
use crate::wire::failure::json_text;
use crate::wire::stream;

/// Maximum number of events in a history page if the request has no limit.
const HISTORY_LIMIT: u32 = 50;

pub(crate) async fn list(call: Call<op::SessionMessages>) -> Answered<Whole<MessagesResponse>> {
    let id = call.params.session_id;
    // An unknown session is reported before an invalid cursor.
    let page = match call.query.page(&id) {
        Ok(page) => page,
        Err(refused) => {
            call.runtime.session(&id).await?;
            return Err(refused.into());
        }
    };
    let anchor = page.from.as_ref().map(|from| Anchored {
        at: from.anchor.into(),
        before: from.direction == Direction::Previous,
    });
    let listed = call
        .runtime
        .messages(&id, order(page.order), anchor, page.limit as usize);
    let messages = listed.await?;
    let ends = messages
        .first()
        .zip(messages.last())
        .map(|(one, other)| (one.0.into(), other.0.into()));
    let cursor = page.cursors(ends);
    let data = messages.into_iter().map(|(_, message)| message).collect();
    Ok(Whole(MessagesResponse { data, cursor }))
}

pub(crate) async fn get(call: Call<op::SessionMessageGet>) -> Answered<SessionMessage> {
    let found = call
        .runtime
        .message(&call.params.session_id, &call.params.message_id);
    Ok(found.await?)
}

pub(crate) async fn context(call: Call<op::SessionContext>) -> Answered<Vec<SessionMessage>> {
    let data = call.runtime.context(&call.params.session_id).await?;
    Ok(data)
}

/// Returns a page that consists of stored texts, as the stream does.
pub(crate) async fn history(call: Call<op::SessionHistoryGet>) -> Answered<Written> {
    let id = call.params.session_id;
    let limit = call.query.limit.unwrap_or(HISTORY_LIMIT) as usize;
    let page = call
        .runtime
        .history(&id, call.query.after.map(Sequence::from), limit)
        .await?;
    let (events, has_more) = page;
    let texts: Vec<_> = events
        .iter()
        .map(|event| stream::event_text(&id, event))
        .collect();
    let text = format!(r#"{{"data":[{}],"hasMore":{has_more}}}"#, texts.join(","));
    Ok(Written(json_text(StatusCode::OK, text)))
}

pub(crate) async fn events(call: Call<op::SessionEvents>) -> Answered<Written> {
    let events = call.runtime.events(
        &call.params.session_id,
        call.query.after.map(Sequence::from),
    );
    Ok(Written(stream::durable(events.await?)))
}
