//! The definitions in the configuration and the folders of a Location, and their problems.

use opencode_schema::location::LocationRef;
use serde_json::{Value, json};

use crate::api::Api;

const CONFIG: &str = r#"{
    "agents": {"reviewer": {"system": "Review.", "mode": "subagent", "color": "accent", "steps": 3, "permissions": [{"action": "bash", "resource": "git *", "effect": "ask"}]}},
    "commands": {"greet": {"template": "Say hello to $1", "subtask": true}},
    "references": {"docs": {"path": "./docs", "description": "The handbook"}}
}"#;

const SKILL: &str = "---\nname: release\ndescription: How to release\nslash: true\n---\nTag it.\n";

/// A host whose project has one definition of each kind, and the envelope of its lists.
async fn defined() -> (Api, Value) {
    let api = Api::open().await;
    define(&api);
    api.f
        .project
        .write(".opencode/skills/release/SKILL.md", SKILL);
    let location = api.get("/api/location").await.ok();
    (api, location)
}

fn define(api: &Api) {
    api.f.project.write("opencode.json", CONFIG);
    api.f.project.write("docs/README.md", "");
}

/// Returns the list at this path, and its element with this name.
async fn found(api: &Api, location: &Value, path: &str, key: &str, name: &str) -> Value {
    let mut list = api.get(path).await.ok();
    let data = list["data"].take();
    assert_eq!(list, json!({"location": location, "data": null}), "{path}");
    let data = data.as_array().unwrap().clone();
    let mut named = data.into_iter().filter(|it| it[key] == name);
    let one = named
        .next()
        .unwrap_or_else(|| panic!("{path} has no {name}"));
    assert_eq!(named.next(), None, "{path}");
    one
}

#[tokio::test]
async fn definitions_are_listed_with_their_location() {
    let (api, location) = defined().await;
    let directory = api.f.project.directory();
    let docs = api.f.project.path("docs");
    for (path, key, name, expected) in [
        (
            "/api/command",
            "name",
            "greet",
            json!({"name": "greet", "template": "Say hello to $1", "subtask": true}),
        ),
        (
            "/api/reference",
            "name",
            "docs",
            json!({
                "name": "docs",
                "path": docs,
                "description": "The handbook",
                "source": {"type": "local", "path": docs, "description": "The handbook"},
            }),
        ),
        (
            "/api/skill",
            "name",
            "release",
            json!({
                "name": "release",
                "description": "How to release",
                "slash": true,
                "location": format!("{directory}/.opencode/skills/release/SKILL.md"),
                "content": "Tag it.\n",
            }),
        ),
    ] {
        assert_eq!(found(&api, &location, path, key, name).await, expected);
    }
    let agent = found(&api, &location, "/api/agent", "id", "reviewer").await;
    assert_eq!(
        agent,
        json!({
            "id": "reviewer",
            "request": {"headers": {}, "body": {}},
            "system": "Review.",
            "mode": "subagent",
            "hidden": false,
            "color": "accent",
            "steps": 3,
            "permissions": [{"action": "bash", "resource": "git *", "effect": "ask"}],
        })
    );
}

#[tokio::test]
async fn lists_belong_to_the_location_and_keep_its_order() {
    let (api, location) = defined().await;
    let named = LocationRef {
        directory: api.f.project.directory(),
        workspace_id: None,
    };
    let opened = api.f.runtime().open_location(&named).await.unwrap();
    for (path, data) in [
        ("/api/agent", json!(opened.agents.list())),
        ("/api/command", json!(opened.commands.list())),
        ("/api/reference", json!(opened.references.list())),
        ("/api/skill", json!(opened.skills.observe().await)),
        ("/api/model", json!(opened.catalogue.models())),
        ("/api/provider", json!(opened.catalogue.providers())),
    ] {
        let expected = json!({"location": location, "data": data});
        assert_eq!(api.get(path).await.ok(), expected, "{path}");
    }
}

#[tokio::test]
async fn a_changed_skill_is_visible() {
    let (api, location) = defined().await;
    found(&api, &location, "/api/skill", "name", "release").await;
    let other = "---\nname: rollback\n---\nGo back.\n";
    api.f
        .project
        .write(".opencode/skills/rollback/SKILL.md", other);
    let skill = found(&api, &location, "/api/skill", "name", "rollback").await;
    assert_eq!(skill["content"], "Go back.\n");
}

#[tokio::test]
async fn configuration_problems_are_reported_until_a_reload() {
    let api = Api::open().await;
    api.f
        .project
        .write("opencode.json", "{\n  \"username\": 5\n}");
    let location = api.get("/api/location").await.ok();
    let diagnostics = || async { api.get("/api/location/diagnostics").await.ok() };
    let told = diagnostics().await;
    let message = &told["data"][0]["message"];
    let expected = json!({"location": location, "data": [{
        "path": api.f.project.path("opencode.json"),
        "kind": "invalid",
        "message": message,
        "line": 2,
        "column": told["data"][0]["column"],
    }]});
    assert_eq!(told, expected);
    assert!(
        message.is_string() && told["data"][0]["column"].is_u64(),
        "{told}"
    );
    define(&api);
    assert_eq!(diagnostics().await, told);
    api.post("/api/location/reload").await.is_bare(204);
    assert_eq!(
        diagnostics().await,
        json!({"location": location, "data": []})
    );
    found(&api, &location, "/api/agent", "id", "reviewer").await;
}

#[tokio::test]
async fn a_change_of_models_is_announced_after_a_reload() {
    let api = Api::open().await;
    let mut stream = api.stream("/api/event").await;
    stream.event(&api.f).await;
    api.get("/api/model").await.ok();
    // Without a change there is no announcement.
    api.post("/api/location/reload").await.is_bare(204);
    let more = json!({"providers": {"mock": {"models": {"m9": {}}}}});
    api.f.project.write("opencode.json", &more.to_string());
    api.post("/api/location/reload").await.is_bare(204);
    let event = stream.event(&api.f).await;
    assert_eq!(
        event,
        json!({
            "id": event["id"],
            "type": "catalog.updated",
            "location": {"directory": api.f.project.directory()},
            "data": {},
        })
    );
    let models = api.get("/api/model").await.ok();
    let models = models["data"].as_array().unwrap().clone();
    assert!(models.iter().any(|model| model["id"] == "m9"), "{models:?}");
}
