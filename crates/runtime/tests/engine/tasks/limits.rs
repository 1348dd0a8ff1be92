//! Limits of tasks: the number of concurrent tasks and the depth of nested tasks.

use opencode_testkit::{Gate, Reply, output};
use serde_json::json;

use super::{child, children, failed, input, open, open_with, task, tasks};

#[tokio::test]
async fn tasks_are_nested_three_levels_deep() {
    let f = open().await;
    let session = f.session().await;
    for _ in 0..4 {
        f.model.reply(task("general", "Deeper"));
    }
    for text in ["Three.", "Two.", "One.", "None."] {
        f.model.reply(Reply::says(text));
    }
    f.ask(&session, "Go").await;
    let (mut at, mut texts) = (session, Vec::new());
    for _ in 0..3 {
        let succeeded = f.payloads(&at, "tool.success").await;
        texts.push(succeeded[0]["structured"]["text"].clone());
        at = child(&f, &at).await;
    }
    assert_eq!(texts, ["One.", "Two.", "Three."]);
    assert_eq!(
        failed(&f, &at).await,
        [
            "tool.failed c0 Unable to run task: general: tasks may be nested 3 levels deep, and \
             this session is that deep; do the work here"
        ]
    );
    assert_eq!(children(&f, &at).await, []);
}

#[tokio::test]
async fn the_host_sets_the_depth() {
    let f = open_with(|options| options.limits.subagent_depth = 1).await;
    let session = f.session().await;
    f.model
        .reply(task("general", "Deeper"))
        .reply(task("general", "Deeper"))
        .reply(Reply::says("One."))
        .reply(Reply::says("None."));
    f.ask(&session, "Go").await;
    let child = child(&f, &session).await;
    assert_eq!(
        failed(&f, &child).await,
        [
            "tool.failed c0 Unable to run task: general: tasks may be nested 1 levels deep, and \
             this session is that deep; do the work here"
        ]
    );
}

#[tokio::test]
async fn a_session_at_the_maximum_depth_cannot_continue_a_task() {
    let mut f = open().await;
    let session = f.session().await;
    f.model
        .reply(task("general", "First"))
        .reply(Reply::says("One."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let child = child(&f, &session).await;
    f.change(|options| options.limits.subagent_depth = 0);
    f.reopen().await;
    let mut again = input("general", "Second");
    again["sessionID"] = json!(child);
    f.model
        .reply(Reply::calls("c1", "task", again))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go on").await;
    assert_eq!(
        failed(&f, &session).await,
        [
            "tool.failed c1 Unable to run task: general: tasks may be nested 0 levels deep, and \
             this session is that deep; do the work here"
        ]
    );
}

#[tokio::test]
async fn eight_tasks_of_a_session_run_in_parallel() {
    let f = open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model.reply(tasks(9));
    for _ in 0..8 {
        f.model.reply(Reply::new().hold(&gate).text("Done.").stop());
    }
    f.prompt(&session, "Go").await;
    f.asked(9).await;
    let refused = "Unable to run task: general: 8 tasks of this session run, and no more may; call it \
                   again when one has ended";
    // The calls begin at the same time, so it may be any of them.
    let is_refused = |event: &str| event.starts_with("tool.failed c") && event.ends_with(refused);
    f.recorded_one(&session, refused, is_refused).await;
    assert_eq!(children(&f, &session).await.len(), 8);
    // Another session has its own limit of eight.
    let other = f.session().await;
    f.model.reply(task("general", "Go"));
    f.model.reply(Reply::new().hold(&gate).text("Done.").stop());
    f.prompt(&other, "Go").await;
    f.asked(11).await;
    f.model
        .reply(Reply::says("Well."))
        .reply(Reply::says("Well."));
    gate.release();
    f.wait(&session).await;
    f.wait(&other).await;
    let failed = failed(&f, &session).await;
    assert!(failed.len() == 1 && is_refused(&failed[0]), "{failed:?}");
    assert_eq!(f.payloads(&session, "tool.success").await.len(), 8);
    // Completed tasks do not count.
    f.model
        .reply(task("general", "Go"))
        .reply(Reply::says("Done."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Once more").await;
    assert_eq!(f.payloads(&session, "tool.success").await.len(), 9);
}

#[tokio::test]
async fn the_host_sets_the_number() {
    let f = open_with(|options| options.limits.subagents = 1).await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(tasks(2))
        .reply(Reply::new().hold(&gate).text("Done.").stop())
        .reply(Reply::says("Well."));
    f.prompt(&session, "Go").await;
    let refused = "Unable to run task: general: 1 tasks of this session run, and no more may; call it \
                   again when one has ended";
    let is_refused = |event: &str| event.starts_with("tool.failed c") && event.ends_with(refused);
    f.recorded_one(&session, refused, is_refused).await;
    gate.release();
    f.wait(&session).await;
    let failed = failed(&f, &session).await;
    assert!(failed.len() == 1 && is_refused(&failed[0]), "{failed:?}");
}

#[tokio::test]
async fn the_tools_of_a_prompt_are_those_of_its_tasks_and_of_their_tasks() {
    let f = open().await;
    for tool in ["read", "bash"] {
        f.tool(tool, |_, _| async { output(json!({})) });
    }
    let session = f.session().await;
    f.model
        .reply(task("general", "Deeper"))
        .reply(task("general", "Deeper"))
        .reply(Reply::calls("c9", "bash", json!({})));
    for text in ["Three.", "Two.", "One."] {
        f.model.reply(Reply::says(text));
    }
    f.ask_with(&session, "Go", json!({"tools": {"b*": false}}))
        .await;
    let requests = f.model.requests();
    assert_eq!(requests.len(), 6);
    for request in requests {
        let tools: Vec<_> = request.tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(tools, ["task", "read"]);
    }
    let first = child(&f, &session).await;
    let second = child(&f, &first).await;
    assert_eq!(failed(&f, &second).await.len(), 1);
    // A later task has the tools of the later prompt.
    let mut again = input("general", "Once more");
    again["sessionID"] = json!(first);
    f.model
        .reply(Reply::calls("c1", "task", again))
        .reply(Reply::says("Done."))
        .reply(Reply::says("Well."));
    f.ask(&session, "Go on").await;
    let tools = f.model.requests().into_iter().nth(7).unwrap().tools.len();
    assert_eq!(tools, 3);
}

#[tokio::test]
async fn a_task_that_wants_more_turns_than_its_agent_has_fails() {
    let f = open().await;
    let agents = json!({"agents": {"general": {"steps": 2}}});
    f.project.write("opencode.json", &agents.to_string());
    f.tool("echo", |_, _| async { output(json!({})) });
    let session = f.session().await;
    let call = |id: &str| Reply::new().text("Early.").call(id, "echo", json!({}));
    f.model
        .reply(task("general", "Go"))
        .reply(call("c1").tool_calls())
        .reply(call("c2").tool_calls())
        .reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    let task = child(&f, &session).await;
    let expected = format!(
        "tool.failed c0 Unable to run task: general: its session {task} ended before the work did: it made 2 Provider Turns, \
         as many as it may, and wanted more; give it a next prompt to go on"
    );
    assert_eq!(failed(&f, &session).await, [expected]);
}
