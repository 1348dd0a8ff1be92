//! The description of the available agents in the tool `task`.

use opencode_schema::permission::PermissionReply;
use opencode_testkit::{Fixture, Reply};
use serde_json::json;

use super::{children, failed, open, task};
use crate::permissions::{reply, waiting};

/// The list of agents: the text after the last blank line in the description of the tool `task`.
fn listed(f: &Fixture, request: usize) -> Option<String> {
    let request = &f.model.requests()[request];
    let task = request.tools.iter().find(|tool| tool.name == "task")?;
    let (_, list) = task.description.rsplit_once("\n\n")?;
    Some(list.to_owned())
}

#[tokio::test]
async fn agents_for_tasks_are_listed_by_name() {
    let f = open().await;
    let long = "w ".repeat(400);
    let config = json!({"agent": {
        "zebra": {"mode": "subagent"},
        "both": {"description": "Does\n this \t and that."},
        "wordy": {"mode": "subagent", "description": long},
        "secret": {"mode": "subagent", "hidden": true},
        "closed": {"mode": "subagent"},
        "human": {"mode": "primary"},
    }, "permission": {"task": {"closed": "deny"}}});
    f.project.write("opencode.json", &config.to_string());
    let session = f.session().await;
    f.model.reply(Reply::says("Hi."));
    f.ask(&session, "Hi").await;
    let expected = [
        "Available agents:",
        "- both: Does this and that.",
        "- explore: Searches code without changing anything, and reports where things are.",
        "- general: Researches questions and works on tasks of several steps.",
        &format!("- wordy: {}", &long[..300]),
        "- zebra",
    ];
    assert_eq!(listed(&f, 0), Some(expected.join("\n")));
}

#[tokio::test]
async fn a_long_list_is_cut() {
    let f = open().await;
    let agents = (0..60).map(|number| (format!("a{number:02}"), json!({"mode": "subagent"})));
    let agents: serde_json::Map<_, _> = agents.collect();
    f.project
        .write("opencode.json", &json!({"agent": agents}).to_string());
    let session = f.session().await;
    f.model.reply(Reply::says("Hi."));
    f.ask(&session, "Hi").await;
    let listed = listed(&f, 0).unwrap();
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(
        (lines.len(), lines[1], lines[50], lines[51]),
        (52, "- a00", "- a49", "12 more")
    );
}

#[tokio::test]
async fn the_list_is_that_of_the_agent_of_the_turn() {
    let f = open().await;
    let config = json!({"agent": {
        "alone": {"permission": {"task": {"*": "deny", "nobody": "allow"}}},
        "never": {"permission": {"task": "deny"}},
    }});
    f.project.write("opencode.json", &config.to_string());
    let session = f.session().await;
    for agent in ["build", "alone", "never", "build"] {
        f.switch_agent(&session, agent).await;
        f.model.reply(Reply::says("Hi."));
        f.ask(&session, agent).await;
    }
    let lists: Vec<_> = (0..4).map(|request| listed(&f, request)).collect();
    let build = "Available agents:\n\
        - alone\n\
        - explore: Searches code without changing anything, and reports where things are.\n\
        - general: Researches questions and works on tasks of several steps.\n\
        - never";
    let alone = "No agent is available at the moment.";
    assert_eq!(
        lists,
        [
            Some(build.to_owned()),
            Some(alone.to_owned()),
            None,
            Some(build.to_owned())
        ]
    );
    // Equal lists share one definition.
    let requests = f.model.requests();
    assert!(std::sync::Arc::ptr_eq(
        &requests[0].tools,
        &requests[3].tools
    ));
}

#[tokio::test]
async fn a_denied_agent_is_not_given_a_task() {
    let f = open().await;
    let config = json!({"permission": {"task": {"general": "deny"}}});
    f.project.write("opencode.json", &config.to_string());
    let session = f.session().await;
    f.model
        .reply(task("general", "Go"))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    assert_eq!(
        failed(&f, &session).await,
        [
            "tool.failed c0 Unable to run task: general: it is not allowed. A permission rule denies it, or no user is there to decide"
        ]
    );
    assert_eq!(children(&f, &session).await, []);
}

#[tokio::test]
async fn a_permission_may_allow_all_tasks_permanently() {
    let f = open().await;
    f.project.write(
        "opencode.json",
        &json!({"permission": {"task": "ask"}}).to_string(),
    );
    let session = f.session().await;
    let mut live = f.live();
    f.model.reply(task("general", "Go"));
    f.prompt(&session, "Go").await;
    f.read_until(&mut live, r#"permission.v2.asked task ["general"]"#)
        .await;
    assert_eq!(children(&f, &session).await, []);
    let request = waiting(&f, &session).await.remove(0);
    assert_eq!(
        (&request.save, json!(request.metadata)),
        (
            &Some(vec!["*".to_owned()]),
            json!({"description": "A look around"})
        )
    );
    f.model
        .reply(Reply::says("Done."))
        .reply(task("explore", "Go"))
        .reply(Reply::says("Done."))
        .reply(Reply::says("Well."));
    reply(&f, &request, PermissionReply::Always).await;
    f.wait(&session).await;
    assert_eq!(children(&f, &session).await.len(), 2);
}
