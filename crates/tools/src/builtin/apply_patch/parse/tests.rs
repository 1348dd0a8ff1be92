use proptest::prelude::*;

use super::*;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

fn patch(body: &str) -> String {
    format!("{BEGIN}\n{body}{END}")
}

fn error_of(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

/// Returns the changes in a short form: the path, the kind, and the lines.
fn short(text: &str) -> Result<String, String> {
    let hunks = parse(text).map_err(|error| error.to_string())?;
    let lines = |chunk: &Chunk| -> String {
        let mut lines = String::new();
        if let Some(context) = &chunk.context {
            lines += &format!("@{context}@");
        }
        if let Some(Numbers { line, count }) = chunk.numbers {
            lines += &format!("#{line},{count}#");
        }
        for line in &chunk.lines {
            lines += &match line {
                Line::Keep(text) => format!("[ {text}]"),
                Line::Remove(text) => format!("[-{text}]"),
                Line::Insert(text) => format!("[+{text}]"),
            };
        }
        lines + if chunk.at_end { "$" } else { "" }
    };
    let hunks = hunks.iter().map(|hunk| match &hunk.action {
        Action::Add(content) => format!("A {} {content:?}", hunk.path),
        Action::Delete => format!("D {}", hunk.path),
        Action::Update(chunks) => {
            let chunks: Vec<_> = chunks.iter().map(lines).collect();
            format!("M {} {}", hunk.path, chunks.join("|"))
        }
    });
    Ok(hunks.collect::<Vec<_>>().join("; "))
}

#[test]
fn every_kind_of_hunk_is_read() {
    let text = "Here it is:\ncat <<'EOF'\n*** Begin Patch\n\
        *** Add File: new/a.txt\n+one\n+\n+ two\n\
        *** Add File: empty\n\
        *** Add File: ended\n+a\n+\n\
        *** Delete File:  old file.txt \n\
        *** Update File: b.rs\n@@ fn main() {\n keep\n-remove\n+insert\n\
        @@\n+last\n*** End of File\n\
        @@ \n  *** End Patch\n-*** Begin Patch\n+@@ no context\n\
        *** End Patch\nEOF\nDone.";
    let expected = "A new/a.txt \"one\\n\\n two\\n\"; A empty \"\"; A ended \"a\\n\"; D old file.txt; \
        M b.rs @fn main() {@[ keep][-remove][+insert]|[+last]$|[  *** End Patch][-*** Begin Patch][+@@ no context]";
    assert_eq!(short(text).as_deref(), Ok(expected));
}

#[test]
fn forms_that_models_write_have_their_evident_meaning() {
    let update = "*** Update File: a.py\n";
    let change = "-b\n+c\n";
    for (body, expected) in [
        // An empty line is an empty line of the file.
        (format!("{update}@@\n import os\n\n def a():\n{change}"), "M a.py [ import os][ ][ def a():][-b][+c]"),
        (format!("{update}@@\n a\n\n{change}\n"), "M a.py [ a][ ][-b][+c][ ]"),
        // The first chunk needs no mark.
        (format!("{update} def a():\n{change}"), "M a.py [ def a():][-b][+c]"),
        (format!("{update}\n{change}"), "M a.py [-b][+c]"),
        // Empty lines between files.
        (
            format!("\n*** Add File: x\n+1\n\n+2\n\n{update}@@\n{change}\n\n*** Delete File: y\n\n"),
            "A x \"1\\n\\n2\\n\"; M a.py [-b][+c][ ][ ]; D y",
        ),
        // Markers in other spellings.
        (format!("  *** Update File: a.py\n@@\n{change}"), "M a.py [-b][+c]"),
        (format!("*** update file : `a.py` ***\n@@\n{change}"), "M a.py [-b][+c]"),
        (format!("*** Update File \"a b.py\"  \n@@\n{change}"), "M a b.py [-b][+c]"),
        (
            format!("{update}@@\n{change}  *** Update File: b.py\n@@\n{change}"),
            "M a.py [-b][+c]; M b.py [-b][+c]",
        ),
        // Such a line may be one of the file.
        (
            format!("{update}@@\n *** Update File: b.py\n@@\n{change}"),
            "M a.py [ *** Update File: b.py]|[-b][+c]",
        ),
        ("*** Create File: x\n+1\n*** Remove File: y\n".to_owned(), "A x \"1\\n\"; D y"),
        // The lines of a unified diff.
        (format!("{update}@@ -3,2 +3,2 @@\n{change}"), "M a.py #3,2#[-b][+c]"),
        (format!("{update}@@ -3,2 +3,2 @@ def a():\n{change}"), "M a.py @def a():@#3,2#[-b][+c]"),
        (format!("{update}@@ def a(): @@\n{change}"), "M a.py @def a():@[-b][+c]"),
        (format!("{update}--- a/a.py\n+++ b/a.py\n@@\n{change}"), "M a.py [-b][+c]"),
        (
            "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-b\n+c\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+1\n\
             --- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
                .to_owned(),
            "M a.py #1,1#[-b][+c]; A x \"1\\n\"; D y",
        ),
        (
            "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-b\n+c\n\
             diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n\
             diff --git a/d b/d\ndeleted file mode 100644\nindex 1..2\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
                .to_owned(),
            "M a.py #1,1#[-b][+c]; A e \"\"; D d",
        ),
        (
            "diff --git a/foo b/x b/foo b/x\ndeleted file mode 100644\nindex 1..0\n".to_owned(),
            "D foo b/x",
        ),
        // A removed comment of SQL is no header.
        (format!("{update}@@\n--- old\n+++ new\n b\n"), "M a.py [--- old][+++ new][ b]"),
        // Lines without a mark count as lines that stay.
        (format!("{update}@@\ndef a():\n{change}"), "M a.py [ def a():][-b][+c]"),
        (format!("{update}@@b\n{change}"), "M a.py @b@[-b][+c]"),
        // New files.
        ("*** Add File: x\nline\n\n  two\n".to_owned(), "A x \"line\\n\\n  two\\n\""),
        ("*** Add File: x\n@@ -0,0 +1,2 @@\n+1\n+2\n".to_owned(), "A x \"1\\n2\\n\""),
        ("*** Add File: x\n+1\n\\ No newline at end of file\n".to_owned(), "A x \"1\""),
        ("*** Add File: x\n+1\n*** End of File\n".to_owned(), "A x \"1\\n\""),
        // The removed lines of a deleted file.
        ("*** Delete File: x\n-1\n-2\n".to_owned(), "D x"),
        (
            format!("{update}@@\n{change}*** End of File\n\n@@\n+d\n*** EOF\n"),
            "M a.py [-b][+c]$|[+d]$",
        ),
        // A doubled first line.
        (format!("*** Begin Patch\n{update}@@\n{change}"), "M a.py [-b][+c]"),
    ] {
        assert_eq!(short(&patch(&body)).as_deref(), Ok(expected), "{body}");
        let windows = patch(&body).replace('\n', "\r\n");
        let expected = expected.replace("\\n", "\\r\\n");
        assert_eq!(short(&windows), Ok(expected), "{body}");
    }
}

#[test]
fn what_surrounds_a_patch_is_ignored() {
    let body = "*** Update File: a.py\n@@\n-b\n+c\n";
    let whole = patch(body);
    let indented = format!("{whole}\n").replace('\n', "\n    ");
    for text in [
        whole.clone(),
        format!("\u{feff}{whole}"),
        format!("Here it is:\n```diff\n{whole}\n```\nDone."),
        format!("apply_patch <<'EOF'\n{whole}\nEOF\n"),
        format!("    {indented}"),
        format!("  {BEGIN}\n{body}  {END}"),
        format!("{whole}\n{END}"),
        // Without the first line, the last one or both.
        body.to_owned(),
        format!("{body}{END}"),
        format!("{BEGIN}\n{body}"),
        format!("```\n{BEGIN}\n{body}```\n"),
        format!("cat <<\"PATCH\"\n{BEGIN}\n{body}PATCH\n"),
        "--- a/a.py\n+++ b/a.py\n@@\n-b\n+c".to_owned(),
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@\n-b\n+c\n".to_owned(),
    ] {
        assert_eq!(short(&text).as_deref(), Ok("M a.py [-b][+c]"), "{text}");
    }
    let delete = "*** Delete File: b.py\n";
    for more in [
        patch(delete),
        delete.to_owned(),
        format!("Also:\n{delete}{END}"),
    ] {
        let two = format!("{whole}\n\n{more}");
        assert_eq!(
            short(&two).as_deref(),
            Ok("M a.py [-b][+c]; D b.py"),
            "{two}"
        );
    }
}

#[test]
fn the_end_of_the_last_line_is_read_from_a_diff() {
    let open = |body: &str| {
        let hunks = parse(&patch(&format!("*** Update File: a\n@@\n{body}")));
        match hunks.unwrap().remove(0).action {
            Action::Update(chunks) => chunks[0].is_open,
            other => panic!("{other:?}"),
        }
    };
    let mark = "\\ No newline at end of file\n";
    for (body, expected) in [
        ("-a\n+b\n".to_owned(), [false, false]),
        (format!("-a\n+b\n{mark}"), [false, true]),
        (format!("-a\n{mark}+b\n"), [true, false]),
        (format!("-a\n{mark}+b\n{mark}"), [true, true]),
        (format!("-a\n+b\n c\n{mark}"), [true, true]),
        (mark.to_owned(), [false, false]),
    ] {
        assert_eq!(open(&body), expected, "{body}");
    }
}

#[test]
fn windows_line_breaks_are_valid_in_headers_and_stay_in_content() {
    let text = patch("*** Add File: a\n+b\n*** Delete File: c\n").replace('\n', "\r\n");
    let expected = vec![
        Hunk {
            path: "a".into(),
            action: Action::Add("b\r\n".into()),
        },
        Hunk {
            path: "c".into(),
            action: Action::Delete,
        },
    ];
    assert_eq!(parse(&text), Ok(expected));
}

#[test]
fn an_invalid_patch_is_refused_with_the_reason() {
    for blank in ["", " \n\t"] {
        assert_eq!(error_of(blank), "patchText is required");
    }
    assert_eq!(error_of(&patch("")), "patch rejected: empty patch");
    let markers =
        "Invalid patch format: missing Begin/End markers (*** Begin Patch, *** End Patch)";
    for text in ["hello", BEGIN, END, "*** End Patch\n*** Begin Patch"] {
        let expected = format!("apply_patch verification failed: Error: {markers}");
        assert_eq!(error_of(text), expected, "{text}");
    }
    for (body, issue) in [
        ("*** Add File: \n+a\n", "Invalid add file path"),
        ("*** Delete File:\n", "Invalid delete file path"),
        ("*** Update File:  \n@@\n-a\n", "Invalid update file path"),
        (
            "*** Update File: a\n*** Move to: \n@@\n",
            "Invalid move file path",
        ),
        (
            "*** Add File: a\n+b\nline\n",
            "Invalid add file line: line (line 4",
        ),
        (
            "*** Update File: a\n@@\n+b\n*** End of File\n+c\n",
            "Invalid update file line: +c (line 6",
        ),
        (
            "*** Update File: a\n*** Delete File: b\n",
            "Invalid update of a: expected at least one @@ chunk",
        ),
        (
            "*** Delete File: a\nline\n",
            "Invalid patch line: line (line 3",
        ),
        (
            "--- a/a\n+++ b/b\n@@\n-a\n+b\n",
            "Invalid patch line: --- a/a (line 2",
        ),
        (
            "*** Rename File: a\n",
            "Invalid patch line: *** Rename File: a (line 2",
        ),
        ("+a\n", "Invalid patch line: +a (line 2"),
        (
            "diff --git \"a/caf\\303\\251\" \"b/caf\\303\\251\"\nnew file mode 100644\nindex 0..1\n",
            "Invalid patch line (only the content of a file can be changed): diff --git \"a/caf\\303\\251\"",
        ),
        (
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n*** Delete File: y\n",
            "Invalid patch line (only the content of a file can be changed): diff --git a/x b/x (line 2",
        ),
        (
            "diff --git a/x b/y\ndeleted file mode 100644\n",
            "Invalid patch line (only the content of a file can be changed): diff --git a/x b/y (line 2",
        ),
        (
            "*** End of File\n",
            "Invalid patch line: *** End of File (line 2",
        ),
    ] {
        let expected = format!("apply_patch verification failed: Error: {issue}");
        let error = error_of(&patch(body));
        assert!(error.starts_with(&expected), "{body}: {error}");
        assert!(error.ends_with("Nothing was changed."), "{error}");
    }
}

/// A diff of a document about patches.
#[test]
fn markers_in_the_content_of_a_diff_are_content() {
    let text = "--- a/n.md\n+++ b/n.md\n@@ -1 +1 @@\n-old\n+new\n--- a/doc.md\n+++ b/doc.md\n@@ -1,4 +1,4 @@\n \
                *** Begin Patch\n *** Add File: x.txt\n +hello\n- *** End Patch\n+ *** End\n";
    let found = short(text).unwrap();
    assert!(
        found.starts_with("M n.md #1,1#[-old][+new]; M doc.md #1,4#"),
        "{found}"
    );
    assert!(!found.contains("A x.txt"), "{found}");
}

#[test]
fn a_valid_patch_with_a_move_is_refused() {
    let moves = "*** Update File: a\n*** Move to: b\n@@\n-a\n+b\n";
    let renamed = "diff --git a/a b/b\nsimilarity index 90%\nrename from a\nrename to b\n";
    for (body, line) in [(moves, 3), (renamed, 4)] {
        let error = error_of(&patch(body));
        let expected = format!("apply_patch moves are not supported yet: line {line} of patchText");
        assert!(error.starts_with(&expected), "{error}");
    }
    let wrong = patch(&format!("{moves}*** nonsense\n"));
    let issue = "apply_patch verification failed: Error: Invalid patch line: *** nonsense (line 7";
    assert!(error_of(&wrong).starts_with(issue));
}

proptest! {
    #[test]
    fn nothing_panics(lines in prop::collection::vec(
        prop_oneof![
            Just(BEGIN), Just(END), Just(END_OF_FILE), Just("@@"), Just("@@ é"), Just("@@é"),
            Just("*** Add File: a"), Just("*** Update File: é"), Just("*** Delete File: "),
            Just("*** Move to: b"), Just("+é"), Just("-a"), Just(" "), Just(""), Just("é"),
            Just("***"), Just("*** \r"), Just("\r"), Just("  *** Update File: b"),
            Just("--- a/x"), Just("+++ b/x"), Just("@@ -1,2 +1 @@"), Just("diff --git a/x b/x"),
            Just("\\ No newline at end of file"), Just("```"),
        ],
        0..30,
    )) {
        let body = lines.join("\n");
        let _ = parse(&body);
        let _ = parse(&patch(&(body + "\n")));
    }
}
