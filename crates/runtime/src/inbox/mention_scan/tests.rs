use proptest::prelude::*;

use super::*;

/// The mentions of a text in a short form.
fn found(text: &str) -> Vec<String> {
    let lines = |lines: &Option<LineRange>| match lines {
        Some((first, last)) => format!(" {first}..{last}"),
        None => String::new(),
    };
    let found = scan(text);
    found
        .iter()
        .map(|it| match &it.target {
            MentionTarget::Name { name, lines: of } => name.clone() + &lines(of),
            MentionTarget::Reference {
                name,
                path,
                lines: of,
            } => format!("ref {name} {path:?}{}", lines(of)),
            MentionTarget::Resource { server, uri } => format!("mcp {server} {uri}"),
        })
        .collect()
}

#[test]
fn mentions_are_words_after_an_at_sign() {
    for (text, expected) in [
        ("", &[][..]),
        ("@", &[]),
        ("@@", &["@"]),
        ("see @src/a.ts, then @b.", &["src/a.ts", "b"]),
        ("(@a.rs) [@b.rs] \"@c.rs\"", &["a.rs", "b.rs", "c.rs"]),
        ("me@example.com and x@y", &[]),
        ("\\@a.rs", &[]),
        ("@Injectable()", &["Injectable()"]),
        ("@app/(group)/[id].tsx!", &["app/(group)/[id].tsx"]),
        ("(see @app/(group))", &["app/(group)"]),
        ("@\"my notes.md\" is", &["my notes.md"]),
        ("@\"my notes.md\"#L2-4.", &["my notes.md 2..4"]),
        ("@\"open", &[]),
        ("@\"\"", &[]),
        ("@a.ts#L10", &["a.ts 10..10"]),
        ("@a.ts#L10-20, ", &["a.ts 10..20"]),
        ("@a.ts#L10-L20", &["a.ts 10..20"]),
        ("@a.ts#section", &["a.ts#section"]),
        ("@a.ts#L10-", &["a.ts#L10-"]),
        ("@a.ts#L+1", &["a.ts#L+1"]),
        (
            "@a#L99999999999999999999999",
            &["a#L99999999999999999999999"],
        ),
        ("@#L10", &[]),
        ("@reference:docs", &["ref docs None"]),
        ("@reference:docs/", &["ref docs None"]),
        (
            "@reference:docs/a/b.md#L1-2",
            &["ref docs Some(\"a/b.md\") 1..2"],
        ),
        ("@reference:", &["reference"]),
        ("@mcp:every/demo://r/1?a#L1", &["mcp every demo://r/1?a#L1"]),
        ("@mcp:every", &[]),
        ("@mcp:/x", &[]),
        ("@../up.txt", &["../up.txt"]),
        ("@/etc/hosts", &["/etc/hosts"]),
        ("@...", &[]),
        ("看，@a.md。好", &["a.md"]),
        ("字@a.md", &[]),
        ("@a|b <@c>", &["a", "c"]),
    ] {
        assert_eq!(found(text), expected, "{text:?}");
    }
}

#[test]
fn code_is_literal() {
    for (text, expected) in [
        ("`@a` @b", &["b"][..]),
        ("``@a ` @b`` @c", &["c"]),
        ("` @a", &["a"]),
        ("`\n@a\n` @b", &["b"]),
        ("```\n@a\n```\n@b", &["b"]),
        ("```ts\n@a\n``` not the end\n@b\n```\n@c", &["c"]),
        ("~~~\n@a\n```\n~~~\n@b", &["b"]),
        ("```\n@a", &[]),
        ("````\n```\n@a\n````\n@b", &["b"]),
        ("    ```\n@a", &["a"]),
        ("``` x ` y\n@a", &["a"]),
        ("```@a``` @b", &["b"]),
    ] {
        assert_eq!(found(text), expected, "{text:?}");
    }
}

#[test]
fn hostile_texts_are_scanned_in_linear_time() {
    let began = std::time::Instant::now();
    let runs: String = (1..2_000).map(|length| "`".repeat(length) + " ").collect();
    for text in [
        runs + "@a",
        "@".repeat(1_000_000),
        " @(".repeat(500_000),
        format!("@{}", ")".repeat(1_000_000)),
        " @\"".repeat(500_000),
        "`\n".repeat(500_000),
    ] {
        assert!(scan(&text).len() <= MAX_MENTIONS);
    }
    // Quadratic work would need hours.
    assert!(began.elapsed() < std::time::Duration::from_secs(60));
}

/// Texts that are close to mentions.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "@",
        "a",
        "/",
        "#L",
        "1",
        "-",
        "\"",
        "`",
        "```",
        "\n",
        " ",
        "(",
        ")",
        ".",
        "mcp:",
        "\\",
        "reference:",
        "é",
        "字",
        "，",
        "~~~",
        "\0",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn mentions_are_ordered_ranges_that_begin_with_an_at_sign(text in texts()) {
        let mut end = 0;
        for mention in scan(&text) {
            prop_assert!(end <= mention.range.start && mention.range.start < mention.range.end);
            let shown = &text[mention.range.clone()];
            prop_assert!(shown.starts_with('@') && shown.len() > 1);
            prop_assert!(!shown.contains('\n'));
            end = mention.range.end;
        }
    }

    #[test]
    fn a_text_in_a_fence_has_no_mentions(text in "[^`~]{0,80}") {
        prop_assert_eq!(scan(&format!("````\n{text}\n````")), []);
    }

    #[test]
    fn escaped_at_signs_are_literal(text in texts()) {
        prop_assert_eq!(scan(&text.replace('@', "\\@")), []);
    }

    #[test]
    fn a_path_without_special_characters_is_found_as_it_is(path in "[a-z0-9_/-]{1,40}") {
        let expected = vec![path.clone()];
        prop_assert_eq!(found(&format!("see @{path} now")), expected.clone());
        prop_assert_eq!(found(&format!("(@{path}).")), expected);
    }
}
