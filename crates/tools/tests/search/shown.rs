//! Tests for the files that a search leaves out, because the rules do not let the model read them.

use std::fs;

use opencode_tools::Settlement;
use serde_json::{Value, json};

use crate::{
    common::{Recorder, denied, folders},
    project::{Project, taken},
};

/// Returns the files with lines, and the text for the model.
async fn grep(
    project: &Project,
    input: Value,
    permissions: &[(&'static str, &'static str)],
) -> (Vec<String>, String) {
    let permissions = Recorder::denying(permissions);
    let (found, text) = taken(project.call_asking("grep", input, &permissions).await);
    let files = found.iter().map(|line| {
        line["entry"]["path"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    });
    (files.collect(), text)
}

#[tokio::test]
async fn a_search_leaves_out_and_counts_what_read_denies() {
    let project = Project::with(&["a.txt", "secrets/key", "secrets/other", "b/.env"]);
    let everything = json!({"pattern": "e|a"});
    let rules = [("read", "secrets/key"), ("read", "b/.env")];
    let (files, text) = grep(&project, everything.clone(), &rules).await;
    assert_eq!(files, ["a.txt", "secrets/other"]);
    let note = "(2 files were left out of the search, because a permission rule denies reading.)";
    assert!(text.ends_with(note), "{text}");
    let (files, text) = grep(&project, everything, &[]).await;
    assert_eq!(files.len(), 4);
    assert!(!text.contains("left out"), "{text}");
    // A name from the root of the file system, and the search in a directory.
    let path = project.text("loc/secrets/key");
    let rule: &'static str = path.leak();
    let inside = json!({"pattern": "e", "path": "secrets"});
    let (files, text) = grep(&project, inside, &[("read", rule)]).await;
    assert_eq!(files, ["secrets/other"]);
    assert!(text.contains("(1 file was left out"), "{text}");
}

#[tokio::test]
async fn the_number_of_left_out_files_tells_nothing_about_their_content() {
    let project = Project::with(&["secrets/key"]);
    let rules = [("read", "secrets/key")];
    let mut texts = Vec::new();
    for pattern in ["secrets", "nothing"] {
        let (files, text) = grep(&project, json!({"pattern": pattern}), &rules).await;
        assert_eq!(files, [""; 0]);
        texts.push(text);
    }
    assert_eq!(texts[0], texts[1]);
    assert!(
        texts[0].starts_with("No matches found\n\n(1 file was left out"),
        "{}",
        texts[0]
    );
}

#[tokio::test]
async fn a_single_file_needs_the_permission_to_read_it() {
    let project = Project::with(&["secrets/key"]);
    let input = json!({"pattern": "key", "path": "secrets/key"});
    let permissions = Recorder::denying(&[("read", "secrets/key")]);
    let settled = project
        .call_asking("grep", input.clone(), &permissions)
        .await;
    assert_eq!(settled, denied("Unable to grep for key"));
    let permissions = Recorder::new(|_| Ok(()));
    let settled = project.call_asking("grep", input, &permissions).await;
    assert!(matches!(settled, Settlement::Success { .. }), "{settled:?}");
    let actions: Vec<_> = permissions
        .asked()
        .into_iter()
        .map(|(action, ..)| action)
        .collect();
    assert_eq!(actions, ["grep", "read"]);
}

#[tokio::test]
async fn a_file_is_left_out_by_every_name_that_it_has() {
    let project = Project::with(&["secrets/key", "plain"]);
    fs::hard_link(
        project.location().join("secrets/key"),
        project.location().join("notes"),
    )
    .unwrap();
    let rules = [("read", "secrets/key")];
    let (files, text) = grep(&project, json!({"pattern": "e|n"}), &rules).await;
    assert_eq!(files, ["plain"]);
    assert!(text.contains("2 files were left out"), "{text}");
    for (tool, input) in [
        ("grep", json!({"pattern": "key", "path": "notes"})),
        ("read", json!({"path": "notes"})),
    ] {
        let permissions = Recorder::denying(&rules);
        let settled = project.call_asking(tool, input, &permissions).await;
        let Settlement::Failed { message, .. } = settled else {
            panic!("{settled:?}");
        };
        assert!(message.contains("it is not allowed"), "{message}");
    }
}

#[tokio::test]
async fn a_search_finds_only_the_outputs_of_the_own_session_tree() {
    let project = Project::new();
    let directory = folders(&project.location()).outputs.directory;
    fs::create_dir_all(&directory).unwrap();
    let own = "tool_000000000001418991b29d9215";
    let other = "tool_00000000000200000000000000";
    for name in [own, other] {
        fs::write(directory.join(name), "output\n").unwrap();
    }
    let input = json!({"pattern": "output", "path": directory.to_str().unwrap()});
    let rule: &'static str = directory.join(other).to_str().unwrap().to_owned().leak();
    let (files, text) = grep(&project, input, &[("external_directory", rule)]).await;
    assert_eq!(files, [directory.join(own).to_str().unwrap()]);
    assert!(text.contains("1 file was left out"), "{text}");
}
