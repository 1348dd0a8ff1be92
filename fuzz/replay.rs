//! Replays the inputs that the fuzzer has kept, without the fuzzer.

use std::fs;
use std::path::Path;

/// Checks each kept input of a target.
pub(crate) fn replay(target: &str, check: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let file = corpus.join(format!("{target}.txt"));
    let inputs = fs::read_to_string(file).expect("the target has a corpus");
    assert!(!inputs.is_empty(), "the corpus of {target} is empty");
    for line in inputs.lines() {
        check(&unescape(line));
    }
}

/// Decodes a line of the corpus. `\xNN` is one byte.
fn unescape(line: &str) -> Vec<u8> {
    let mut parts = line.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("an escape has two digits"));
        bytes.extend(rest.bytes());
    }
    bytes
}
