//! Tests for the files that are changed by a name in another form.

use serde_json::json;

use crate::common::{Recorder, reason};
use crate::project::{Project, changes, patch, text_of};

#[tokio::test]
async fn a_change_is_made_in_the_file_that_looks_the_same() {
    let project = Project::new();
    let real = "it\u{2019}s cafe\u{301}.txt";
    for (tool, input, _) in changes("it's caf\u{e9}.txt") {
        project.put(real, "old\n");
        let permissions = Recorder::new(|_| Ok(()));
        text_of(project.ask(tool, input, &permissions).await).unwrap();
        let (_, resources, _) = permissions.asked().remove(0);
        assert_eq!(resources, [real.to_owned()], "{tool}");
        let files: Vec<_> = project.files().into_keys().collect();
        assert!(
            files.iter().all(|file| file.ends_with(real)),
            "{tool}: {files:?}"
        );
    }
}

#[tokio::test]
async fn a_guess_never_replaces_another_file() {
    let project = Project::new();
    project.put("types/a.ts", "old\n");
    for path in ["@types/a.ts", "types/a.ts:1"] {
        let input = json!({"path": path, "content": "new"});
        text_of(project.run("write", input).await).unwrap();
        assert_eq!(project.get(path), b"new");
    }
    assert_eq!(project.get("types/a.ts"), b"old\n");
    let added = project.patch("*** Add File: @types/b.ts\n+b\n").await;
    text_of(added).unwrap();
    assert_eq!(project.get("@types/b.ts"), b"b\n");
}

#[tokio::test]
async fn of_two_files_that_look_the_same_none_is_changed() {
    let project = Project::new();
    project.put("x\u{a0}y", "old\n");
    project.put("x\u{202f}y", "old\n");
    let before = project.files();
    for (tool, input, refused) in changes("x y") {
        let path = if tool == "apply_patch" { ": x y" } else { "" };
        let settled = project.run(tool, input).await;
        let reason = reason(&settled, format!("{refused}{path}"));
        assert!(
            reason.contains("\"x\\u00a0y\" and \"x\\u202fy\""),
            "{reason}"
        );
    }
    assert_eq!(project.files(), before);
}

#[tokio::test]
async fn forms_of_other_programs_name_the_file() {
    let project = Project::new();
    let location = project.location().to_str().unwrap().to_owned();
    for (path, file) in [
        (format!("file://{location}/a%20b.txt"), "a b.txt"),
        ("new.txt\n".to_owned(), "new.txt"),
        ("\"quoted.txt\"".to_owned(), "quoted.txt"),
    ] {
        let input = json!({"path": path, "content": "new"});
        text_of(project.run("write", input).await).unwrap();
        assert_eq!(project.get(file), b"new", "{path}");
        let input = json!({"path": path, "oldString": "new", "newString": "newer"});
        text_of(project.run("edit", input).await).unwrap();
        let body = format!(
            "*** Update File: {}\n@@\n-newer\n+newest\n",
            path.trim_end()
        );
        text_of(project.run("apply_patch", patch(&body)).await).unwrap();
        assert!(project.get(file).starts_with(b"newest"), "{path}");
    }
}
