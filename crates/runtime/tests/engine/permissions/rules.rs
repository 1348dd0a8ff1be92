//! Decisions by rules: they are those of the agent of the turn.

use opencode_schema::permission::PermissionReply;
use opencode_testkit::Reply;

use super::{ask, equip, of_permissions, open, reply, settled, uses};

#[tokio::test]
async fn rules_that_allow_or_deny_create_no_request() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    f.model
        .reply(uses(&["ok 1", "no 1"]))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    assert_eq!(
        settled(&f, &session).await,
        [
            "tool.failed c1 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.success c0 {}"
        ]
    );
    let failed = f.payloads(&session, "tool.failed").await;
    assert_eq!(failed[0]["error"]["cause"]["kind"], "permission");
    f.read_until(&mut live, "step.ended stop").await;
    assert_eq!(of_permissions(&live), [""; 0]);
}

#[tokio::test]
async fn one_resource_decides_for_all_resources() {
    let f = open().await;
    let session = f.session().await;
    let use_of = |id: &str, on: &[&str]| {
        Reply::calls(id, "use", serde_json::json!({"on": on})).in_one_piece()
    };
    f.model
        .reply(use_of("c0", &["ok 1", "ok 2"]))
        .reply(use_of("c1", &["ok 1", "x", "no 2"]))
        .reply(use_of("c2", &[]))
        .reply(use_of("c3", &["ok 1", "x"]));
    let mut live = f.live();
    f.prompt(&session, "Go").await;
    f.read_until(&mut live, r#"permission.v2.asked use ["ok 1","x"]"#)
        .await;
    let called = r#"tool.called c3 use {"on":["ok 1","x"]}"#;
    f.recorded(&session, called).await;
    f.interrupt(&session).await;
    assert_eq!(
        settled(&f, &session).await,
        [
            "tool.failed c1 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            // No resource is every resource.
            "tool.failed c2 Unable to use it: it is not allowed. A permission rule denies it, or no user is there to decide",
            "tool.failed c3 Tool execution interrupted",
            "tool.success c0 {}",
        ]
    );
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(
        of_permissions(&live),
        [
            r#"permission.v2.asked use ["ok 1","x"]"#,
            "permission.v2.replied reject",
        ]
    );
}

#[tokio::test]
async fn each_agent_has_its_own_rules_and_one_without_rules_asks() {
    let f = open().await;
    let session = f.session().await;
    for (agent, expected) in [
        ("strict", "tool.failed c0 Unknown tool: use"),
        ("free", "tool.success c0 {}"),
    ] {
        f.switch_agent(&session, agent).await;
        f.model.reply(uses(&["x"])).reply(Reply::says("Well."));
        let before = f.events(&session).await.len();
        f.ask(&session, agent).await;
        let events = f.events_after(&session, before).await;
        assert!(events.contains(&expected.to_owned()), "{agent}: {events:?}");
    }
    // A new agent from a description starts without any rules.
    f.project
        .write(".opencode/agent/custom.md", "---\n---\nHelp.");
    f.project.write("opencode.json", "{}");
    let location = f.new_session().location;
    f.runtime().reload_location(&location).await.unwrap();
    f.switch_agent(&session, "custom").await;
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["x"]).await;
    f.model.reply(Reply::says("Well."));
    reply(&f, &requests[0], PermissionReply::Once).await;
    f.wait(&session).await;
}

#[tokio::test]
async fn a_waiting_call_keeps_the_agent_of_its_turn() {
    let f = open().await;
    let session = f.session().await;
    let mut live = f.live();
    let requests = ask(&f, &mut live, &session, &["x"]).await;
    f.switch_agent(&session, "strict").await;
    f.model.reply(Reply::says("Well."));
    reply(&f, &requests[0], PermissionReply::Once).await;
    f.wait(&session).await;
    assert_eq!(settled(&f, &session).await, ["tool.success c0 {}"]);
    let tools = |turn: usize| f.model.requests()[turn].tools.len();
    assert_eq!((tools(0), tools(1)), (1, 0));
}

#[tokio::test]
async fn by_default_reading_is_allowed_and_secrets_and_outside_paths_are_asked() {
    let f = opencode_testkit::Fixture::open().await;
    f.register(opencode_testkit::built_in_tools());
    f.project.write("a.txt", "A");
    f.project.write(".env", "SECRET=1");
    std::fs::create_dir(f.project.root().join("outside")).unwrap();
    let outside = f
        .project
        .root()
        .join("outside")
        .to_string_lossy()
        .into_owned();
    std::fs::write(format!("{outside}/b.txt"), "B").unwrap();
    let read = |id: &str, path: &str| Reply::calls(id, "read", serde_json::json!({"path": path}));
    let session = f.session().await;
    let mut live = f.live();
    f.model
        .reply(read("c0", "a.txt"))
        .reply(read("c1", ".env"))
        .reply(read("c2", &format!("{outside}/b.txt")))
        .reply(Reply::says("Well."));
    f.prompt(&session, "Go").await;
    for asked in [
        r#"permission.v2.asked read [".env"]"#.to_owned(),
        format!(r#"permission.v2.asked external_directory ["{outside}/*"]"#),
    ] {
        f.read_until(&mut live, &asked).await;
        let request = super::waiting(&f, &session).await.remove(0);
        reply(&f, &request, PermissionReply::Once).await;
    }
    f.wait(&session).await;
    assert_eq!(f.payloads(&session, "tool.success").await.len(), 3);
    assert_eq!(of_permissions(&live).len(), 3);
}

/// The rules come from the directory in which the session works.
#[tokio::test]
async fn a_location_without_rules_uses_the_defaults() {
    let f = opencode_testkit::Fixture::open().await;
    equip(&f);
    f.project.write("opencode.json", "{}");
    let session = f.session().await;
    f.model.reply(uses(&["no 1"])).reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    assert_eq!(settled(&f, &session).await, ["tool.success c0 {}"]);
}
