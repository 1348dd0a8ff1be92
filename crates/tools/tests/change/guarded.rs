//! Tests for changes of files that rules do not let the model read, that decide what the host does, or that are shared.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use opencode_tools::{Settlement, TurnContext};
use serde_json::{Value, json};

use crate::common::Recorder;
use crate::project::{Project, text_of};

fn calls(path: &str, old: &str) -> [(&'static str, Value); 3] {
    let patch =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+new\n*** End Patch");
    [
        (
            "edit",
            json!({"path": path, "oldString": old, "newString": "new"}),
        ),
        ("apply_patch", json!({"patchText": patch})),
        ("write", json!({"path": path, "content": "new\n"})),
    ]
}

async fn run(project: &Project, tool: &str, input: Value, context: TurnContext) -> Settlement {
    project
        .turn
        .settle(crate::common::call(tool, input), &context)
        .await
}

#[tokio::test]
async fn a_failure_shows_nothing_of_a_file_that_may_not_be_read() {
    let project = Project::new();
    project.put("secrets/key", "the secret is 12345\nsecond line\n");
    fs::hard_link(
        project.location().join("secrets/key"),
        project.location().join("notes"),
    )
    .unwrap();
    let rules = [("read", "secrets/key")];
    for path in ["secrets/key", "notes"] {
        for (tool, input) in &calls(path, "the secret was x\nsecond line")[..2] {
            let hidden = text_of(
                project
                    .ask(tool, input.clone(), &Recorder::denying(&rules))
                    .await,
            );
            let hidden = hidden.unwrap_err();
            assert!(!hidden.contains("12345"), "{tool} {path}: {hidden}");
            assert!(
                hidden.contains("Similar places are not shown"),
                "{tool} {path}: {hidden}"
            );
            let shown = text_of(project.run(tool, input.clone()).await).unwrap_err();
            assert!(shown.contains("12345"), "{tool} {path}: {shown}");
        }
    }
}

#[tokio::test]
async fn the_user_is_asked_each_time_about_a_file_that_decides() {
    let project = Project::new();
    symlink(".opencode", project.location().join("dot")).unwrap();
    for (path, resource, name) in [
        ("opencode.json", "opencode.json", Some("opencode.json")),
        (
            "a/OPENCODE.jsonc",
            "a/OPENCODE.jsonc",
            Some("opencode.jsonc"),
        ),
        (
            ".opencode/agent/x.md",
            ".opencode/agent/x.md",
            Some(".opencode"),
        ),
        (
            "dot/command/x.md",
            ".opencode/command/x.md",
            Some(".opencode"),
        ),
        (".git/config", ".git/config", Some(".git")),
        (
            "sub/.gitattributes",
            "sub/.gitattributes",
            Some(".gitattributes"),
        ),
        (".opencode/plans/x.md", ".opencode/plans/x.md", None),
        ("src/a.txt", "src/a.txt", None),
    ] {
        project.put(resource, "old\n");
        for (tool, input) in calls(path, "old") {
            project.put(resource, "old\n");
            let permissions = Recorder::new(|_| Ok(()));
            text_of(project.ask(tool, input, &permissions).await).unwrap();
            let asked = permissions.asked.lock().unwrap();
            let [request] = &asked[..] else {
                panic!("{path}: {asked:?}");
            };
            assert_eq!(request.resources, [resource], "{tool}");
            let guarded: Vec<_> = request.guarded.iter().collect();
            match name {
                Some(name) => {
                    assert_eq!(guarded, [(&resource.to_owned(), &name.to_owned())]);
                    assert_eq!(request.save, [""; 0]);
                    assert!(request.metadata.contains_key("reason"));
                }
                None => {
                    assert!(guarded.is_empty(), "{path}");
                    assert_eq!(request.save, ["*"]);
                }
            }
        }
    }
}

#[tokio::test]
async fn downloaded_copies_cannot_be_changed_and_no_permission_is_requested() {
    let project = Project::new();
    let copies = project.root.join("data/repos");
    let text = |name: &str| copies.join(name).to_str().unwrap().to_owned();
    fs::create_dir_all(copies.join("host/.git")).unwrap();
    symlink(&copies, project.root.join("door")).unwrap();
    let door = project
        .root
        .join("door/host/a")
        .to_str()
        .unwrap()
        .to_owned();
    for path in [text("host/a"), text("host/.git/config"), door] {
        fs::write(&path, "old\n").unwrap();
        for (tool, input) in calls(&path, "old") {
            let permissions = Recorder::new(|_| Ok(()));
            let refused = text_of(project.ask(tool, input, &permissions).await).unwrap_err();
            assert!(
                refused.contains("so it can only be read"),
                "{tool}: {refused}"
            );
            assert_eq!(permissions.asked(), []);
        }
        assert_eq!(fs::read(&path).unwrap(), b"old\n");
    }
}

#[tokio::test]
async fn the_rules_that_allow_reading_a_shared_directory_allow_no_change() {
    let project = Project::new();
    let shared = project.outside("library");
    fs::create_dir(&shared).unwrap();
    let file = shared.join("a.txt").to_str().unwrap().to_owned();
    let pattern = shared.join("*").to_str().unwrap().to_owned();
    let context = |permissions: &Arc<Recorder>| {
        let mut context = project.context();
        Arc::make_mut(&mut context.files).folders.references = [PathBuf::from(&shared)].into();
        context.permissions = Arc::clone(permissions) as _;
        context
    };
    let changes = calls(&file, "old");
    let bash = (
        "bash",
        json!({"command": "true", "workdir": shared.to_str().unwrap()}),
    );
    for (tool, input, is_change) in [
        ("read", json!({"path": file}), false),
        ("grep", json!({"pattern": "old", "path": file}), false),
        (bash.0, bash.1, true),
    ]
    .into_iter()
    .chain(changes.into_iter().map(|(tool, input)| (tool, input, true)))
    {
        fs::write(&file, "old\n").unwrap();
        let permissions = Recorder::new(|_| Ok(()));
        run(&project, tool, input, context(&permissions)).await;
        let asked = permissions.asked.lock().unwrap();
        assert_eq!(asked[0].action, "external_directory", "{tool}");
        assert_eq!(asked[0].given_only.contains(&pattern), is_change, "{tool}");
    }
}

#[tokio::test]
async fn an_output_of_another_session_tree_is_asked_for_alone() {
    let project = Project::new();
    let directory = project.root.join("data/tool-output");
    fs::create_dir_all(&directory).unwrap();
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let pattern = path("*");
    let other = path("tool_00000000000200000000000000");
    for (file, resource, is_given_only) in [
        (path("tool_000000000001418991b29d9215"), &pattern, false),
        (path("tool_000000000001418991b29d9215.png"), &pattern, false),
        (other.clone(), &other, true),
    ] {
        fs::write(&file, "output\n").unwrap();
        for (tool, input) in [
            ("read", json!({"path": file})),
            ("grep", json!({"pattern": "output", "path": file})),
        ] {
            let permissions = Recorder::new(|_| Ok(()));
            let settled = project.ask(tool, input, &permissions).await;
            assert!(matches!(settled, Settlement::Success { .. }), "{settled:?}");
            let asked = permissions.asked.lock().unwrap();
            assert_eq!(asked[0].resources, std::slice::from_ref(resource), "{tool}");
            assert_eq!(asked[0].save, std::slice::from_ref(resource), "{tool}");
            assert_eq!(!asked[0].given_only.is_empty(), is_given_only, "{tool}");
        }
    }
    let permissions = Recorder::new(|_| Ok(()));
    let input = json!({"command": "true", "workdir": directory.to_str().unwrap()});
    project.ask("bash", input, &permissions).await;
    let asked = permissions.asked.lock().unwrap();
    assert!(asked[0].given_only.contains(&pattern));
}
