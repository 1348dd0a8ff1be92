//! Cursors: the whole query of a Page and its position, as one opaque text.
//!
//! Cursors come from any caller, so decoding trusts no part of them. They are not signed: a caller that changes a
//! cursor only sends another query, which it may send anyway.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use opencode_schema::id::SessionID;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::page::{MAX_MESSAGES, MAX_SESSIONS, MessagesPage, PageRequest, SessionsPage};

/// Maximum length of a cursor. A search or a path needs much less.
const MAX_BYTES: usize = 64 * 1024;

/// Version of the content. Other versions are refused.
const VERSION: u32 = 1;

/// Writes no padding, and reads texts with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Continues a page of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionsCursor(String);

/// Continues a page of messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessagesCursor(String);

/// The reason why a cursor cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// The text is not a cursor of this version.
    #[error("Invalid cursor")]
    Undecodable,
    /// The cursor continues another list.
    #[error("Cursor belongs to another operation")]
    WrongKind,
    /// The cursor continues the messages of another session.
    #[error("Cursor belongs to another session")]
    ForeignSession,
}

impl SessionsCursor {
    /// Returns the cursor of this page.
    pub fn encode(page: &SessionsPage) -> Self {
        Self(encode(Kind::Sessions, page))
    }

    /// Returns the page of the cursor.
    pub fn decode(&self) -> Result<SessionsPage, CursorError> {
        decode(&self.0, Kind::Sessions, MAX_SESSIONS)
    }

    /// Returns the text on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl MessagesCursor {
    /// Returns the cursor of this page.
    pub fn encode(page: &MessagesPage) -> Self {
        Self(encode(Kind::Messages, page))
    }

    /// Returns the page of the cursor in that session.
    pub fn decode(&self, session_id: &SessionID) -> Result<MessagesPage, CursorError> {
        let page: MessagesPage = decode(&self.0, Kind::Messages, MAX_MESSAGES)?;
        if page.scope != *session_id {
            return Err(CursorError::ForeignSession);
        }
        Ok(page)
    }

    /// Returns the text on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The list that a cursor continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Sessions,
    Messages,
}

/// The members that describe the page.
#[derive(Deserialize)]
struct Head {
    version: u32,
    kind: Kind,
}

#[derive(Serialize)]
struct Written<'a, Page> {
    version: u32,
    kind: Kind,
    page: &'a Page,
}

#[derive(Deserialize)]
struct Read<Page> {
    page: Page,
}

fn encode(kind: Kind, page: &impl Serialize) -> String {
    let content = Written {
        version: VERSION,
        kind,
        page,
    };
    let json = serde_json::to_vec(&content).expect("a page request is plain data");
    BASE64.encode(json)
}

fn decode<Scope, Anchor>(
    text: &str,
    kind: Kind,
    most: u32,
) -> Result<PageRequest<Scope, Anchor>, CursorError>
where
    PageRequest<Scope, Anchor>: DeserializeOwned,
{
    if text.len() > MAX_BYTES {
        return Err(CursorError::Undecodable);
    }
    let json = BASE64.decode(text).map_err(|_| CursorError::Undecodable)?;
    let head: Head = read(&json)?;
    if head.version != VERSION {
        return Err(CursorError::Undecodable);
    }
    if head.kind != kind {
        return Err(CursorError::WrongKind);
    }
    let Read::<PageRequest<Scope, Anchor>> { page } = read(&json)?;
    if page.from.is_none() || !(1..=most).contains(&page.limit) {
        return Err(CursorError::Undecodable);
    }
    Ok(page)
}

fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, CursorError> {
    serde_json::from_slice(json).map_err(|_| CursorError::Undecodable)
}
