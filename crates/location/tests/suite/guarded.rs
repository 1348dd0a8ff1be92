//! The files that decide what the host does, and the trust in them after a tool changed them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use opencode_location::location::{Location, Locations, Trust};
use serde_json::json;

use crate::machine::{Machine, git};

async fn opened(machine: &Machine, directory: &str) -> (Locations, Arc<Location>) {
    let locations =
        Locations::new(Arc::new(machine.environment.clone()), None).with_trust(Trust::Always);
    let location = locations.get(directory).await.unwrap();
    (locations, location)
}

/// Returns the name of the user that the project sets, and the files without trust.
fn state(location: &Location) -> (Option<String>, Vec<String>) {
    let configuration = &location.configuration;
    let about = configuration.diagnostics.iter();
    let about = about.filter(|it| it.to_string().contains("location.trust"));
    (
        configuration.settings.username.clone(),
        about.map(|it| it.path.clone()).collect(),
    )
}

#[tokio::test]
async fn a_change_by_a_tool_is_not_trusted_until_the_program_confirms_it() {
    let machine = Machine::new();
    for name in ["opencode.json", ".opencode/opencode.jsonc"] {
        let project = machine.directory(&format!("projects/{}", name.replace('/', "-")));
        let file = Path::new(&project).join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let written =
            |user: &str| fs::write(&file, json!({ "username": user }).to_string()).unwrap();
        written("a");
        let (locations, location) = opened(&machine, &project).await;
        assert_eq!(state(&location), (Some("a".to_owned()), vec![]));
        location.guarded.note_change(&file).unwrap();
        written("b");
        let distrusted = (None, vec![file.to_str().unwrap().to_owned()]);
        let reloaded = locations.reload(&project).await.unwrap().location;
        assert_eq!(state(&reloaded).0, distrusted.0, "{name}");
        assert!(state(&reloaded).1.contains(&distrusted.1[0]), "{name}");
        assert!(reloaded.is_trusted);
        // Another host, and a Location below.
        let (again, location) = opened(&machine, &project).await;
        assert_eq!(state(&location).0, None, "{name}");
        let confirmed = again.trust(&project, true).await.unwrap().location;
        assert_eq!(state(&confirmed), (Some("b".to_owned()), vec![]), "{name}");
        let (_, location) = opened(&machine, &project).await;
        assert_eq!(state(&location), (Some("b".to_owned()), vec![]), "{name}");
    }
}

#[tokio::test]
async fn the_old_content_is_trusted_again() {
    let machine = Machine::new();
    machine.write("project/opencode.json", r#"{"username":"a"}"#);
    let project = machine.text("project");
    let (locations, location) = opened(&machine, &project).await;
    let file = machine.path("project/opencode.json");
    location.guarded.note_change(&file).unwrap();
    fs::write(&file, r#"{"username":"b"}"#).unwrap();
    let reloaded = locations.reload(&project).await.unwrap().location;
    assert_eq!(state(&reloaded).0, None);
    fs::write(&file, r#"{"username":"a"}"#).unwrap();
    let reloaded = locations.reload(&project).await.unwrap().location;
    assert_eq!(state(&reloaded), (Some("a".to_owned()), vec![]));
}

#[tokio::test]
async fn unreadable_notes_trust_no_document() {
    let machine = Machine::new();
    machine.write("project/opencode.json", r#"{"username":"a"}"#);
    machine.write("data/embedded/changed-documents/x.json", "{");
    let (_, location) = opened(&machine, &machine.text("project")).await;
    assert_eq!(state(&location).0, None);
    assert_eq!(state(&location).1.len(), 1);
}

#[tokio::test]
async fn places_decide_under_every_name() {
    let machine = Machine::new();
    machine.write(
        "project/opencode.json",
        json!({
            "skills": ["docs/skills"],
            "username": "{file:values/name.txt}",
            "mcp": {
                "a": {"type": "local", "command": ["node", "tools/server.js", "--config=tools/a.json", "."]},
                "b": {"type": "local", "command": ["./run"], "cwd": "tools"},
            },
        })
        .to_string(),
    );
    machine.write("project/tools/server.js", "");
    for directory in [
        "project/docs/skills",
        "project/docs/agents",
        "project/.opencode",
        "config",
    ] {
        machine.directory(directory);
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("../docs/agents", machine.path("project/.opencode/agent")).unwrap();
    let (_, location) = opened(&machine, &machine.text("project")).await;
    let name = |path: &str| location.guarded.name_of(&machine.path(path), &[]);
    for (path, expected) in [
        ("project/opencode.json", Some("opencode.json")),
        ("other/opencode.jsonc", Some("opencode.jsonc")),
        ("config/agent/x.md", Some("config")),
        ("cache/models.json", Some("cache")),
        ("data/embedded/opencode.db", Some("embedded")),
        ("project/docs/skills/x/SKILL.md", Some("skills")),
        ("project/docs/x.md", None),
        ("project/values/name.txt", Some("name.txt")),
        ("project/values/other.txt", None),
        ("project/tools/server.js", Some("server.js")),
        ("project/tools/a.json", Some("a.json")),
        ("project/tools/run", Some("run")),
        ("project/tools/other.js", None),
        ("project/AGENTS.md", None),
        ("data/plans/x.md", None),
    ] {
        assert_eq!(name(path).as_deref(), expected, "{path}");
    }
    if cfg!(unix) {
        assert_eq!(
            name("project/docs/agents/x.md").as_deref(),
            Some(".opencode")
        );
    }
    let link = [".opencode/agent/x.md".to_owned()];
    let named = location
        .guarded
        .name_of(&machine.path("elsewhere/x.md"), &link);
    assert_eq!(named.as_deref(), Some(".opencode"));
}

#[tokio::test]
async fn files_that_the_configuration_of_git_names_decide() {
    let machine = Machine::new();
    let project = machine.directory("project");
    let directory = Path::new(&project);
    git(directory, &["init", "--quiet"]);
    for (key, value) in [
        ("core.fsmonitor", "./tools/watch.sh"),
        ("core.hooksPath", ".githooks"),
        ("include.path", "../shared.gitconfig"),
        ("filter.x.clean", "node tools/clean.js --all"),
        ("remote.origin.url", "https://example.com/a.git"),
    ] {
        git(directory, &["config", "--local", key, value]);
    }
    let file = directory.join(".git/config");
    let more = "[core] hooksPath = own\n[include] path = plain\n";
    fs::write(&file, fs::read_to_string(&file).unwrap() + more).unwrap();
    let (_, location) = opened(&machine, &project).await;
    let name = |path: &str| location.guarded.name_of(&machine.path(path), &[]);
    for (path, expected) in [
        ("project/own/pre-push", Some("own")),
        ("project/.git/plain", Some(".git")),
        ("project/tools/watch.sh", Some("watch.sh")),
        ("project/tools/clean.js", Some("clean.js")),
        ("project/tools/other.js", None),
        ("project/.githooks/pre-commit", Some(".githooks")),
        ("project/shared.gitconfig", Some("shared.gitconfig")),
        ("project/src/a.txt", None),
        ("project/a.git", None),
    ] {
        assert_eq!(name(path).as_deref(), expected, "{path}");
    }
}
