//! Tests for the changes and messages of `edit`.

use crate::common::{failed, success, text};
use crate::project::{Project, text_of};
use serde_json::{Value, json};

fn input(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "oldString": old, "newString": new})
}

const HEAD: &str = "Index: src/a.js\n\
    ===================================================================\n\
    --- src/a.js\n\
    +++ src/a.js\n";

#[tokio::test]
async fn a_match_is_replaced_and_shown() {
    let project = Project::new();
    project.put("src/a.js", "const a = 1\nconst b = 2\n");
    let settled = project
        .run("edit", input("src/a.js", "b = 2", "b = 22"))
        .await;
    let patch = format!("{HEAD}@@ -1,2 +1,2 @@\n const a = 1\n-const b = 2\n+const b = 22\n");
    let structured = json!({
        "files": [{
            "file": "src/a.js",
            "patch": patch,
            "additions": 1,
            "deletions": 1,
            "status": "modified",
        }],
        "replacements": 1,
    });
    let shown = "Edited file successfully: src/a.js\nReplacements: 1\n\
        ```diff\n-b = 2\n+b = 22\n```";
    assert_eq!(settled, success(structured, vec![text(shown)]));
    assert_eq!(project.get("src/a.js"), b"const a = 1\nconst b = 22\n");
}

#[tokio::test]
async fn byte_order_marks_and_line_breaks_are_kept() {
    let project = Project::new();
    for (before, old, new, after) in [
        ("\u{feff}a\r\nb\r\n", "a\nb", "a\nc", "\u{feff}a\r\nc\r\n"),
        ("\u{feff}a", "\u{feff}a", "b", "\u{feff}a"),
        ("a\nb", "b", "c\r\nd", "a\nc\nd"),
        ("x", "x", "", ""),
        ("$1", "$1", "$& $1", "$& $1"),
    ] {
        project.put("a.txt", before);
        let settled = text_of(project.run("edit", input("a.txt", old, new)).await);
        assert_eq!(settled.is_ok(), before != after, "{settled:?}");
        assert_eq!(project.get("a.txt"), after.as_bytes());
    }
}

#[tokio::test]
async fn the_shown_diff_has_no_carriage_returns_before_line_breaks() {
    let project = Project::new();
    project.put("a.txt", "a\r\nb\r\n");
    let settled = project.run("edit", input("a.txt", "a\r\nb", "c\r\nd\re"));
    let shown = "Edited file successfully: a.txt\nReplacements: 1\n\
        ```diff\n-a\n-b\n+c\n+d\re\n```";
    assert_eq!(text_of(settled.await), Ok(shown.to_owned()));
    assert_eq!(project.get("a.txt"), b"c\r\nd\re\r\n");
}

#[tokio::test]
async fn all_matches_are_replaced_on_request() {
    let project = Project::new();
    project.put("a.txt", "a a\na");
    let ambiguous = "oldString was found 3 times in the file. Add lines around it until it is the \
        only match, or set replaceAll to replace every one. The matches begin in the lines 1, 1, 2.";
    let settled = project.run("edit", input("a.txt", "a", "b")).await;
    assert_eq!(settled, failed(ambiguous));
    let mut all = input("a.txt", "a", "b");
    all["replaceAll"] = true.into();
    let shown = "Edited file successfully: a.txt\nReplacements: 3\n```diff\n-a\n+b\n```";
    assert_eq!(
        text_of(project.run("edit", all).await),
        Ok(shown.to_owned())
    );
    assert_eq!(project.get("a.txt"), b"b b\nb");
}

#[tokio::test]
async fn a_failed_edit_leaves_the_file_unchanged() {
    let project = Project::new();
    project.put("a.txt", "text");
    project.put("bytes.txt", b"text\xff");
    project.put("zero.txt", b"text\0");
    project.put("big.txt", vec![b'a'; 16 * 1024 * 1024 + 1]);
    let before = project.files();
    let no_text = "it is text in an encoding that is not certain: neither UTF-8, UTF-16 nor clearly Windows-1252. \
                   Convert it to UTF-8 first, for example with iconv";
    for (input, expected) in [
        (
            input("a.txt", "x", "x"),
            "No changes to apply: oldString and newString are the same.".to_owned(),
        ),
        (
            input("../a.txt", "", ""),
            "No changes to apply: oldString and newString are the same.".to_owned(),
        ),
        (
            input("../a.txt", "", "x"),
            "oldString must not be empty. Use write to create a file or to replace a whole one."
                .to_owned(),
        ),
        (
            input("a.txt", "Text", "x"),
            "oldString was not found in the file. It must match exactly, with all whitespace and \
             indentation. Read the file again and copy the text from there."
                .to_owned(),
        ),
        (input("b.txt", "x", "y"), "Unable to edit b.txt: there is no such file. Similar names: a.txt, big.txt".to_owned()),
        (
            input("b/c.txt", "x", "y"),
            "Unable to edit b/c.txt: there is no directory b".to_owned(),
        ),
        (
            input("bytes.txt", "text", "x"),
            format!("Unable to edit bytes.txt: {no_text}"),
        ),
        (
            input("zero.txt", "text", "x"),
            "Unable to edit zero.txt: it is a binary file".to_owned(),
        ),
        (
            input("big.txt", "a", "x"),
            "Unable to edit big.txt: the file is over the 16 MiB or the million lines that can be edited"
                .to_owned(),
        ),
    ] {
        assert_eq!(project.run("edit", input).await, failed(expected));
    }
    assert_eq!(project.files(), before);
}

#[tokio::test]
async fn edits_of_one_file_wait_for_each_other() {
    let project = Project::new();
    let lines: Vec<_> = (0..40).map(|n| format!("line {n}.\n")).collect();
    project.put("a.txt", lines.concat());
    let edits = (0..40).map(|n| {
        let (old, new) = (format!("line {n}."), format!("changed {n}."));
        project.run("edit", input("a.txt", &old, &new))
    });
    for settled in futures::future::join_all(edits).await {
        text_of(settled).unwrap();
    }
    let changed = lines.concat().replace("line", "changed");
    assert_eq!(project.get("a.txt"), changed.as_bytes());
}
