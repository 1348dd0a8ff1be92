//! Tests for the changes of `apply_patch`, their order and its messages.

use std::{fs, os::unix::fs::symlink};

use crate::common::{Recorder, failed, success, text};
use crate::project::{Project, patch, text_of};
use serde_json::json;

fn head(file: &str) -> String {
    let rule = "=".repeat(67);
    format!("Index: {file}\n{rule}\n--- {file}\n+++ {file}\n")
}

#[tokio::test]
async fn files_are_added_changed_and_deleted() {
    let project = Project::new();
    project.put("src/b.js", "\u{feff}const c = 3\r\nconst d = 4\r\n");
    project.put("docs/x.md", "# x\n");
    let body = "*** Add File: new/added.txt\n+one\n+two\n\
        *** Update File: src/b.js\n@@\n-const c = 3\n+const c = 33\n const d = 4\n\
        *** Delete File: docs/x.md\n";
    let settled = project.patch(body).await;
    let target = |name: &str| project.location().join(name);
    let structured = json!({
        "applied": [
            {"type": "add", "resource": "new/added.txt", "target": target("new/added.txt")},
            {"type": "update", "resource": "src/b.js", "target": target("src/b.js")},
            {"type": "delete", "resource": "docs/x.md", "target": target("docs/x.md")},
        ],
        "files": [
            {
                "file": "new/added.txt",
                "patch": format!("{}@@ -0,0 +1,2 @@\n+one\n+two\n", head("new/added.txt")),
                "additions": 2,
                "deletions": 0,
                "status": "added",
            },
            {
                "file": "src/b.js",
                "patch": format!(
                    "{}@@ -1,2 +1,2 @@\n-const c = 3\r\n+const c = 33\r\n const d = 4\r\n",
                    head("src/b.js"),
                ),
                "additions": 1,
                "deletions": 1,
                "status": "modified",
            },
            {
                "file": "docs/x.md",
                "patch": format!("{}@@ -1,1 +0,0 @@\n-# x\n", head("docs/x.md")),
                "additions": 0,
                "deletions": 1,
                "status": "deleted",
            },
        ],
    });
    let shown = "Applied patch sequentially:\nA new/added.txt\nM src/b.js\nD docs/x.md";
    assert_eq!(settled, success(structured, vec![text(shown)]));
    let files = [
        ("loc/new/added.txt", "one\ntwo\n"),
        ("loc/src/b.js", "\u{feff}const c = 33\r\nconst d = 4\r\n"),
    ];
    let files = files.map(|(name, content)| (name.to_owned(), content.into()));
    assert_eq!(project.files(), files.into());
}

#[tokio::test]
async fn a_patch_that_does_not_fit_changes_nothing() {
    let project = Project::new();
    project.put("a.txt", "a\n");
    project.put("bytes.txt", b"a\xff\n");
    symlink("a.txt", project.location().join("link")).unwrap();
    fs::create_dir(project.location().join("directory")).unwrap();
    let before = project.files();
    let add = "*** Add File: new.txt\n+new\n";
    let update = "*** Update File: a.txt\n@@\n-a\n+b\n";
    let twice =
        |path: &str| format!("Unable to apply patch at {path}: the patch names this file twice");
    for (body, expected) in [
        (
            format!("{add}*** Update File: a.txt\n@@\n-x\n-y\n+z\n"),
            "Failed to find expected lines in a.txt:\nx\ny".to_owned(),
        ),
        (
            format!("{add}*** Update File: a.txt\n@@ where\n+z\n"),
            "Failed to find context 'where' in a.txt".to_owned(),
        ),
        (
            format!("{add}*** Update File: none.txt\n@@\n+z\n"),
            "Unable to apply patch at none.txt: there is no such file".to_owned(),
        ),
        (
            format!("{update}*** Delete File: none/none.txt\n"),
            "Unable to apply patch at none/none.txt: there is no directory none".to_owned(),
        ),
        (
            format!("{update}*** Delete File: directory\n"),
            "Unable to apply patch at directory: it is a directory, not a file".to_owned(),
        ),
        (
            format!("{add}*** Update File: bytes.txt\n@@\n-a\n"),
            "Unable to apply patch at bytes.txt: it is text in an encoding that is not certain"
                .to_owned(),
        ),
        (format!("{update}{update}"), twice("a.txt")),
        (format!("{update}*** Delete File: link\n"), twice("link")),
        (
            format!("{add}*** Update File: new.txt\n@@\n-new\n"),
            twice("new.txt"),
        ),
        (format!("{add}{add}"), twice("new.txt")),
        (
            format!("{add}*** Update File: a.txt\n*** Move to: b.txt\n@@\n-a\n+b\n"),
            "apply_patch moves are not supported yet".to_owned(),
        ),
        (
            format!("{add}*** Add File: ../escape.txt\n+x\n"),
            "Unable to apply patch at patch: ../escape.txt: the relative path leaves the working \
             directory. Use an absolute path for a place outside of it"
                .to_owned(),
        ),
        (String::new(), "patch rejected: empty patch".to_owned()),
    ] {
        let error = text_of(project.patch(&body).await).unwrap_err();
        assert!(error.starts_with(&expected), "{body}: {error}");
        assert_eq!(project.files(), before, "{body}");
    }
}

#[tokio::test]
async fn changes_before_a_failure_are_kept_and_named() {
    let project = Project::new();
    project.put("a.txt", "a\n");
    project.put("there.txt", "mine\n");
    let first = "*** Add File: there.txt\n+new\n*** Delete File: a.txt\n";
    let expected = "Unable to apply patch at there.txt: there is an entry of this name already";
    assert_eq!(project.patch(first).await, failed(expected));
    let later = "*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: new.txt\n+new\n\
        *** Add File: ./there.txt\n+new\n*** Add File: never.txt\n+new\n";
    let expected = "Patch partially applied before failing at ./there.txt. Applied: a.txt, new.txt: \
                    there is an entry of this name already";
    assert_eq!(project.patch(later).await, failed(expected));
    let files = [
        ("loc/a.txt", "b\n"),
        ("loc/new.txt", "new\n"),
        ("loc/there.txt", "mine\n"),
    ];
    let files = files.map(|(name, content)| (name.to_owned(), content.into()));
    assert_eq!(project.files(), files.into());
}

#[tokio::test]
async fn a_file_can_be_deleted_and_written_again() {
    let project = Project::new();
    project.put("a.txt", "a\n");
    let settled = project
        .patch("*** Delete File: a.txt\n*** Add File: a.txt\n+b\n")
        .await;
    let shown = "Applied patch sequentially:\nD a.txt\nA a.txt";
    assert_eq!(text_of(settled), Ok(shown.to_owned()));
    assert_eq!(project.get("a.txt"), b"b\n");
}

#[tokio::test]
async fn any_file_can_be_deleted() {
    let project = Project::new();
    project.put("bytes", b"\xff\0");
    project.put("big", vec![b'a'; 16 * 1024 * 1024 + 1]);
    let settled = project
        .patch("*** Delete File: bytes\n*** Delete File: big\n")
        .await;
    let shown = "Applied patch sequentially:\nD bytes\nD big";
    assert_eq!(text_of(settled), Ok(shown.to_owned()));
    assert_eq!(project.files(), [].into());
}

#[tokio::test]
async fn one_request_covers_all_files_after_one_per_outside_directory() {
    let project = Project::new();
    let outside = |name: &str| project.outside(name).to_str().unwrap().to_owned();
    fs::create_dir(project.outside("sub")).unwrap();
    let paths = [
        "a.txt",
        &outside("b.txt"),
        &outside("c.txt"),
        &outside("sub/d.txt"),
    ];
    let hunks = paths.map(|path| format!("*** Add File: {path}\n+x\n"));
    let body = format!("{}*** Delete File: ./a.txt\n", hunks.concat());
    let permissions = Recorder::new(|_| Ok(()));
    let settled = project.ask("apply_patch", patch(&body), &permissions).await;
    // The patch names one of its own files twice. That is detected after the permission.
    text_of(settled).unwrap_err();
    let question = |action: &str, resources: Vec<String>, save: &str| {
        (action.to_owned(), resources, vec![save.to_owned()])
    };
    let [here, below] = [outside("*"), outside("sub/*")];
    assert_eq!(
        permissions.asked(),
        [
            question("external_directory", vec![here.clone()], &here),
            question("external_directory", vec![below.clone()], &below),
            question("edit", paths.map(str::to_owned).to_vec(), "*"),
        ]
    );
    assert_eq!(project.files(), [].into());
}
