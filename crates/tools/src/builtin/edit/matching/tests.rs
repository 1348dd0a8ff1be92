use proptest::prelude::*;

use super::*;
use crate::builtin::text::lines::applied;

const MAX_BYTES: u64 = 16 * 1024 * 1024;

fn outcome(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), String> {
    let replaced = replace(text, old, new, all, MAX_BYTES);
    let replaced = replaced.map_err(|mismatch| match mismatch {
        Mismatch::Missing(_) => "Missing".to_owned(),
        Mismatch::Ambiguous { count, .. } => format!("Ambiguous({count})"),
        other => format!("{other:?}"),
    })?;
    Ok((applied(text, &replaced.edits), replaced.count))
}

#[test]
fn an_edit_replaces_one_match_or_all() {
    let done = |text: &str, count| Ok((text.to_owned(), count));
    let failed = |reason: &str| Err(reason.to_owned());
    for (text, old, new, all, expected) in [
        ("a b c", "b", "B", false, done("a B c", 1)),
        ("a b c", "b", "B", true, done("a B c", 1)),
        ("a b c", " b", "", false, done("a c", 1)),
        ("a a", "a", "b", true, done("b b", 2)),
        ("a a\na\n", "a", "b", true, done("b b\nb\n", 3)),
        ("a a", "a", "b", false, failed("Ambiguous(2)")),
        ("aaa", "aa", "b", false, done("ba", 1)),
        ("aaaa", "aa", "b", true, done("bb", 2)),
        ("a b", "c", "d", true, failed("Missing")),
        ("", "c", "d", true, failed("Missing")),
        ("  a", "    a", "b", false, failed("Missing")),
        (
            "a",
            "a",
            "$& $1 $` $' $$ \\n",
            false,
            done("$& $1 $` $' $$ \\n", 1),
        ),
        ("é\u{1F600}", "\u{1F600}", "é", false, done("éé", 1)),
        ("x", "x", "", false, done("", 1)),
        ("x\ny\n", "x\n", "", false, done("y\n", 1)),
        ("x\ny\nz", "\ny\n", "", false, done("xz", 1)),
        ("x\ny\nx\ny\n", "x\ny\n", "z\n", true, done("z\nz\n", 2)),
    ] {
        assert_eq!(outcome(text, old, new, all), expected, "{text:?} {old:?}");
    }
}

#[test]
fn each_line_keeps_its_own_end() {
    let done = |text: &str| Ok((text.to_owned(), 1));
    let failed = |reason: &str| Err(reason.to_owned());
    for (text, old, new, expected) in [
        ("a\r\nb\r\n", "a\nb", "c\nd", done("c\r\nd\r\n")),
        ("a\r\nb\r\n", "a\r\nb", "c\nd", done("c\r\nd\r\n")),
        ("a\nb\n", "a\r\nb", "c\r\nd", done("c\nd\n")),
        ("a\nb\r\n", "a\nb", "c", done("c\r\n")),
        ("a\nb\r\n", "b\n", "c\n", done("a\nc\r\n")),
        ("a\nb\r\nc\n", "a\nb\nc", "a\nB\nc", done("a\nB\r\nc\n")),
        ("a\nb\r\nc\n", "a\nb\nc", "a\nc", done("a\nc\n")),
        ("a\nb\r\nc\n", "b\nc", "b\nB\nc", done("a\nb\r\nB\r\nc\n")),
        // A CRLF elsewhere decides nothing here.
        (
            "one\ntwo\nthree\r\nfour\nfive\n",
            "five",
            "5\n6",
            done("one\ntwo\nthree\r\nfour\n5\n6\n"),
        ),
        (
            "const s = `a\r\nb`;\nfunction f() {\n  return 1;\n}\n",
            "function f() {\n  return 1;\n}",
            "function f() {\n  return 2;\n}",
            done("const s = `a\r\nb`;\nfunction f() {\n  return 2;\n}\n"),
        ),
        ("a\nb\r\nc\r\n", "a", "1\n2", done("1\n2\nb\r\nc\r\n")),
        (
            "a\nb\r\nc\r\n",
            "c",
            "1\r\n2\n3",
            done("a\nb\r\n1\r\n2\r\n3\r\n"),
        ),
        // The last line has no end and gets none.
        ("a\nb", "b", "c\nd", done("a\nc\nd")),
        ("a\r\nb", "b", "c\nd", done("a\r\nc\r\nd")),
        ("a\r\nb", "b\n", "c\n", done("a\r\nc")),
        ("a\nb", "a\nb\n", "c\n", done("c")),
        ("b", "b\n", "c", done("c")),
        ("a\rb", "b\n", "c\nd\n", done("a\rc\rd")),
        ("a\n", "a\n\n", "b\n", failed("Missing")),
        ("a\nb", "b", "b\n", done("a\nb\n")),
        ("a\nb\n", "b\n", "b", done("a\nb")),
        ("a", "a", "b\nc", done("b\nc")),
        // A CR alone ends lines if it is frequent.
        ("a\rb\rc\r", "b", "x\ny", done("a\rx\ry\rc\r")),
        ("a\rb\rc\r", "a\nb", "A\nb", done("A\rb\rc\r")),
        ("a\rb\rc\r", "a\r\nb", "A\r\nb", done("A\rb\rc\r")),
        ("a\rb\rc\r", "b\rc", "b\rC", done("a\rb\rC\r")),
        ("a\r\nb\rc\nd", "b\nc\nd", "B\nC\nD", done("a\r\nB\rC\nD")),
        (
            "10%\r20%\n\n\n\n\n",
            "20%",
            "30%\nend",
            done("10%\r30%\nend\n\n\n\n\n"),
        ),
        // A CR in the new text is a character.
        ("a\r\nb\r\n", "a\r\nb", "c\r\nd\re", done("c\r\nd\re\r\n")),
        ("a\nb", "a\nb", "a\r\nb", failed("SameLines")),
        ("a\rb", "a\nb", "a\r\nb", failed("SameLines")),
        ("a\rb\r", "a\nb", "a\rb", failed("SameLines")),
        ("a\nb", "b\n", "b", failed("SameLines")),
    ] {
        assert_eq!(
            outcome(text, old, new, false),
            expected,
            "{text:?} {old:?} {new:?}"
        );
    }
}

#[test]
fn a_failure_names_the_places() {
    let reason = |text: &str, old: &str| {
        let failed = replace(text, old, "new", false, MAX_BYTES).unwrap_err();
        failed.to_string()
    };
    let ambiguous = reason("a\nb\na\n", "a");
    assert!(
        ambiguous.ends_with("The matches begin in the lines 1, 3."),
        "{ambiguous}"
    );
    let many = reason(&"a\n".repeat(100), "a");
    assert!(
        many.ends_with("lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more."),
        "{many}"
    );
    let missing = reason("\tfoo();\n", "  foo();");
    assert!(
        missing.ends_with("Only the whitespace differs."),
        "{missing}"
    );
}

#[test]
fn a_result_over_the_size_limit_is_refused() {
    let text = "a".repeat(1024 * 1024);
    let new = "b".repeat(17);
    assert_eq!(outcome(&text, "a", &new, true), Err("TooLarge".to_owned()));
    let all = outcome(&text, "a", &new[1..], true);
    assert_eq!(all.unwrap().0.len() as u64, MAX_BYTES);
}

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

proptest! {
    #[test]
    fn a_single_match_is_replaced_in_place(
        text in "([ab é]{0,3}(\n|\r\n)){0,10}[ab]{0,2}",
        old in "[ab\n é]{1,3}",
        new in "[ab\n é$&]{0,3}",
        all in any::<bool>(),
    ) {
        if let Ok(Replacement { edits, count: 1 }) = replace(&text, &old, &new, all, MAX_BYTES) {
            let after = applied(&text, &edits);
            let flat = lf(&text);
            if let Some(at) = flat.find(&old) {
                let expected = [&flat[..at], &new, &flat[at + old.len()..]].concat();
                prop_assert_eq!(lf(&after), expected);
                // Everything before and after the match stays to the byte, up to the ends of its lines.
                let unified = Unified::of(&text);
                let (start, end) = (unified.place(at), unified.place(at + old.len()));
                prop_assert!(after.starts_with(&text[..start]), "{after:?}");
                prop_assert!(after.ends_with(&text[end..]), "{after:?}");
            }
        }
    }

    #[test]
    fn a_new_line_ends_like_the_others_of_a_uniform_text(
        text in "([ab]{0,2}\n){1,10}[ab]{0,2}",
        old in "[ab\n]{1,3}",
        new in "[ab\n]{0,4}",
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        other in prop_oneof![Just("\n"), Just("\r\n")],
        all in any::<bool>(),
    ) {
        let expected = outcome(&text, &old, &new, all);
        let (old, new) = (old.replace('\n', other), new.replace('\n', other));
        let expected = expected.map(|(text, count)| (text.replace('\n', end), count));
        prop_assert_eq!(outcome(&text.replace('\n', end), &old, &new, all), expected);
    }

    #[test]
    fn the_inverse_edit_restores_the_text(
        text in "[ab\n é]{0,40}",
        old in "[ab\n é]{1,3}",
        windows in any::<bool>(),
        all in any::<bool>(),
    ) {
        let text = if windows { format!("{text}\n").replace('\n', "\r\n") } else { text };
        if text.contains(&*if windows { old.replace('\n', "\r\n") } else { old.clone() })
            && let Ok(there) = replace(&text, &old, "<new\nlines>", all, MAX_BYTES)
        {
            let after = applied(&text, &there.edits);
            let back = replace(&after, "<new\nlines>", &old, true, MAX_BYTES).unwrap();
            prop_assert_eq!(back.count, there.count);
            if text.contains('\n') || !old.contains('\n') {
                prop_assert_eq!(applied(&after, &back.edits), text);
            }
        }
    }
}
