//! Checks the properties of a replacement for the fuzzer.

use super::matching::{Mismatch, replace};
use crate::builtin::text::Text;

const MAX_BYTES: u64 = 10_000;

/// The first byte says if every match is replaced. The file, the old text and the new text follow,
/// separated by NULs.
pub(crate) fn check(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else {
        return;
    };
    let (all, rest) = (first % 2 == 1, String::from_utf8_lossy(rest));
    let mut parts = rest.splitn(3, '\0');
    let mut next = || parts.next().unwrap_or_default();
    let (text, old, new) = (next(), next(), next());
    if old.is_empty() {
        // The tool refuses an empty text before it calls `replace`.
        return;
    }
    match replace(text, old, new, all, MAX_BYTES) {
        Ok(replacement) => {
            assert!(all || replacement.count == 1);
            assert!(replacement.count > 0);
            let Ok(file) = Text::decode(text.into()) else {
                return;
            };
            if file.text == text
                && let Ok(changed) = file.change(&replacement.edits)
            {
                assert!(changed.text.len() as u64 <= MAX_BYTES);
            }
        }
        Err(Mismatch::Ambiguous { count, .. }) => assert!(!all && count > 1),
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::replay::replay;
    use super::check;

    #[test]
    fn stored_fuzz_inputs_satisfy_the_properties_of_edits() {
        replay("edit", check);
    }
}
