use proptest::prelude::*;

use super::super::parse::{Action, parse};
use super::*;
use crate::builtin::text::lines::applied;

/// Makes a chunk from the lines of a patch.
fn chunk(context: Option<&str>, text: &str, at_end: bool) -> Chunk {
    let lines = text.lines().map(|line| {
        let kind = match line.as_bytes()[0] {
            b' ' => Line::Keep,
            b'-' => Line::Remove,
            _ => Line::Insert,
        };
        kind(line[1..].to_owned())
    });
    Chunk {
        context: context.map(str::to_owned),
        lines: lines.collect(),
        at_end,
        ..Chunk::default()
    }
}

fn updated(text: &str, chunks: &[(Option<&str>, &str, bool)]) -> Result<String, String> {
    let chunks: Vec<_> = chunks
        .iter()
        .map(|(context, lines, at_end)| chunk(*context, lines, *at_end))
        .collect();
    let edits = update(text, &chunks, "a.txt", true)?;
    Ok(applied(text, &edits))
}

#[test]
fn chunks_are_applied_at_their_lines() {
    let abc = "a\nb\nc\n";
    let twice = "start one\nx\nstart two\nx\n";
    for (text, chunks, expected) in [
        (abc, &[(None, "-b\n+B", false)][..], "a\nB\nc\n"),
        (abc, &[(None, " a\n-b\n c", false)], "a\nc\n"),
        (abc, &[(None, " a\n+1\n+2\n b", false)], "a\n1\n2\nb\nc\n"),
        (abc, &[(None, "-a\n-b\n-c", false)], ""),
        (abc, &[(None, "", false)], abc),
        // No old lines: inserts at the end of the file.
        (abc, &[(None, "+d", false)], "a\nb\nc\nd\n"),
        (
            abc,
            &[(None, "+d", false), (None, "-a", false)],
            "b\nc\nd\n",
        ),
        (
            abc,
            &[(None, "+d", false), (None, "+e", false)],
            "a\nb\nc\nd\ne\n",
        ),
        (abc, &[(Some("a"), "+d", false)], "a\nb\nc\nd\n"),
        ("", &[(None, "+a", false)], "a\n"),
        ("a\n\n", &[(None, "+b", false)], "a\n\nb\n"),
        // The last line keeps its end, also if it has none.
        ("a\nb", &[(None, "-b\n+c", false)], "a\nc"),
        ("a\nb", &[(None, "-a\n+A\n b", false)], "A\nb"),
        ("a\nb", &[(None, " b\n+c", false)], "a\nb\nc"),
        ("a\nb", &[(None, "+c", false)], "a\nb\nc"),
        ("a\nb", &[(None, "-b", false)], "a\n"),
        ("a\nb", &[(None, " a\n-b", false)], "a\n"),
        ("a\nb", &[(None, " a\n+c\n-b", false)], "a\nc"),
        ("a\nb", &[(None, "-a\n-b", false)], ""),
        ("a\n\n", &[(None, "-a\n+b", false)], "b\n\n"),
        // The first match at or after the current position.
        (twice, &[(None, "-x", false)], "start one\nstart two\nx\n"),
        (
            twice,
            &[(Some("start two"), "-x", false)],
            "start one\nx\nstart two\n",
        ),
        (twice, &[(None, "-x", true)], "start one\nx\nstart two\n"),
        (
            twice,
            &[(None, "-x\n+1", false), (None, "-x\n+2", false)],
            "start one\n1\nstart two\n2\n",
        ),
        // The end has priority, but is not required.
        (abc, &[(None, "-a", true)], "b\nc\n"),
        // One empty line more than the file has.
        (abc, &[(None, " c\n+d\n ", false)], "a\nb\nc\nd\n"),
        (abc, &[(None, " c\n ", false)], abc),
        (abc, &[(None, "-c\n-", false)], "a\nb\n"),
        (abc, &[(None, "-c\n-\n+d\n+", false)], "a\nb\nd\n"),
        (abc, &[(None, " c\n \n+d", false)], "a\nb\nc\n\nd\n"),
        (abc, &[(None, " c\n \n+d\n+", false)], "a\nb\nc\n\nd\n"),
    ] {
        assert_eq!(updated(text, chunks).as_deref(), Ok(expected), "{chunks:?}");
    }
}

#[test]
fn lines_are_compared_in_looser_steps_and_stay_unchanged() {
    for (text, chunk, expected) in [
        ("a  \nb\n", " a\n-b\n+c", "a  \nc\n"),
        ("\ta\nb\n", " a\n-b\n+c", "\ta\nc\n"),
        ("  a\n", "-a\n+b", "b\n"),
        ("a\r\nb\r\nc\r\n", " a\n-b\n+B\n c", "a\r\nB\r\nc\r\n"),
        (
            "\u{201c}x\u{201d} \u{2014} it\u{2019}s\u{a0}on\u{2026}\nb\n",
            " \"x\" - it's on...\n-b\n+c",
            "\u{201c}x\u{201d} \u{2014} it\u{2019}s\u{a0}on\u{2026}\nc\n",
        ),
        // A strict match has priority over an earlier loose match.
        (" a\na\n", "-a\n+b", " a\nb\n"),
        ("a \n a\n", "-a\n+b", "b\n a\n"),
    ] {
        let chunks = [(None, chunk, false)];
        assert_eq!(updated(text, &chunks).as_deref(), Ok(expected), "{text:?}");
    }
    let found = updated(
        "  fn a() {\nx\nfn b() {\nx\n",
        &[(Some("fn a() {"), "-x", false)],
    );
    assert_eq!(found.as_deref(), Ok("  fn a() {\nfn b() {\nx\n"));
}

#[test]
fn missing_lines_are_reported() {
    let lines = |lines: &str| format!("Failed to find expected lines in a.txt:\n{lines}\n");
    for (chunks, expected) in [
        (
            &[(Some("z"), "-a", false)][..],
            "Failed to find context 'z' in a.txt ".to_owned(),
        ),
        (&[(None, " a\n-c", false)], lines("a\nc")),
        (&[(None, "-a\n-b\n-c\n-d", false)], lines("a\nb\nc\nd")),
        (&[(Some("c"), "-b", false)], lines("b")),
        (&[(None, "-b", false), (None, "-a", false)], lines("a")),
        (&[(None, "-A", false)], lines("A")),
    ] {
        let error = updated("a\nb\nc\n", chunks).unwrap_err();
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.contains("Nothing was changed."), "{error}");
    }
}

/// Applies the body of an update.
fn patched(text: &str, body: &str) -> Result<String, String> {
    let patch = format!("*** Begin Patch\n*** Update File: a.txt\n{body}*** End Patch");
    let hunks = parse(&patch).map_err(|error| error.to_string())?;
    let Action::Update(chunks) = &hunks[0].action else {
        panic!("{hunks:?}");
    };
    Ok(applied(text, &update(text, chunks, "a.txt", true)?))
}

#[test]
fn each_line_keeps_its_own_end() {
    let class = "class A\r\n{\r\n  int x;\r\n}\r\n";
    let mixed = "one\ntwo\r\nthree\nfour\rfive";
    for (text, body, expected) in [
        (
            class,
            "@@\n {\n-  int x;\n+  int y;\n+  int z;\n }\n",
            "class A\r\n{\r\n  int y;\r\n  int z;\r\n}\r\n",
        ),
        (class, "@@\n+// end\n", &format!("{class}// end\r\n")),
        ("a\nb", "@@\n-a\n+A\n b\n", "A\nb"),
        (
            mixed,
            "@@\n-two\n+2\n+2b\n",
            "one\n2\r\n2b\r\nthree\nfour\rfive",
        ),
        (
            mixed,
            "@@\n-one\n-two\n+1\n+2\n+3\n",
            "1\n2\r\n3\r\nthree\nfour\rfive",
        ),
        (
            mixed,
            "@@\n two\n+2b\n three\n",
            "one\ntwo\r\n2b\r\nthree\nfour\rfive",
        ),
        (mixed, "@@\n+0\n one\n", "0\none\ntwo\r\nthree\nfour\rfive"),
        (
            mixed,
            "@@\n four\n+4b\n five\n",
            "one\ntwo\r\nthree\nfour\r4b\rfive",
        ),
        (mixed, "@@\n+six\n", "one\ntwo\r\nthree\nfour\rfive\rsix"),
        (
            mixed,
            "@@\n-two\n three\n+3b\n",
            "one\nthree\n3b\nfour\rfive",
        ),
        ("", "@@\n+a\n+b\n", "a\nb\n"),
        ("a\r\n", "@@\n-a\n+b\n", "b\r\n"),
        // The mark of a diff for a missing end of the last line.
        ("a\nb", "@@\n-b\n+c\n\\ No newline at end of file\n", "a\nc"),
        (
            "a\nb\n",
            "@@\n-b\n+c\n\\ No newline at end of file\n",
            "a\nc",
        ),
        (
            "a\nb",
            "@@\n-b\n\\ No newline at end of file\n+b\n",
            "a\nb\n",
        ),
        (
            "a\nb",
            "@@\n-a\n+A\n b\n\\ No newline at end of file\n",
            "A\nb",
        ),
        (
            "a\nb\nc\n",
            "@@\n-a\n+A\n\\ No newline at end of file\n",
            "A\nb\nc\n",
        ),
    ] {
        for body in [body.to_owned(), body.replace('\n', "\r\n")] {
            assert_eq!(
                patched(text, &body).as_deref(),
                Ok(expected),
                "{text:?} {body:?}"
            );
        }
    }
}

#[test]
fn forms_that_models_write_are_applied() {
    let a = "import os\n\ndef a():\n    return 1\n";
    let done = "import os\n\ndef a():\n    return 2\n";
    let change = "-    return 1\n+    return 2\n";
    let twice = "def a():\n    return 1\n\ndef b():\n    return 1\n";
    let second = "def a():\n    return 1\n\ndef b():\n    return 2\n";
    let method = "    fn new() -> Self {\n        let n = 1;\n        let m = 1;\n    }\n}\n";
    let types = &format!("impl A {{\n{method}impl B {{\n{method}");
    for (text, body, expected) in [
        (a, format!("@@\n import os\n\n def a():\n{change}"), done),
        (a, format!(" def a():\n{change}"), done),
        (a, format!("@@\n\n def a():\n{change}\n\n"), done),
        (a, format!("@@\n\n\n def a():\n{change}\n"), done),
        (a, format!("@@\ndef a():\n{change}"), done),
        (a, format!("@@ -3,2 +3,2 @@\n def a():\n{change}"), done),
        (
            a,
            format!("@@ -90,2 +90,2 @@ class C\n def a():\n{change}"),
            done,
        ),
        (a, format!("@@ def a(): @@\n{change}"), done),
        // Line numbers and headings choose between equal places.
        (twice, format!("@@ -5 +5 @@\n{change}"), second),
        (
            types,
            "@@ -3 +3 @@ fn new() -> Self {\n-        let n = 1;\n+        let n = 2;\n\
             @@ -4 +4 @@ fn new() -> Self {\n-        let m = 1;\n+        let m = 2;\n"
                .to_owned(),
            &types.replacen("= 1;\n        let m = 1", "= 2;\n        let m = 2", 1),
        ),
        // An empty line behind a context is one of the file.
        (
            twice,
            "@@ def a():\n     return 1\n\n+# b\n".to_owned(),
            "def a():\n    return 1\n\n# b\ndef b():\n    return 1\n",
        ),
        (
            "def a():\n\n    return 1\n\ndef b():\n    pass\n",
            "@@ def a():\n\n+    x = 1\n".to_owned(),
            "def a():\n\n    x = 1\n    return 1\n\ndef b():\n    pass\n",
        ),
        // The last line has no end until a chunk ends or removes it.
        ("a\nb", "@@\n-b\n@@\n+c\n".to_owned(), "a\nc"),
        ("a\nb", "@@\n+c\n@@\n+d\n".to_owned(), "a\nb\nc\nd"),
        (twice, format!("@@ -1 +1 @@ def b():\n{change}"), second),
        (twice, format!("@@ def b():\n{change}"), second),
        (twice, format!("@@ def a():\n@@ def b():\n{change}"), second),
        (
            twice,
            format!("@@\n{change}"),
            "def a():\n    return 2\n\ndef b():\n    return 1\n",
        ),
        ("a\nb\n", "@@ -1,0 +2 @@\n+c\n".to_owned(), "a\nc\nb\n"),
        ("a\nb\n", "@@ -0,0 +1 @@\n+c\n".to_owned(), "c\na\nb\n"),
        ("a\nb\n", "@@\n+c\n\n".to_owned(), "a\nb\nc\n"),
    ] {
        assert_eq!(patched(text, &body).as_deref(), Ok(expected), "{body}");
    }
}

#[test]
fn a_patch_without_an_evident_meaning_is_refused_with_its_lines() {
    for (text, body, expected) in [
        (
            "x\ny\nx\n\n",
            "@@\n-x\n+z\n\n@@\n",
            "it fits at line 3, without them at line 1",
        ),
        (
            "a\n",
            "@@ -1,2 +1,3 @@\n+b\n",
            "the chunk at line 3 of patchText",
        ),
        ("a\n", "@@ -9,0 +9 @@\n+b\n", "it has no line of the file"),
        (
            "a\n",
            "@@\nHere it goes\n-a\n+b\n",
            "Line 4 of patchText has none of the marks",
        ),
        (
            "\tfoo();\n}\n",
            "@@\n-    bar();\n-    foo();\n",
            "Only the whitespace differs",
        ),
        (
            "a\nb\nc\n",
            "@@\n-a\n-b\n@@ -1,0 +1 @@\n+x\n",
            "change the same lines",
        ),
    ] {
        let error = patched(text, body).unwrap_err();
        assert!(error.contains(expected), "{body}: {error}");
    }
}

/// Returns two texts and one chunk that turns the first into the second. The script consists of
/// kept, removed and inserted lines.
fn whole(script: &[(u8, String)], inverse: bool) -> (String, Chunk, String) {
    let (mut before, mut after, mut lines) = (String::new(), String::new(), Vec::new());
    for (kind, text) in script {
        let kind = if inverse && *kind > 0 {
            3 - kind
        } else {
            *kind
        };
        let line = format!("{text}\n");
        if kind != 2 {
            before.push_str(&line);
        }
        if kind != 1 {
            after.push_str(&line);
        }
        let kinds = [Line::Keep, Line::Remove, Line::Insert];
        lines.push(kinds[usize::from(kind)](text.clone()));
    }
    let chunk = Chunk {
        lines,
        ..Chunk::default()
    };
    (before, chunk, after)
}

proptest! {
    #[test]
    fn a_chunk_of_a_whole_file_and_its_inverse_restore_the_file(
        script in prop::collection::vec((0u8..3, "[ab \u{201c}\t]{0,3}"), 0..20),
    ) {
        let (before, chunk, after) = whole(&script, false);
        let edits = update(&before, &[chunk], "a", true).unwrap();
        prop_assert_eq!(applied(&before, &edits), after.as_str());
        let (there, chunk, back) = whole(&script, true);
        prop_assert_eq!(&there, &after);
        let edits = update(&there, &[chunk], "a", true).unwrap();
        prop_assert_eq!(applied(&there, &edits), back);
    }

    #[test]
    fn nothing_panics(
        text in "[ab \n\r\u{201c}]{0,30}",
        chunks in prop::collection::vec(
            (prop::option::of("[ab ]{0,1}"), "([ +-][ab \u{2026}]{0,2}\n){0,4}", any::<bool>()),
            0..5,
        ),
    ) {
        let chunks: Vec<_> = chunks
            .iter()
            .map(|(context, lines, end)| chunk(context.as_deref(), lines, *end))
            .collect();
        let _ = update(&text, &chunks, "a", true);
    }
}
