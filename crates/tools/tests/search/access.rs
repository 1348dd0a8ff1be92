//! Tests for the permissions before a search, and for files that are never searched.

use std::{fs, os::unix::fs::symlink};

use opencode_schema::message::ErrorKind;
use opencode_tools::{PermissionError, Settlement};
use serde_json::{Value, json};

use crate::{
    common::{Recorder, denied, reason},
    project::{Project, taken},
};

/// Returns the generic text of a failed search for `a*`.
fn refusal(name: &str) -> &'static str {
    match name {
        "glob" => "Unable to find files matching a*",
        _ => "Unable to grep for a*",
    }
}

#[tokio::test]
async fn the_permission_request_describes_the_search() {
    let project = Project::with(&["sub/a"]);
    for (name, input, metadata) in [
        ("glob", json!({}), json!({"root": "."})),
        (
            "glob",
            json!({"path": "sub", "limit": 3}),
            json!({"root": "sub", "path": "sub", "limit": 3}),
        ),
        ("grep", json!({}), json!({"root": "."})),
        (
            "grep",
            json!({"path": "sub", "include": "*.x", "limit": 3}),
            json!({"root": ".", "path": "sub", "include": "*.x", "limit": 3}),
        ),
    ] {
        let mut input = input;
        input["pattern"] = json!("a*");
        let permissions = Recorder::new(|_| Ok(()));
        project.call_asking(name, input, &permissions).await;
        let expected = (name.to_owned(), vec!["a*".to_owned()], vec!["*".to_owned()]);
        assert_eq!(permissions.asked(), [expected]);
        let asked = permissions.asked.lock().unwrap();
        assert_eq!(Value::from(asked[0].metadata.clone()), metadata, "{name}");
    }
}

#[tokio::test]
async fn escapes_are_refused_without_a_permission_request() {
    let project = Project::with(&["plain", "sub/a"]);
    let location = project.location();
    fs::write(project.root.join("outside/a"), "a").unwrap();
    symlink(project.root.join("outside"), location.join("out")).unwrap();
    symlink(project.root.join("outside/a"), location.join("file-out")).unwrap();
    symlink("missing", location.join("dangling")).unwrap();
    let inside = project.text("loc/out");
    let deep = "d/".repeat(100_000);
    for path in [
        "..",
        "../outside",
        "sub/../../outside",
        "out",
        "file-out",
        "dangling",
        &inside,
        "nul\0byte",
        &deep,
    ] {
        for name in ["glob", "grep"] {
            let permissions = Recorder::new(|_| Ok(()));
            let input = json!({"pattern": "a*", "path": path});
            let settled = project.call_asking(name, input, &permissions).await;
            let Settlement::Failed { message, .. } = &settled else {
                panic!("{path}: {settled:?}");
            };
            assert!(message.starts_with(refusal(name)), "{message}");
            assert_eq!(permissions.asked(), [], "{path}");
        }
    }
}

#[tokio::test]
async fn outside_directories_need_a_permission_first() {
    let project = Project::new();
    fs::write(project.root.join("outside/a"), "a").unwrap();
    let (outside, file) = (project.text("outside"), project.text("outside/a"));
    for (name, path) in [("glob", &outside), ("grep", &outside), ("grep", &file)] {
        let permissions = Recorder::new(|_| Ok(()));
        let input = json!({"pattern": "a*", "path": path});
        let (found, _) = taken(project.call_asking(name, input, &permissions).await);
        assert_eq!(found.len(), 1, "{name}");
        let pattern = vec![format!("{outside}/*")];
        let all = || vec!["*".to_owned()];
        let mut expected = vec![
            ("external_directory".to_owned(), pattern.clone(), pattern),
            (name.to_owned(), vec!["a*".to_owned()], all()),
        ];
        if *path == file {
            expected.push(("read".to_owned(), vec![file.clone()], all()));
        }
        assert_eq!(permissions.asked(), expected);
    }
}

#[tokio::test]
async fn refusals_stop_the_search() {
    let project = Project::with(&["a"]);
    let outside = project.text("outside");
    for name in ["glob", "grep"] {
        for (path, action) in [
            (".", name),
            (&outside, name),
            (&outside, "external_directory"),
        ] {
            let message = match action {
                "external_directory" => format!("{}: {path}", refusal(name)),
                _ => refusal(name).to_owned(),
            };
            let kind = ErrorKind::Permission;
            let feedback = "not there".to_owned();
            let told = format!("{message}: {feedback}");
            for (error, expected) in [
                (PermissionError::Declined, Settlement::Declined),
                (PermissionError::Blocked, denied(&message)),
                (
                    PermissionError::Corrected { feedback },
                    Settlement::Failed {
                        message: told,
                        kind,
                    },
                ),
            ] {
                let permissions = Recorder::new(move |request| {
                    if request.action == action {
                        Err(error.clone())
                    } else {
                        Ok(())
                    }
                });
                let input = json!({"pattern": "a*", "path": path});
                let settled = project.call_asking(name, input, &permissions).await;
                assert_eq!(settled, expected, "{name} {path}");
                let last = permissions.asked().pop().map(|(action, ..)| action);
                assert_eq!(last.as_deref(), Some(action));
            }
        }
    }
}

#[tokio::test]
async fn a_link_that_is_created_during_the_permission_request_is_not_followed() {
    for name in ["glob", "grep"] {
        let project = Project::with(&["sub/a", "file"]);
        let outside = project.root.join("outside");
        fs::write(outside.join("a"), "a secret").unwrap();
        for (path, target) in [("sub", outside.clone()), ("file", outside.join("a"))] {
            // A file cannot be searched for names.
            if (name, path) == ("glob", "file") {
                continue;
            }
            let place = project.location().join(path);
            let permissions = Recorder::new(move |_| {
                fs::rename(&place, place.with_extension("moved")).unwrap();
                symlink(&target, &place).unwrap();
                Ok(())
            });
            let input = json!({"pattern": "a*", "path": path});
            let settled = project.call_asking(name, input, &permissions).await;
            assert_eq!(
                reason(&settled, refusal(name)),
                "its path changed while a permission was requested",
                "{name} {path}"
            );
        }
    }
}
