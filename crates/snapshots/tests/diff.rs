//! The text of differences, compared with the output of Git.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use opencode_snapshots::{FileDiff, FileStatus};
use support::Project;

fn numbered(lines: std::ops::Range<u32>) -> String {
    lines.map(|line| format!("line {line}\n")).collect()
}

/// Writes the files of a project, before or after the change.
fn change(project: &Project, after: bool) {
    let function = "int first(void)\n{\n    return 1;\n}\n\nint second(void)\n{\n    a();\n    b();\n    c();\n    d();\n    return 2;\n}\n";
    let files: [(&str, Option<String>, Option<String>); 15] = [
        ("added", None, Some("one\ntwo\n".into())),
        ("added empty", None, Some(String::new())),
        ("binary", Some("a\0b".into()), Some("a\0c".into())),
        ("deleted", Some("one\ntwo".into()), None),
        (
            "dir/function.c",
            Some(function.into()),
            Some(function.replace("    d();", "    e();")),
        ),
        ("emptied", Some("one\n".into()), Some(String::new())),
        (
            "end",
            Some("same\nlast".into()),
            Some("same\nlast\n".into()),
        ),
        (
            "far",
            Some(numbered(0..40)),
            Some(
                numbered(0..40)
                    .replace("line 3\n", "")
                    .replace("line 30\n", "new\nnew\n"),
            ),
        ),
        (
            "line\nbreak\t\"quoted\"\\",
            Some("1\n".into()),
            Some("2\n".into()),
        ),
        (
            "moved block",
            Some("a\n\n\nb\n\n\nc\n".into()),
            Some("a\n\n\nb\n\n\nb\n\n\nc\n".into()),
        ),
        ("name with spaces", Some("1\n".into()), Some("2\n".into())),
        ("no newlines", Some("old".into()), Some("new".into())),
        ("same", Some("same\n".into()), Some("same\n".into())),
        (
            "window.txt",
            Some("a\r\nb\r\n".into()),
            Some("a\r\nc\r\n".into()),
        ),
        ("ümlaut", Some("ä\n".into()), Some("ö\n".into())),
    ];
    for (path, before, later) in files {
        match if after { later } else { before } {
            Some(content) => project.write(path, content),
            None if project.root().join(path).exists() => project.remove(path),
            None => {}
        }
    }
    if after {
        project.remove("link");
        project.remove("becomes a link");
        project.link("elsewhere", "becomes a link");
    } else {
        project.write("becomes a link", "a file\n");
        project.write("mode", "#!/bin/sh\n");
        project.write("mode and content", "1\n");
    }
    project.link(if after { "new" } else { "old" }, "link");
    if after {
        project.chmod("mode", 0o755);
        project.write("mode and content", "2\n");
        project.chmod("mode and content", 0o755);
    }
}

const KEPT: &str = include_str!("diff.patch");

#[tokio::test]
async fn the_text_equals_the_output_of_git() {
    let project = Project::new();
    let snapshots = project.snapshots();
    change(&project, false);
    let before = snapshots.capture().await.unwrap().tree;
    let added = project.git(&["add", "--all"]);
    let old = added.and_then(|_| project.git(&["write-tree"]));
    change(&project, true);
    let after = snapshots.capture().await.unwrap().tree;
    let files = snapshots.files(&before, &after).await.unwrap();
    let diffs = snapshots
        .diff(&before, &after, &files, usize::MAX)
        .await
        .unwrap();
    let told: Vec<String> = diffs.iter().map(|diff| diff.path.clone()).collect();
    assert_eq!(told, files);
    let text: String = diffs.iter().map(|diff| diff.patch.as_str()).collect();
    assert_eq!(text, KEPT);
    let Some(old) = old else { return };
    assert_eq!(old.trim(), before);
    project.git(&["add", "--all"]);
    let new = project.git(&["write-tree"]).unwrap();
    assert_eq!(new.trim(), after);
    let mut written = String::new();
    let mut counts = Vec::new();
    for diff in &diffs {
        let arguments = |option| {
            [
                "-c",
                "core.quotepath=false",
                "diff",
                "--no-renames",
                "--no-ext-diff",
                "--abbrev=7",
                option,
                old.trim(),
                new.trim(),
                "--",
                diff.path.as_str(),
            ]
        };
        let patch = project.git(&arguments("--patch")).unwrap();
        if !patch.contains("\nBinary files ") {
            written.push_str(&patch);
        }
        let numbers = project.git(&arguments("--numstat")).unwrap();
        let mut sums = (0, 0);
        for line in numbers.lines() {
            let mut fields = line
                .split('\t')
                .map(|field| field.parse::<u64>().unwrap_or(0));
            sums.0 += fields.next().unwrap();
            sums.1 += fields.next().unwrap();
        }
        counts.push(sums);
    }
    assert_eq!(written, KEPT);
    let told: Vec<_> = diffs
        .iter()
        .map(|diff| (diff.additions, diff.deletions))
        .collect();
    assert_eq!(told, counts);
}

#[tokio::test]
async fn statuses_and_counts() {
    let project = Project::new();
    let snapshots = project.snapshots();
    project.write("a", "1\n2\n");
    project.write("b", "1\0");
    project.write("c", "1");
    let before = snapshots.capture().await.unwrap().tree;
    project.remove("a");
    project.write("b", "2\0");
    project.write("d", "1\n");
    let after = snapshots.capture().await.unwrap().tree;
    let paths = ["d", "c", "a", "b", "missing", "a"].map(str::to_owned);
    let diffs = snapshots
        .diff(&before, &after, &paths, usize::MAX)
        .await
        .unwrap();
    let diff = |path: &str, status, (additions, deletions), patch: &str| FileDiff {
        path: path.to_owned(),
        status,
        additions,
        deletions,
        patch: patch.to_owned(),
    };
    let a = "diff --git a/a b/a\ndeleted file mode 100644\nindex 1191247..0000000\n--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n";
    let d = "diff --git a/d b/d\nnew file mode 100644\nindex 0000000..d00491f\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+1\n";
    assert_eq!(
        diffs,
        [
            diff("a", FileStatus::Deleted, (0, 2), a),
            diff("b", FileStatus::Modified, (0, 0), ""),
            diff("d", FileStatus::Added, (1, 0), d),
        ]
    );
}

#[tokio::test]
async fn the_total_size_of_patches_is_bounded() {
    let project = Project::new();
    let snapshots = project.snapshots();
    let before = snapshots.capture().await.unwrap().tree;
    let paths = ["a", "b", "c", "d"].map(str::to_owned);
    for (path, content) in paths.iter().zip(["1\n", "22\n", "3\n", "4\n"]) {
        project.write(path, content);
    }
    let after = snapshots.capture().await.unwrap().tree;
    let mut expected = Vec::new();
    for path in paths.chunks(1) {
        let alone = snapshots.diff(&before, &after, path, usize::MAX);
        expected.extend(alone.await.unwrap());
    }
    // Room for the first patch, and for one more that is not longer.
    let most = 2 * expected[0].patch.len();
    expected[1].patch.clear();
    expected[3].patch.clear();
    let diffs = snapshots.diff(&before, &after, &paths, most).await.unwrap();
    assert_eq!(diffs, expected);
}
