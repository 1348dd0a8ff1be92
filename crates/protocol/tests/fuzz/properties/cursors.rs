//! The properties of cursors.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use opencode_protocol::cursor::{CursorError, MessagesCursor, SessionsCursor};
use opencode_protocol::page::{MAX_MESSAGES, MAX_SESSIONS};
use opencode_schema::id::SessionID;
use serde_json::Value;

pub(crate) fn cursor<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(Value::from(text)).expect("a text is a cursor")
}

/// Decoding returns a page that our own cursor could request, or a refusal.
fn decode(text: &str) {
    let session = SessionID::parse("ses_a").expect("a text is a cursor");
    match cursor::<MessagesCursor>(text).decode(&session) {
        Ok(page) => {
            assert_eq!(page.scope, session);
            assert!((1..=MAX_MESSAGES).contains(&page.limit), "{page:?}");
            assert_eq!(MessagesCursor::encode(&page).decode(&session), Ok(page));
        }
        Err(CursorError::Undecodable | CursorError::WrongKind | CursorError::ForeignSession) => {}
    }
    match cursor::<SessionsCursor>(text).decode() {
        Ok(page) => {
            assert!((1..=MAX_SESSIONS).contains(&page.limit), "{page:?}");
            assert_eq!(SessionsCursor::encode(&page).decode(), Ok(page));
        }
        Err(error) => assert_ne!(error, CursorError::ForeignSession),
    }
}

/// Returns the text itself, and the text encoded like a cursor.
pub(crate) fn check(bytes: &[u8]) {
    decode(&String::from_utf8_lossy(bytes));
    decode(&URL_SAFE_NO_PAD.encode(bytes));
}
