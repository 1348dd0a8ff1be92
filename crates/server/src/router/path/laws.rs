//! Properties of all paths in all spellings.

use opencode_protocol::operation::Spec;
use opencode_protocol::operations::OPERATIONS;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::decode;
use super::fuzz::find;

/// The spelling of one segment: its escaped or upper-case characters, and the slashes before it.
type Spelling = (Vec<bool>, usize);

/// An operation with a value for each of its parameters, and a way to write its path.
fn spelled() -> impl Strategy<Value = (Spec, Vec<String>, Vec<Spelling>)> {
    // No fixed segment begins like the values, so none of them means another operation.
    let values = vec("[~%][^/]{0,8}", 8);
    let spellings = vec((vec(any::<bool>(), 1..5), 1..4usize), 12);
    (select(OPERATIONS), values, spellings)
}

/// The segments that a caller means.
fn segments(spec: &Spec, values: &[String]) -> Vec<(String, bool)> {
    let mut values = values.iter();
    let segment = |wanted: &str| match wanted.starts_with('{') {
        true => (values.next().unwrap().clone(), false),
        false => (wanted.to_owned(), true),
    };
    spec.path
        .split('/')
        .filter(|it| !it.is_empty())
        .map(segment)
        .collect()
}

/// A segment with some of its bytes escaped, and some letters of a fixed one in the other case.
fn spell(text: &str, is_fixed: bool, marks: &[bool]) -> String {
    let marks = marks.iter().cycle().copied();
    let byte = |(byte, mark): (u8, bool)| match (byte, mark) {
        (b'_' | b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9', false) => {
            (byte as char).to_string()
        }
        (b'a'..=b'z' | b'A'..=b'Z', true) if is_fixed => format!("%{:02x}", byte ^ 0x20),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().zip(marks).map(byte).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_path_addresses_the_same_operation_in_all_spellings((spec, values, spellings) in spelled()) {
        let (mut plain, mut odd) = (String::new(), String::new());
        for ((text, is_fixed), (marks, slashes)) in segments(&spec, &values).iter().zip(&spellings) {
            plain.push('/');
            plain.push_str(&encode(text));
            odd.push_str(&"/".repeat(*slashes));
            odd.push_str(&spell(text, *is_fixed, marks));
        }
        let expected = find(&plain);
        prop_assert_eq!(expected.as_ref().map(|(path, _)| *path), Some(spec.path));
        prop_assert_eq!(&find(&odd), &expected, "{}", odd);
        prop_assert_eq!(&find(&format!("{odd}//")), &expected);
    }

    #[test]
    fn any_path_has_operations_or_none(
        pieces in vec(select(PIECES), 0..10),
        more in "[!-~]{0,20}",
    ) {
        let path = format!("/api/{}{more}", pieces.concat());
        super::fuzz::check(path.as_bytes());
        if let Some((_, params)) = find(&path) {
            prop_assert!(params.iter().all(|(_, value)| !value.is_empty()));
        }
    }

    #[test]
    fn a_segment_is_decoded_once_or_refused(segment in "([!-~]|%[0-9a-fA-F]{2}){0,12}") {
        if let Some(text) = decode(&segment) {
            prop_assert_eq!(decode(&encode(&text)), Some(text));
        }
    }
}

fn encode(segment: &str) -> String {
    utf8_percent_encode(segment, NON_ALPHANUMERIC).to_string()
}

const PIECES: &[&str] = &[
    "session",
    "session/",
    "active",
    "ses_a",
    "/message/",
    "msg_a",
    "fs/read/",
    "a/../b",
    "..",
    "%2e",
    "%2E%2E/",
    "%2f",
    "%2F",
    "%00",
    "%c0%af",
    "%ff",
    "%ed%a0%80",
    "%F0%9F%99%82",
    "%zz",
    "%",
    "%25",
    "%2561",
    "/",
    "//",
    "*",
    "{sessionID}",
    "?",
    "#",
    "\\",
    "+",
    "prompt",
    "PTY",
    "%70ty",
];
