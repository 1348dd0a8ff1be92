//! Cursors.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use opencode_protocol::cursor::{CursorError, MessagesCursor, SessionsCursor};
use opencode_protocol::page::{MAX_MESSAGES, MAX_SESSIONS};
use opencode_schema::id::SessionID;
use proptest::prelude::*;
use serde_json::Value;

use crate::corpus::{inputs, mutated};

const CORPUS: &str = include_str!("corpus/cursors.txt");

fn cursor<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(Value::from(text)).unwrap()
}

/// Decoding gives a page that a cursor of ours may ask for, or a refusal.
fn decode(text: &str) {
    let session = SessionID::parse("ses_a").unwrap();
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

/// The text as it stands, and what it would be if it was in a cursor.
fn decode_both(bytes: &[u8]) {
    decode(&String::from_utf8_lossy(bytes));
    decode(&URL_SAFE_NO_PAD.encode(bytes));
}

#[test]
fn the_corpus_is_read_or_refused() {
    for content in inputs(CORPUS) {
        decode_both(&content);
    }
}

#[test]
fn most_of_the_corpus_is_refused_and_its_head_is_read() {
    let session = SessionID::parse("ses_a").unwrap();
    let is_read = |content: &Vec<u8>| {
        let text = URL_SAFE_NO_PAD.encode(content);
        let is_of_messages = cursor::<MessagesCursor>(&text).decode(&session).is_ok();
        is_of_messages || cursor::<SessionsCursor>(&text).decode().is_ok()
    };
    let read: Vec<bool> = inputs(CORPUS).iter().map(is_read).collect();
    let head = read.iter().take_while(|is_read| **is_read).count();
    assert_eq!(
        (head, read.iter().filter(|is_read| **is_read).count()),
        (4, 4)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_cursors_are_read_or_refused(content in mutated(CORPUS)) {
        decode_both(&content);
    }

    #[test]
    fn bytes_are_refused(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        decode_both(&content);
    }
}
