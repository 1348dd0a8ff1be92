//! Inputs from files, and their mutations.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The inputs of a file, one on each line; `\xNN` is a byte.
pub(crate) fn inputs(file: &str) -> Vec<Vec<u8>> {
    let inputs: Vec<_> = file.lines().map(unescape).collect();
    assert_ne!(inputs.len(), 0);
    inputs
}

fn unescape(line: &str) -> Vec<u8> {
    let mut parts = line.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).unwrap());
        bytes.extend(rest.bytes());
    }
    bytes
}

/// An input of the file with some changes.
pub(crate) fn mutated(file: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let changes = proptest::collection::vec(change(), 0..6);
    (select(inputs(file)), changes)
        .prop_map(|(input, changes)| changes.into_iter().fold(input, apply))
}

/// Maximum number of bytes that a repetition adds. Larger inputs take more time and find nothing new.
const MOST_ADDED: usize = 4 * 1024;

#[derive(Debug, Clone)]
enum Change {
    Overwrite(Index, u8),
    Insert(Index, &'static str),
    Remove(Index, Index),
    /// Repeats a part of the input many times.
    Repeat(Index, Index, usize),
}

/// Pieces of text that decoders treat specially.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "null",
    "true",
    "-",
    "0",
    "1e999",
    "1e-9",
    "0x",
    "9007199254740993",
    "18446744073709551616",
    "%",
    "%zz",
    "%00",
    "&",
    "=",
    "[]",
    "[directory]",
    "__proto__",
    "constructor",
    "\u{feff}",
    "\u{0}",
    "\u{2028}",
    "🙂",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Overwrite(at, byte)),
        (any::<Index>(), select(PIECES)).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Change::Remove(from, to)),
        (any::<Index>(), any::<Index>(), 1..200usize)
            .prop_map(|(from, to, times)| Change::Repeat(from, to, times)),
    ]
}

fn apply(mut input: Vec<u8>, change: Change) -> Vec<u8> {
    let ends = input.len() + 1;
    let range = |from: Index, to: Index| {
        let (from, to) = (from.index(ends), to.index(ends));
        from.min(to)..from.max(to)
    };
    match change {
        Change::Overwrite(at, byte) => {
            let at = at.index(ends);
            input.splice(at..input.len().min(at + 1), [byte]);
        }
        Change::Insert(at, piece) => {
            let at = at.index(ends);
            input.splice(at..at, piece.bytes());
        }
        Change::Remove(from, to) => {
            input.drain(range(from, to));
        }
        Change::Repeat(from, to, times) => {
            let range = range(from, to);
            let part = &input[range.clone()];
            let part = part.repeat(times.min(1 + MOST_ADDED / part.len().max(1)));
            input.splice(range, part);
        }
    }
    input
}
