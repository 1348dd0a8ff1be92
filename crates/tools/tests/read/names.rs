//! Tests for the files that are read by a name in another form, and for the reasons of missing ones.

use std::fs;

use opencode_tools::Settlement;
use serde_json::json;

use crate::common::{Recorder, denied, reason};
use crate::project::{Project, page};

#[tokio::test]
async fn permission_rules_decide_about_the_real_entry() {
    let project = Project::new();
    project.write("cafe\u{301}.txt", "secret");
    project.write("plain.txt", "open");
    for (path, resource) in [
        ("caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("@plain.txt", "plain.txt"),
        ("plain.txt\n", "plain.txt"),
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        let settled = project.read_asking(path, &permissions).await;
        assert!(matches!(settled, Settlement::Success { .. }), "{settled:?}");
        let asked: Vec<_> = permissions
            .asked()
            .into_iter()
            .map(|(_, it, _)| it)
            .collect();
        assert_eq!(asked, [vec![resource.to_owned()]], "{path:?}");
    }
    let permissions = Recorder::denying(&[("read", "cafe\u{301}.txt")]);
    let settled = project.read_asking("caf\u{e9}.txt", &permissions).await;
    assert_eq!(settled, denied("Unable to read caf\u{e9}.txt"));
}

#[tokio::test]
async fn a_missing_file_has_a_reason_with_similar_names() {
    let project = Project::new();
    fs::create_dir_all(project.location().join("src/deep")).unwrap();
    for name in [
        "README.md",
        "src/index.ts",
        "src/indent.ts",
        "src/deep/a.ts",
    ] {
        project.write(name, "");
    }
    for (path, expected) in [
        ("nothing", "there is no such file"),
        (
            "readme.md",
            "there is no such file. Similar names: README.md",
        ),
        (
            "src/index.js",
            "there is no such file. Similar names: src/index.ts, src/indent.ts",
        ),
        (
            "scr/index.ts",
            "there is no directory scr. Similar names: src",
        ),
        (
            "src/deap/b/c.ts",
            "there is no directory src/deap. Similar names: src/deep",
        ),
        (
            "README.md/a",
            "a part of the path before its last name is a file, not a directory",
        ),
        (
            "../a",
            "the relative path leaves the working directory. Use an absolute path for a place outside of it",
        ),
    ] {
        let settled = project.read_path(path).await;
        assert_eq!(reason(&settled, format!("Unable to read {path}")), expected);
    }
}

#[tokio::test]
async fn what_may_not_be_read_is_not_told() {
    let project = Project::new();
    fs::create_dir_all(project.location().join("secret")).unwrap();
    project.write("secret/password.txt", "x");
    project.write("password.txt", "x");
    // The same answer whether the file exists or not.
    for exists in ["secret/password.txt", "secret/passwords.txt"] {
        let permissions = Recorder::denying(&[
            ("read", "secret/password.txt"),
            ("read", "secret/passwords.txt"),
        ]);
        let settled = project.read_asking(exists, &permissions).await;
        assert_eq!(settled, denied(format!("Unable to read {exists}")));
    }
    let permissions = Recorder::denying(&[("read", "password.txt")]);
    let settled = project.read_asking("passwords.txt", &permissions).await;
    let reason = reason(&settled, "Unable to read passwords.txt");
    assert_eq!(reason, "there is no such file");
}

#[tokio::test]
async fn a_path_outside_that_is_refused_has_one_answer() {
    let project = Project::new();
    let outside = project.root.join("outside");
    fs::write(outside.join("file"), "x").unwrap();
    std::os::unix::fs::symlink("nowhere", outside.join("dangling")).unwrap();
    for name in [
        "file",
        "missing",
        "missing/deeper",
        "file/below",
        "dangling",
        "fil\u{e9}",
    ] {
        let path = outside.join(name).to_str().unwrap().to_owned();
        let permissions = Recorder::new(|_| Err(opencode_tools::PermissionError::Blocked));
        let settled = project.read_asking(&path, &permissions).await;
        assert_eq!(settled, denied(format!("Unable to read {path}")));
        assert_eq!(permissions.asked()[0].0, "external_directory", "{name}");
    }
}

#[tokio::test]
async fn an_offset_behind_the_end_has_the_number_of_lines() {
    let project = Project::new();
    project.write("three.txt", "1\n2\n3\n");
    project.write("one.txt", "1");
    for (path, offset, expected) in [
        (
            "three.txt",
            9,
            "the offset 9 is behind the end, it has 3 lines",
        ),
        (
            "three.txt",
            4,
            "the offset 4 is behind the end, it has 3 lines",
        ),
        (
            "one.txt",
            2,
            "the offset 2 is behind the end, it has 1 line",
        ),
    ] {
        let settled = project.read(json!({"path": path, "offset": offset})).await;
        assert_eq!(reason(&settled, format!("Unable to read {path}")), expected);
    }
}

#[tokio::test]
async fn arguments_with_one_meaning_are_read() {
    let project = Project::new();
    project.write("a.txt", "1\n2\n3\n".repeat(2000));
    let read = |input| async { page(project.read(input).await) };
    let whole = read(json!({"path": "a.txt", "offset": null, "limit": null})).await;
    assert_eq!(whole["encoding"], json!("utf8"));
    let second = read(json!({"path": "a.txt", "offset": "2", "limit": "1"})).await;
    assert_eq!(
        (&second["content"], &second["next"]),
        (&json!("2"), &json!(3))
    );
    // A limit above the largest is the largest, and the result tells where to go on.
    let most = read(json!({"path": "a.txt", "limit": 5000})).await;
    assert_eq!(
        (&most["truncated"], &most["next"]),
        (&json!(true), &json!(2001))
    );
}
