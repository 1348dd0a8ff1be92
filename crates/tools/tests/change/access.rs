//! Tests for the files that are changed and the permissions that are requested first.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    process::Command,
};

use crate::common::{Recorder, denied, reason};
use crate::project::{Project, changes, patch, text_of};
use opencode_schema::message::ErrorKind;
use opencode_tools::{PermissionError, Settlement};
use serde_json::json;

#[tokio::test]
async fn escapes_are_refused_without_a_permission_request() {
    let project = Project::new();
    let location = project.location();
    project.put("plain.txt", "old");
    fs::write(project.outside("a.txt"), "old").unwrap();
    symlink(project.outside("a.txt"), location.join("file-link")).unwrap();
    symlink(project.outside(""), location.join("directory-link")).unwrap();
    symlink(project.outside("missing"), location.join("dangling")).unwrap();
    symlink("loop", location.join("loop")).unwrap();
    let before = project.files();
    let inside = |name: &str| location.join(name).to_str().unwrap().to_owned();
    let long = "n".repeat(300);
    for path in [
        "../outside/a.txt",
        "sub/../../outside/a.txt",
        "../../../../../../../../etc/passwd",
        "file-link",
        "directory-link/a.txt",
        "directory-link/new.txt",
        "directory-link/../../outside/a.txt",
        "dangling",
        "dangling/child",
        "loop",
        &inside("file-link"),
        &inside("directory-link/a.txt"),
        "plain.txt/child",
        "nul\0byte",
        &long,
    ] {
        for (tool, input, refused) in changes(path) {
            let permissions = Recorder::new(|_| Ok(()));
            let settled = project.ask(tool, input, &permissions).await;
            let Settlement::Failed { message, .. } = &settled else {
                panic!("{tool} {path:?}: {settled:?}");
            };
            assert!(message.starts_with(&format!("{refused}: ")), "{message}");
            assert_eq!(permissions.asked(), [], "{tool} {path:?}");
        }
    }
    assert_eq!(project.files(), before);
}

#[tokio::test]
async fn a_file_needs_one_permission_and_an_outside_directory_another() {
    let project = Project::new();
    let outside = project.outside("a.txt").to_str().unwrap().to_owned();
    let pattern = project.outside("*").to_str().unwrap().to_owned();
    for (path, resource, external) in [
        ("src/../a.txt", "a.txt", None),
        (&outside, &*outside, Some(&pattern)),
    ] {
        for (tool, input, _) in changes(path) {
            project.put("a.txt", "old\n");
            fs::write(&outside, "old\n").unwrap();
            let permissions = Recorder::new(|_| Ok(()));
            text_of(project.ask(tool, input, &permissions).await).unwrap();
            let external = external.map(|pattern| {
                let patterns = vec![pattern.clone()];
                ("external_directory".to_owned(), patterns.clone(), patterns)
            });
            let edit = (
                "edit".to_owned(),
                vec![resource.to_owned()],
                vec!["*".to_owned()],
            );
            let expected: Vec<_> = external.into_iter().chain([edit]).collect();
            assert_eq!(permissions.asked(), expected, "{tool}");
            let asked = permissions.asked.lock().unwrap();
            assert!(asked.iter().all(|request| request.metadata.is_empty()));
        }
    }
}

#[tokio::test]
async fn refusals_change_nothing() {
    let project = Project::new();
    project.put("a.txt", "old\n");
    fs::write(project.outside("a.txt"), "old\n").unwrap();
    let outside = project.outside("a.txt").to_str().unwrap().to_owned();
    let before = project.files();
    for (path, action) in [
        ("a.txt", "edit"),
        (&outside, "edit"),
        (&outside, "external_directory"),
    ] {
        for (tool, input, refused) in changes(path) {
            let permission = |message: String| Settlement::Failed {
                message,
                kind: ErrorKind::Permission,
            };
            let corrected = PermissionError::Corrected {
                feedback: "not this one".to_owned(),
            };
            for (error, expected) in [
                (PermissionError::Blocked, denied(&refused)),
                (corrected, permission(format!("{refused}: not this one"))),
                (PermissionError::Declined, Settlement::Declined),
            ] {
                let permissions = Recorder::new(move |request| {
                    if request.action == action {
                        Err(error.clone())
                    } else {
                        Ok(())
                    }
                });
                let settled = project.ask(tool, input.clone(), &permissions).await;
                assert_eq!(settled, expected, "{tool}");
                let last = permissions.asked().pop().map(|(action, ..)| action);
                assert_eq!(last.as_deref(), Some(action));
            }
        }
    }
    assert_eq!(project.files(), before);
}

/// Returns the generic text for a file that exists but cannot be changed.
fn unable(tool: &str, path: &str) -> String {
    match tool {
        "write" => format!("Unable to write {path}"),
        "edit" => format!("Unable to edit {path}"),
        _ => format!("Unable to apply patch at {path}"),
    }
}

#[tokio::test]
async fn only_regular_files_are_opened_or_replaced() {
    let project = Project::new();
    let location = project.location();
    let fifo = location.join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let _socket = UnixListener::bind(location.join("socket")).unwrap();
    symlink("fifo", location.join("fifo-link")).unwrap();
    fs::create_dir(location.join("directory")).unwrap();
    let loc = location.to_str().unwrap();
    for path in [
        "fifo",
        "fifo-link",
        "socket",
        "directory",
        "",
        ".",
        loc,
        "/",
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/proc/self",
        "/proc/self/fd",
        "/proc/self/cwd",
    ] {
        for (tool, input, _) in changes(path) {
            // A patch header without a path is not valid.
            if !(path.is_empty() && tool == "apply_patch") {
                let settled = project.run(tool, input).await;
                let reason = reason(&settled, unable(tool, path));
                let expected = [
                    "it is neither a file nor a directory",
                    "it is a directory, not a file",
                ];
                assert!(expected.contains(&&*reason), "{tool} {path}: {reason}");
            }
        }
    }
    assert!(!fs::symlink_metadata(fifo).unwrap().is_file());
}

#[tokio::test]
async fn open_files_of_the_process_cannot_be_changed() {
    let project = Project::new();
    for path in [
        "/proc/self/comm",
        "/proc/self/new",
        "/proc/self/fd/new",
        "/sys/new",
    ] {
        let settled = project
            .run("write", json!({"path": path, "content": "x"}))
            .await;
        reason(&settled, unable("write", path));
        let settled = project.run("apply_patch", patch(&format!("*** Add File: {path}\n+x\n")));
        reason(&settled.await, unable("apply_patch", path));
    }
}

#[tokio::test]
async fn a_read_only_file_is_kept_for_every_user() {
    let project = Project::new();
    let path = project.put("a.txt", "old\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    for (tool, input, _) in changes("a.txt") {
        let message = unable(tool, "a.txt");
        // Without permissions for the file, the system refuses first, and the reason is not known.
        let settled = text_of(project.run(tool, input).await).unwrap_err();
        let expected = ["the file is read-only", "the system denies the access"];
        let expected = expected.map(|reason| format!("{message}: {reason}"));
        assert!(expected.contains(&settled), "{settled}");
    }
    assert_eq!(project.get("a.txt"), b"old\n");
}

#[tokio::test]
async fn a_read_only_directory_is_kept_for_every_user() {
    let project = Project::new();
    project.put("sub/a.txt", "old\n");
    let sub = project.location().join("sub");
    fs::set_permissions(&sub, fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write there.
    let may = fs::write(sub.join("probe"), "").and_then(|()| fs::remove_file(sub.join("probe")));
    for (tool, input, _) in changes("sub/a.txt") {
        let settled = project.run(tool, input).await;
        if may.is_ok() {
            text_of(settled).unwrap();
            fs::write(sub.join("a.txt"), "old\n").unwrap();
        } else {
            reason(&settled, unable(tool, "sub/a.txt"));
        }
    }
    fs::set_permissions(&sub, fs::Permissions::from_mode(0o755)).unwrap();
    let files = [("loc/sub/a.txt".to_owned(), b"old\n".to_vec())];
    assert_eq!(project.files(), files.into());
}

#[tokio::test]
async fn managed_files_cannot_be_changed_and_no_permission_is_requested() {
    let project = Project::new();
    let managed = project.root.join("data/tool-output");
    let text = |name: &str| managed.join(name).to_str().unwrap().to_owned();
    for exists in [false, true] {
        if exists {
            fs::create_dir_all(&managed).unwrap();
            fs::write(managed.join("tool_1"), "old\n").unwrap();
            symlink(&managed, project.root.join("door")).unwrap();
        }
        let before = project.files();
        let door = project
            .root
            .join("door/tool_1")
            .to_str()
            .unwrap()
            .to_owned();
        for path in [text("tool_1"), text("new"), text(""), door]
            .iter()
            .take(3 + usize::from(exists))
        {
            for (tool, input, refused) in changes(path) {
                let permissions = Recorder::new(|_| Ok(()));
                let settled = project.ask(tool, input, &permissions).await;
                let Settlement::Failed { message, .. } = &settled else {
                    panic!("{tool} {path}: {settled:?}");
                };
                assert!(message.starts_with(&refused), "{message}");
                let end = "files with the output of tools can only be read";
                assert!(message.ends_with(end), "{message}");
                assert_eq!(permissions.asked(), []);
            }
        }
        assert_eq!(project.files(), before);
    }
    let beside = project
        .root
        .join("data/tool-output.txt")
        .to_str()
        .unwrap()
        .to_owned();
    text_of(
        project
            .run("write", json!({"path": beside, "content": "x"}))
            .await,
    )
    .unwrap();
}
