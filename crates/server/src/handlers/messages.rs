//! Operations on what a session has recorded.

use axum::http::StatusCode;
use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::{Data, MessagesResponse};
use opencode_protocol::page::Direction;
use opencode_runtime::{Anchored, Sequence};
use opencode_schema::message::SessionMessage;

use crate::handlers::sessions::order;
use crate::router::operation::{Answer, Call};
use crate::wire::failure::{failure, json_text};
use crate::wire::stream;

/// Events of a history page without a limit in the request.
const HISTORY_LIMIT: u32 = 50;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn list(call: Call<op::SessionMessages>) -> Answered<MessagesResponse> {
    let id = call.params.session_id;
    // An unknown session is told before a cursor that cannot be used.
    let page = match call.query.page(&id) {
        Ok(page) => page,
        Err(refused) => {
            call.runtime.session(&id).await.map_err(failure)?;
            return Err(refused);
        }
    };
    let anchor = page.from.as_ref().map(|from| Anchored {
        at: from.anchor.into(),
        before: from.direction == Direction::Previous,
    });
    let listed = call
        .runtime
        .messages(&id, order(page.order), anchor, page.limit as usize);
    let messages = listed.await.map_err(failure)?;
    let ends = messages
        .first()
        .zip(messages.last())
        .map(|(one, other)| (one.0.into(), other.0.into()));
    let cursor = page.cursors(ends);
    let data = messages.into_iter().map(|(_, message)| message).collect();
    Ok(Answer::Value(MessagesResponse { data, cursor }))
}

pub(crate) async fn get(call: Call<op::SessionMessageGet>) -> Answered<Data<SessionMessage>> {
    let found = call
        .runtime
        .message(&call.params.session_id, &call.params.message_id);
    let data = found.await.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn context(call: Call<op::SessionContext>) -> Answered<Data<Vec<SessionMessage>>> {
    let data = call
        .runtime
        .context(&call.params.session_id)
        .await
        .map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

/// The page is put together from stored texts, like the stream.
pub(crate) async fn history<T>(call: Call<op::SessionHistoryGet>) -> Answered<T> {
    let id = call.params.session_id;
    let limit = call.query.limit.unwrap_or(HISTORY_LIMIT) as usize;
    let page = call
        .runtime
        .history(&id, call.query.after.map(Sequence::from), limit)
        .await
        .map_err(failure)?;
    let (events, has_more) = page;
    let texts: Vec<_> = events
        .iter()
        .map(|event| stream::event_text(&id, event))
        .collect();
    let text = format!(r#"{{"data":[{}],"hasMore":{has_more}}}"#, texts.join(","));
    Ok(Answer::Raw(json_text(StatusCode::OK, text)))
}

pub(crate) async fn events<T>(call: Call<op::SessionEvents>) -> Answered<T> {
    let events = call.runtime.events(
        &call.params.session_id,
        call.query.after.map(Sequence::from),
    );
    Ok(Answer::Raw(stream::durable(events.await.map_err(failure)?)))
}
