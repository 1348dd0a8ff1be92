//! The request that becomes a connection to a terminal. Its client does not read a body, so a refusal is only a
//! status.
//!
//! A page of a browser can open a WebSocket to any address, and the browser adds the credentials that it remembers.
//! So a page is admitted only if it may read answers, or if it sends the password itself.

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, WebSocketUpgrade};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use opencode_protocol::decode::Decoder;
use opencode_protocol::input::{PtyConnectQuery, PtyParams};
use opencode_protocol::operation::{Channel, Operation};
use opencode_protocol::operations::PtyConnect;
use opencode_runtime::Runtime;
use opencode_runtime::pty::Cursor;
use opencode_schema::id::PtyID;
use opencode_schema::location::LocationRef;

use super::socket;
use crate::listen::Sockets;
use crate::router::operation::{Route, query};
use crate::router::path::Params;
use crate::router::selector::Selector;
use crate::wire::peer::Peer;

static PARAMS: Decoder<PtyParams> = Decoder::of_operation(PtyConnect::SPEC.id, Channel::Params);
static QUERY: Decoder<PtyConnectQuery> = Decoder::of_operation(PtyConnect::SPEC.id, Channel::Query);

/// Routes requests for a connection.
pub(crate) fn route() -> Route {
    Route::new::<PtyConnect, _, _>(connect)
}

async fn connect(runtime: Runtime, params: Params, request: Request) -> Response<Body> {
    let (head, _) = request.into_parts();
    let answer = match ConnectRequest::of(&runtime, &params, &head) {
        Ok(wanted) => wanted.connect(runtime, head).await,
        Err(status) => Err(status),
    };
    answer.unwrap_or_else(|status| {
        tracing::debug!(
            status = status.as_u16(),
            "a connection to a terminal was refused"
        );
        status.into_response()
    })
}

/// The parameters of a connection.
struct ConnectRequest {
    place: LocationRef,
    id: PtyID,
    from: Cursor,
    ticket: Option<String>,
}

impl ConnectRequest {
    fn of(runtime: &Runtime, params: &Params, head: &Parts) -> Result<Self, StatusCode> {
        let bad = |_| StatusCode::BAD_REQUEST;
        let pairs = query(head);
        let id = PARAMS.pairs(params).map_err(bad)?.pty_id;
        let query = QUERY.pairs(&pairs).map_err(bad)?;
        let selector = Selector::of(&pairs, &head.headers).map_err(bad)?;
        let named = selector.or_default(runtime.default_directory());
        let place = runtime.place(&named);
        let ticket = pairs.iter().find(|(name, _)| name == "ticket");
        Ok(Self {
            place: place.map_err(|_| StatusCode::BAD_REQUEST)?,
            id,
            from: cursor(query.cursor.as_deref()),
            ticket: ticket.map(|(_, value)| value.to_string()),
        })
    }

    async fn connect(
        self,
        runtime: Runtime,
        mut head: Parts,
    ) -> Result<Response<Body>, StatusCode> {
        let by_ticket = self.ticket.is_some();
        if !admits(&head, by_ticket) {
            return Err(StatusCode::FORBIDDEN);
        }
        let terminals = runtime.terminals().clone();
        // A client with a ticket learns nothing about terminals before the ticket is checked.
        if !by_ticket && terminals.get(&self.place, &self.id).is_err() {
            return Err(StatusCode::NOT_FOUND);
        }
        let upgrade = WebSocketUpgrade::from_request_parts(&mut head, &()).await;
        let upgrade = upgrade.map_err(|_| StatusCode::BAD_REQUEST)?;
        // A request in memory has no connection that could become a WebSocket.
        let sockets = head.extensions.remove::<Sockets>();
        let sockets = sockets.ok_or(StatusCode::BAD_REQUEST)?;
        if let Some(ticket) = &self.ticket
            && !terminals.redeem_ticket(ticket, &self.place, &self.id)
        {
            return Err(StatusCode::FORBIDDEN);
        }
        if terminals.get(&self.place, &self.id).is_err() {
            return Err(StatusCode::NOT_FOUND);
        }
        let attach = move || terminals.attach(&self.place, &self.id, self.from);
        Ok(socket::accept(sockets, upgrade, attach))
    }
}

/// Returns true if a request comes from no page, or from an admitted page.
fn admits(head: &Parts, by_ticket: bool) -> bool {
    let Some(peer) = head.extensions.get::<Peer>() else {
        return true;
    };
    // A password in the address is not one that a browser has added.
    let explicit = peer.locked && query(head).iter().any(|(name, _)| name == "auth_token");
    (explicit && !by_ticket) || peer.origins.admit(&head.headers)
}

/// Returns the place where the replay begins. A text that is no place selects the whole output.
fn cursor(text: Option<&str>) -> Cursor {
    match text.and_then(|text| text.trim().parse::<i64>().ok()) {
        Some(-1) => Cursor::End,
        Some(place) => Cursor::At(place.try_into().unwrap_or(0)),
        None => Cursor::At(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_a_place_or_the_end_or_everything() {
        for (text, from) in [
            (None, Cursor::At(0)),
            (Some(""), Cursor::At(0)),
            (Some("x"), Cursor::At(0)),
            (Some("1.5"), Cursor::At(0)),
            (Some("-2"), Cursor::At(0)),
            (Some("99999999999999999999"), Cursor::At(0)),
            (Some("0"), Cursor::At(0)),
            (Some("17"), Cursor::At(17)),
            (Some("-1"), Cursor::End),
        ] {
            assert_eq!(cursor(text), from, "{text:?}");
        }
    }
}
