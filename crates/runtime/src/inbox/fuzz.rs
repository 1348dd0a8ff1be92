//! Properties of attached texts, for the fuzzer.

use super::attached_text::{MAX_BYTES, MAX_LINES, bounded, data, utf8};

/// Checks that an attachment is either refused or becomes a text within the limits.
pub(crate) fn check(input: &[u8]) {
    let uri = String::from_utf8_lossy(input);
    let texts = [
        utf8(input.to_vec()),
        data(&uri),
        data(&format!("data:{uri}")),
    ];
    for text in texts.iter().flatten() {
        assert!(!text.contains('\0'), "{text:?}");
        let (shown, is_cut) = bounded(text);
        assert!(text.starts_with(shown) && shown.len() <= MAX_BYTES);
        assert!(shown.lines().count() <= MAX_LINES);
        assert!(is_cut || shown.trim_end_matches('\n') == text.trim_end_matches('\n'));
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::replay::replay;

    #[test]
    fn stored_fuzz_inputs_satisfy_the_properties_of_attachments() {
        replay("attachments", check);
    }
}
