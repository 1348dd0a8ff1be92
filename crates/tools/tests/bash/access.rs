//! Tests for the directory of commands, for permissions and for warnings.

use std::{fs, os::unix::fs::symlink};

use crate::common::{Recorder, denied, reason, success, text};
use crate::project::{Project, exited, name};
use opencode_schema::message::ErrorKind;
use opencode_tools::{PermissionError, Settlement};
use serde_json::json;

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Returns a request in the form of the recorder.
fn asked(action: &str, resource: &str, save: &[&str]) -> (String, Vec<String>, Vec<String>) {
    (action.to_owned(), owned(&[resource]), owned(save))
}

#[tokio::test]
async fn the_permission_request_contains_the_command() {
    let project = Project::new();
    for (command, save) in [
        ("echo a; ls", vec!["echo a; ls"]),
        // Rules with these characters would match other commands too, so they are not saved.
        ("ls *.none 2>/dev/null", vec![]),
        ("echo 'a?'", vec![]),
        (r"echo \a", vec![]),
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        project.ask(json!({"command": command}), &permissions).await;
        assert_eq!(permissions.asked(), [asked("bash", command, &save)]);
    }
}

#[tokio::test]
async fn a_refusal_runs_nothing() {
    let project = Project::new();
    let command = "touch made";
    let corrected = PermissionError::Corrected {
        feedback: "no".to_owned(),
    };
    for (answer, expected) in [
        (
            PermissionError::Blocked,
            denied("Unable to execute command: touch made"),
        ),
        (
            corrected,
            Settlement::Failed {
                message: "Unable to execute command: touch made: no".to_owned(),
                kind: ErrorKind::Permission,
            },
        ),
        (PermissionError::Declined, Settlement::Declined),
    ] {
        let permissions = Recorder::new(move |_| Err(answer.clone()));
        let settled = project.ask(json!({"command": command}), &permissions).await;
        assert_eq!(settled, expected);
    }
    assert!(!project.location().join("made").exists());
}

#[tokio::test]
async fn a_working_directory_inside_needs_no_permission() {
    let project = Project::new();
    let sub = project.location().join("sub");
    symlink(&sub, project.location().join("link")).unwrap();
    for (workdir, place) in [
        (json!("sub"), sub.clone()),
        (json!("./sub/../sub"), sub.clone()),
        (json!(name(&sub)), sub.clone()),
        (json!("link"), sub),
        (json!(""), project.location()),
        (json!("."), project.location()),
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        let input = json!({"command": "pwd -P", "workdir": workdir});
        let settled = project.ask(input, &permissions).await;
        assert_eq!(settled, exited(&format!("{}\n", name(&place)), 0));
        assert_eq!(permissions.asked(), [asked("bash", "pwd -P", &["pwd -P"])]);
    }
}

#[tokio::test]
async fn a_working_directory_outside_needs_a_permission_first() {
    let project = Project::new();
    let outside = project.root.join("outside");
    let pattern = format!("{}/*", name(&outside));
    let input = json!({"command": "pwd", "workdir": name(&outside)});
    let permissions = Recorder::new(|_| Ok(()));
    let settled = project.ask(input.clone(), &permissions).await;
    assert_eq!(settled, exited(&format!("{}\n", name(&outside)), 0));
    let external = asked("external_directory", &pattern, &[&pattern]);
    assert_eq!(
        permissions.asked(),
        [external.clone(), asked("bash", "pwd", &["pwd"])]
    );

    let permissions = Recorder::new(|_| Err(PermissionError::Blocked));
    let settled = project.ask(input, &permissions).await;
    assert_eq!(
        settled,
        denied(format!(
            "Unable to execute command: pwd: the working directory {} cannot be used",
            name(&outside)
        ))
    );
    assert_eq!(permissions.asked(), [external]);
}

#[tokio::test]
async fn an_unusable_working_directory_is_refused() {
    let project = Project::new();
    fs::write(project.location().join("file"), "").unwrap();
    symlink(
        project.root.join("outside"),
        project.location().join("escape"),
    )
    .unwrap();
    for workdir in [
        "..",
        "../outside",
        "escape",
        "escape/x",
        "file",
        "file/x",
        "missing",
        "a\0b",
        "sub/../..",
    ] {
        let input = json!({"command": "touch made", "workdir": workdir});
        let settled = project.settle(input, project.context()).await;
        let refused = "Unable to execute command: touch made";
        let reason = reason(&settled, refused);
        let start = format!("the working directory {workdir} cannot be used: ");
        assert!(reason.starts_with(&start), "{reason}");
    }
    assert!(!project.root.join("outside/made").exists());
}

#[tokio::test]
async fn a_working_directory_that_is_replaced_during_the_request_is_refused() {
    let project = Project::new();
    let (sub, outside) = (project.location().join("sub"), project.root.join("outside"));
    let permissions = Recorder::new({
        let (sub, outside) = (sub.clone(), outside.clone());
        move |_| {
            fs::remove_dir(&sub).unwrap();
            symlink(&outside, &sub).unwrap();
            Ok(())
        }
    });
    let input = json!({"command": "touch made", "workdir": "sub"});
    let settled = project.ask(input, &permissions).await;
    assert_eq!(
        reason(&settled, "Unable to execute command: touch made"),
        "the working directory sub cannot be used: it changed while a permission was requested"
    );
    assert!(!outside.join("made").exists());
}

#[tokio::test]
async fn paths_outside_cause_one_warning_per_directory() {
    let project = Project::new();
    let (root, location) = (name(&project.root), project.location());
    symlink(project.root.join("outside"), location.join("link")).unwrap();
    fs::write(project.root.join("outside/a"), "").unwrap();
    let warned =
        |directories: &[&str]| {
            let each = directories.iter().map(|directory| format!(
            "- Command argument references external directory {directory}/*. Bash runs with \
             host-user filesystem, process, and network authority; this scan is advisory only.\n"
        ));
            let mut trailer: String = each.collect();
            if !trailer.is_empty() {
                trailer = format!("Warnings:\n{trailer}\n");
            }
            let parts = vec![
                text("(no output)"),
                text(&(trailer + "Command exited with code 0.")),
            ];
            success(json!({"exit": 0, "truncated": false}), parts)
        };
    let inside = name(&location);
    let outside = format!("{root}/outside");
    for (command, directories) in [
        (": a ../outside/a".to_owned(), vec![]),
        (
            format!(": {inside}/a {inside} {inside}/sub/../a {inside}/link/a"),
            vec![],
        ),
        (format!(": {outside}/a; : '{outside}/b'"), vec![&*outside]),
        (
            format!(": {inside}/../outside/a {root}/c"),
            vec![&*outside, root],
        ),
        (": /".to_owned(), vec![""]),
        (": /no-such-place/at/all".to_owned(), vec![""]),
    ] {
        let settled = project.run(&command).await;
        assert_eq!(settled, warned(&directories), "{command}");
    }
    let many: String = (10..40)
        .map(|number| format!(" {root}/{number}/x"))
        .collect();
    for number in 10..40 {
        fs::create_dir(project.root.join(number.to_string())).unwrap();
    }
    let first: Vec<_> = (10..30).map(|number| format!("{root}/{number}")).collect();
    let first: Vec<_> = first.iter().map(String::as_str).collect();
    assert_eq!(project.run(&format!(":{many}")).await, warned(&first));
}
