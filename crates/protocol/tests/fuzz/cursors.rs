//! Cursors.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use opencode_protocol::cursor::{MessagesCursor, SessionsCursor};
use opencode_schema::id::SessionID;
use proptest::prelude::*;

use crate::corpus::{inputs, mutated};
use crate::properties::cursors::{check, cursor};

const CORPUS: &str = include_str!("corpus/cursors.txt");

#[test]
fn the_corpus_is_read_or_refused() {
    for content in inputs(CORPUS) {
        check(&content);
    }
}

#[test]
fn most_of_the_corpus_is_refused_and_the_first_cursor_is_read() {
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
        check(&content);
    }

    #[test]
    fn bytes_are_refused(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&content);
    }
}
