//! Tests for the paths that are read and the permissions that are requested first.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
};

use crate::common::{Recorder, denied, reason};
use crate::project::Project;
use opencode_schema::message::ErrorKind;
use opencode_tools::{PermissionError, Settlement};

#[tokio::test]
async fn escapes_are_refused_without_a_permission_request() {
    let project = Project::new();
    let location = project.location();
    let outside = project.root.join("outside");
    fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(outside.join("secret.txt"), location.join("file-link")).unwrap();
    symlink(&outside, location.join("directory-link")).unwrap();
    symlink(outside.join("missing"), location.join("dangling")).unwrap();
    symlink("loop-b", location.join("loop-a")).unwrap();
    symlink("loop-a", location.join("loop-b")).unwrap();
    project.write("plain.txt", "text");
    let inside = |name: &str| location.join(name).to_str().unwrap().to_owned();
    let long_name = "n".repeat(300);
    let deep = "d/".repeat(100_000);
    for path in [
        "..",
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "../../../../../../../../etc/passwd",
        "../loc-not",
        "file-link",
        "directory-link",
        "directory-link/secret.txt",
        "directory-link/../plain.txt/../../outside/secret.txt",
        "dangling",
        "dangling/child",
        "loop-a",
        "loop-a/child",
        &inside("file-link"),
        &inside("directory-link/secret.txt"),
        "plain.txt/child",
        "plain.txt/child/grandchild",
        "nul\0byte",
        "/nul\0byte",
        &long_name,
        &deep,
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        let settled = project.read_asking(path, &permissions).await;
        // The message with the longest path is cut like any other message.
        let shown: String = path.chars().take(20_000).collect();
        let Settlement::Failed { message, kind } = settled else {
            panic!("{path:?} was read: {settled:?}");
        };
        assert_eq!(kind, ErrorKind::Tool);
        assert!(
            message.starts_with(&format!("Unable to read {shown}")),
            "{message}"
        );
        assert!(path == deep || message.contains(": "), "{message}");
        assert_eq!(permissions.asked(), [], "{path:?}");
    }
}

#[tokio::test]
async fn missing_targets_fail_before_the_read_request_but_after_the_external_one() {
    let project = Project::new();
    let outside = project.root.join("outside").to_str().unwrap().to_owned();
    for (path, asked) in [
        ("missing.txt".to_owned(), vec![]),
        ("missing/deeper.txt".to_owned(), vec![]),
        (format!("{outside}/missing"), vec!["external_directory"]),
        (
            format!("{outside}/missing/deeper"),
            vec!["external_directory"],
        ),
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        let settled = project.read_asking(&path, &permissions).await;
        let reason = reason(&settled, format!("Unable to read {path}"));
        assert!(reason.starts_with("there is no"), "{reason}");
        let actions: Vec<_> = permissions
            .asked()
            .into_iter()
            .map(|(action, ..)| action)
            .collect();
        assert_eq!(actions, asked, "{path}");
    }
}

#[tokio::test]
async fn outside_files_need_a_permission_for_their_directory_first() {
    let project = Project::new();
    let outside = project.root.join("outside");
    let odd = outside.join("odd*");
    fs::create_dir(&odd).unwrap();
    fs::write(outside.join("a.txt"), "a").unwrap();
    fs::write(odd.join("b.txt"), "b").unwrap();
    symlink(outside.join("a.txt"), project.root.join("link")).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let pattern = format!("{}/*", text(&outside));
    for (given, resource, directory, save) in [
        (
            text(&outside.join("a.txt")),
            text(&outside.join("a.txt")),
            pattern.clone(),
            true,
        ),
        (
            text(&project.root.join("link")),
            text(&outside.join("a.txt")),
            pattern.clone(),
            true,
        ),
        (text(&outside), text(&outside), pattern.clone(), true),
        (
            text(&odd.join("b.txt")),
            text(&odd.join("b.txt")),
            format!("{}/*", text(&odd)),
            false,
        ),
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        let settled = project.read_asking(&given, &permissions).await;
        assert!(
            matches!(settled, Settlement::Success { .. }),
            "{given}: {settled:?}"
        );
        let saved = if save {
            vec![directory.clone()]
        } else {
            vec![]
        };
        assert_eq!(
            permissions.asked(),
            [
                ("external_directory".to_owned(), vec![directory], saved),
                ("read".to_owned(), vec![resource], vec!["*".to_owned()]),
            ],
        );
    }
}

#[tokio::test]
async fn refusals_stop_the_read() {
    let project = Project::new();
    project.write("a.txt", "a");
    let outside = project.root.join("outside/b.txt");
    fs::write(&outside, "b").unwrap();
    let outside = outside.to_str().unwrap().to_owned();
    for (path, refused_action) in [
        ("a.txt".to_owned(), "read"),
        (outside.clone(), "read"),
        (outside, "external_directory"),
    ] {
        let corrected = PermissionError::Corrected {
            feedback: "not this one".to_owned(),
        };
        let message = format!("Unable to read {path}");
        let kind = ErrorKind::Permission;
        for (error, expected) in [
            (PermissionError::Declined, Settlement::Declined),
            (PermissionError::Blocked, denied(&message)),
            (
                corrected,
                Settlement::Failed {
                    message: format!("{message}: not this one"),
                    kind,
                },
            ),
        ] {
            let permissions = Recorder::new(move |request| {
                if request.action == refused_action {
                    Err(error.clone())
                } else {
                    Ok(())
                }
            });
            assert_eq!(project.read_asking(&path, &permissions).await, expected);
            let last = permissions.asked().pop().map(|(action, ..)| action);
            assert_eq!(last.as_deref(), Some(refused_action));
        }
    }
}

#[tokio::test]
async fn a_link_that_is_created_during_the_permission_request_is_not_followed() {
    let project = Project::new();
    fs::create_dir(project.location().join("sub")).unwrap();
    project.write("sub/a.txt", "mine");
    let outside = project.root.join("outside");
    fs::write(outside.join("a.txt"), "secret").unwrap();
    let sub = project.location().join("sub");
    let permissions = Recorder::new(move |_| {
        fs::rename(&sub, sub.with_file_name("moved")).unwrap();
        symlink(&outside, &sub).unwrap();
        Ok(())
    });
    let settled = project.read_asking("sub/a.txt", &permissions).await;
    assert_eq!(
        reason(&settled, "Unable to read sub/a.txt"),
        "its path changed while a permission was requested"
    );
}

#[tokio::test]
async fn only_files_and_directories_are_opened() {
    let project = Project::new();
    let fifo = project.location().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let _socket = UnixListener::bind(project.location().join("socket")).unwrap();
    symlink("fifo", project.location().join("fifo-link")).unwrap();
    for path in ["fifo", "fifo-link", "socket", "/dev/zero", "/dev/stdin"] {
        let settled = project.read_path(path).await;
        assert_eq!(
            reason(&settled, format!("Unable to read {path}")),
            "it is neither a file nor a directory"
        );
    }
    let permissions = Recorder::new(|_| Ok(()));
    project.read_asking("fifo", &permissions).await;
    assert_eq!(permissions.asked(), []);
}

#[tokio::test]
async fn a_read_reports_its_base_directory_within_the_location() {
    let project = Project::new();
    let location = project.location();
    fs::create_dir_all(location.join("src/deep")).unwrap();
    for name in ["root.txt", "src/one.txt", "src/deep/two.bin"] {
        project.write(name, "\0");
    }
    fs::write(project.root.join("outside/three.txt"), "3").unwrap();
    symlink(location.join("src/deep"), location.join("link")).unwrap();
    let absolute = |below: &str| project.root.join(below).to_str().unwrap().to_owned();
    for (path, expected) in [
        ("root.txt", &[][..]),
        ("src/one.txt", &["src"]),
        ("src/../src/deep/two.bin", &["src/deep"]),
        // The real location of the file counts.
        ("link/two.bin", &["src/deep"]),
        (&absolute("loc/src/one.txt"), &["src"]),
        // A directory is listed, not read.
        ("src/deep", &[]),
        (&absolute("outside/three.txt"), &[]),
    ] {
        let settled = project.read_path(path).await;
        let Settlement::Success { explored, .. } = settled else {
            panic!("{path}: {settled:?}");
        };
        assert_eq!(explored, expected, "{path}");
    }
}

/// A rule may name the absolute path of a file that the reason names relatively.
#[tokio::test]
async fn similar_names_are_told_only_if_every_rule_lets_the_model_read_them() {
    let project = Project::new();
    let path = project.location().join("secret-key.txt");
    fs::write(&path, "key").unwrap();
    let path: &'static str = path.to_str().unwrap().to_owned().leak();
    for (denied, expected) in [
        (None, "there is no such file. Similar names: secret-key.txt"),
        (Some(("read", path)), "there is no such file"),
        (Some(("read", "secret-key.txt")), "there is no such file"),
    ] {
        let permissions = Recorder::denying(denied.as_slice());
        let settled = project.read_asking("sekret-key.txt", &permissions).await;
        assert_eq!(
            reason(&settled, "Unable to read sekret-key.txt"),
            expected,
            "{denied:?}"
        );
    }
}
