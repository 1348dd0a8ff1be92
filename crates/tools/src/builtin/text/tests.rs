use proptest::prelude::*;

use super::*;

fn edit(range: Range<usize>, text: &str) -> Edit {
    Edit {
        range,
        text: text.to_owned(),
    }
}

#[test]
fn a_byte_order_mark_is_removed_and_restored() {
    for (bytes, text) in [
        ("", ""),
        ("a\r\nb", "a\r\nb"),
        ("\u{feff}", ""),
        ("\u{feff}a", "a"),
        ("\u{feff}\u{feff}a", "\u{feff}a"),
        ("a\u{feff}", "a\u{feff}"),
    ] {
        let decoded = Text::decode(bytes.into()).unwrap();
        assert_eq!(decoded.text, text, "{bytes:?}");
        assert_eq!(
            decoded.change(&[]).unwrap().bytes,
            bytes.as_bytes(),
            "{bytes:?}"
        );
    }
}

#[test]
fn a_text_with_too_many_lines_is_refused() {
    let lines = "\n".repeat(MAX_LINES);
    assert_eq!(Text::decode(lines.clone().into()).unwrap().text, lines);
    let error = Text::decode((lines + "\n").into()).unwrap_err();
    assert_eq!(error, NotText::TooManyLines);
}

#[test]
fn a_change_is_written_in_the_encoding_of_the_file() {
    for (bytes, old, new, after) in [
        (
            b"caf\xe9 noir\n".as_slice(),
            "noir",
            "\u{e0} lait",
            b"caf\xe9 \xe0 lait\n".as_slice(),
        ),
        (
            b"\xff\xfea\0b\0",
            "b",
            "\u{1f600}",
            b"\xff\xfea\0\x3d\xd8\0\xde",
        ),
        (b"\xfe\xff\0a\0b", "a", "\u{e9}", b"\xfe\xff\0\xe9\0b"),
        (b"h\0e\0l\0l\0o\0", "lo", "p", b"h\0e\0l\0p\0"),
        (b"\xef\xbb\xbfa", "a", "\u{e9}", b"\xef\xbb\xbf\xc3\xa9"),
    ] {
        let text = Text::decode(bytes.to_vec()).unwrap();
        let at = text.text.find(old).unwrap();
        let changed = text.change(&[edit(at..at + old.len(), new)]).unwrap();
        assert_eq!(changed.bytes, after, "{bytes:?}");
        assert_eq!(Text::decode(changed.bytes).unwrap().text, changed.text);
    }
}

#[test]
fn bytes_that_are_not_valid_stay() {
    let kept = "\u{e4}\u{f6}\u{fc}\u{df}";
    let bytes = [kept.as_bytes(), b" a\xffb c\xf0\x9f\n"].concat();
    let text = Text::decode(bytes.clone()).unwrap();
    let start = kept.len() + 1;
    assert_eq!(&text.text[start..], "a\u{fffd}b c\u{fffd}\n");
    // The ends that stay are not written again.
    let whole = edit(start..text.text.len(), "A\u{fffd}b c\u{fffd}d\n");
    let changed = text.change(&[whole]);
    assert_eq!(changed, Err(Unencodable::Damaged("UTF-8")));
    let changed = text.change(&[edit(start..start + 1, "A"), edit(start + 6..start + 7, "C")]);
    let after = [kept.as_bytes(), b" A\xffb C\xf0\x9f\n"].concat();
    assert_eq!(changed.unwrap().bytes, after);
    let line = edit(start..text.text.len(), "a\u{fffd}b c\u{fffd}d\n");
    let after = [kept.as_bytes(), b" a\xffb c\xf0\x9fd\n"].concat();
    assert_eq!(text.change(&[line]).unwrap().bytes, after);
    let wide = Text::decode(b"\xff\xfea\0\0\xd8b\0c".to_vec()).unwrap();
    assert_eq!(wide.text, "a\u{fffd}b\u{fffd}");
    let changed = wide.change(&[edit(4..5, "B")]).unwrap();
    assert_eq!(changed.bytes, b"\xff\xfea\0\0\xd8B\0c");
}

#[test]
fn a_character_that_the_encoding_does_not_have_is_refused() {
    let text = Text::decode(b"caf\xe9 noir\n".to_vec()).unwrap();
    let error = text.change(&[edit(0..0, "\u{4f60}")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file is in windows-1252, which does not have the character '\u{4f60}' (U+4F60). Nothing was changed. \
         Leave the character out, or convert the file to UTF-8 first"
    );
    // The bytes of this text would be UTF-8.
    let ambiguous = text.change(&[edit(0..text.text.len(), "\u{c3}\u{a9}")]);
    assert_eq!(ambiguous, Err(Unencodable::Ambiguous("windows-1252")));
}

proptest! {
    #[test]
    fn a_change_keeps_all_other_bytes(
        form in prop_oneof![
            Just(Form::Utf8), Just(Form::Utf16Le), Just(Form::Utf16Be), Just(Form::Windows1252),
        ],
        is_marked in any::<bool>(),
        before in "[a-z ]{8}[a-z\u{e9}\r\n ]{0,20}",
        old in "[a-z\u{e9}]{0,6}",
        after in "[a-z\r\n ]{0,20}",
        new in "[a-z\u{e9}\n]{0,6}",
        damage in prop::option::of(Just(b"\xff\xfe".as_slice())),
    ) {
        let charset = Charset { form, is_marked: is_marked && form != Form::Windows1252 };
        let bytes = |text: &str| {
            let mut bytes = Vec::new();
            encode(text, charset, &mut bytes).unwrap();
            bytes
        };
        // Bytes that are not valid, at the end of a text that is UTF-8 for certain.
        let damage = damage.filter(|_| form == Form::Utf8).unwrap_or_default();
        let before = if damage.is_empty() { before } else { format!("{}{before}", "\u{e9}".repeat(9)) };
        let file = [
            charset.mark(), &bytes(&before), &bytes(&old), &bytes(&after), damage,
        ].concat();
        let Ok(text) = Text::decode(file) else {
            // Some of these texts have only doubtful words.
            prop_assert_eq!(form, Form::Windows1252);
            return Ok(());
        };
        prop_assert!(text.text.starts_with(&[&*before, &*old, &*after].concat()));
        let range = before.len()..before.len() + old.len();
        let Ok(changed) = text.change(&[edit(range, &new)]) else {
            prop_assert_eq!(form, Form::Windows1252);
            return Ok(());
        };
        if text.charset == charset {
            let expected = [
                charset.mark(), &bytes(&before), &bytes(&new), &bytes(&after), damage,
            ].concat();
            prop_assert_eq!(&changed.bytes, &expected);
        }
        prop_assert_eq!(Text::decode(changed.bytes).unwrap().text, changed.text);
    }
}
