//! Pruning: the old tool output that later requests leave out, the time of the removal, and the exceptions.

use opencode_llm::ToolResultValue;
use opencode_schema::id::SessionID;
use opencode_schema::message::{AssistantPart, SessionMessage, ToolState};
use opencode_testkit::{Fixture, Reply, compact, output};
use serde_json::json;

use crate::transfer::elsewhere;

const CLEARED: &str = "[Old tool result content cleared]";

/// A session on a host with tools for large outputs, one of which has the name of the skill tool.
async fn open() -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    prepare(&f);
    let session = f.session().await;
    (f, session)
}

fn prepare(f: &Fixture) {
    for name in ["flood", "skill"] {
        f.tool(name, |input, _| async { output(input) });
    }
    f.tool("broken", |_, _| async {
        Err(opencode_tools::ToolFailure::new("x".repeat(40_000)))
    });
}

/// A turn that calls these tools. Each output has about 10,000 tokens.
async fn called(f: &Fixture, session: &SessionID, tools: &[&str]) {
    let calls = tools.iter().enumerate();
    let reply = calls.fold(Reply::new(), |reply, (n, tool)| {
        let input = json!({"n": n, "text": "x".repeat(40_000)});
        reply.call(&format!("{tool}{n}"), tool, input)
    });
    f.model.reply(reply.tool_calls());
    answer(f, session, "Look").await;
}

async fn answer(f: &Fixture, session: &SessionID, text: &str) {
    f.model.reply(Reply::says("Yes."));
    f.ask(session, text).await;
}

/// The pruned calls, event by event.
async fn pruned(f: &Fixture, session: &SessionID) -> Vec<String> {
    let events = f.events(session).await;
    let pruned = events.iter().filter_map(|it| it.strip_prefix("pruned "));
    pruned.map(str::to_owned).collect()
}

/// The calls whose results the last request left out.
fn cleared(f: &Fixture) -> Vec<String> {
    let messages = compact::messages(&f.model.last_request());
    let cleared = messages.iter().filter_map(|message| {
        let result = message.strip_prefix("tool: ")?;
        result.strip_suffix(&format!(" = {CLEARED}"))
    });
    cleared.map(str::to_owned).collect()
}

#[tokio::test]
async fn old_output_is_pruned_in_one_batch_when_an_activity_ends_and_stays_readable() {
    let (f, session) = open().await;
    called(&f, &session, &["flood"; 8]).await;
    answer(&f, &session, "One").await;
    // The output belongs to the last two turns.
    assert_eq!(pruned(&f, &session).await, [""; 0]);
    answer(&f, &session, "Two").await;
    let calls = "flood0 flood1 flood2 flood3 flood4";
    assert_eq!(pruned(&f, &session).await, [calls]);
    assert_eq!(
        f.events(&session).await[f.events(&session).await.len() - 2..],
        ["step.ended stop".to_owned(), format!("pruned {calls}")]
    );
    // The request before the pruning still contains the output.
    assert_eq!(cleared(&f), [""; 0]);
    answer(&f, &session, "Three").await;
    assert_eq!(cleared(&f).join(" "), calls);
    assert_eq!(pruned(&f, &session).await.len(), 1);
    let SessionMessage::Assistant(answer) = f.messages(&session).await.remove(1) else {
        panic!("the model has answered");
    };
    for part in &answer.content {
        let AssistantPart::Tool {
            id, state, time, ..
        } = part
        else {
            continue;
        };
        let ToolState::Completed { structured, .. } = &**state else {
            panic!("{id} is completed");
        };
        assert_eq!(structured["text"].as_str().map(str::len), Some(40_000));
        assert_eq!(time.pruned.is_some(), calls.contains(id.as_str()), "{id}");
    }
}

#[tokio::test]
async fn skills_failures_and_hosted_results_are_kept() {
    let (f, session) = open().await;
    let much = ToolResultValue::Json(json!({"text": "x".repeat(400_000)}));
    let hosted = Reply::new()
        .hosted_call("h1", "web_search", json!({}))
        .hosted_result("h1", "web_search", much, None);
    f.model.reply(hosted.stop());
    f.ask(&session, "Search").await;
    called(
        &f,
        &session,
        &["skill", "broken", "skill", "broken", "skill", "broken"],
    )
    .await;
    called(
        &f,
        &session,
        &["flood", "skill", "flood", "broken", "flood"],
    )
    .await;
    called(&f, &session, &["flood"; 4]).await;
    for text in ["One", "Two", "Three"] {
        answer(&f, &session, text).await;
    }
    assert_eq!(pruned(&f, &session).await, ["flood0 flood2 flood4 flood0"]);
    assert_eq!(cleared(&f), ["flood0", "flood2", "flood4", "flood0"]);
}

#[tokio::test]
async fn little_output_is_not_pruned_until_there_is_more() {
    let (f, session) = open().await;
    called(&f, &session, &["flood"; 4]).await;
    for text in ["One", "Two", "Three"] {
        answer(&f, &session, text).await;
    }
    assert_eq!(pruned(&f, &session).await, [""; 0]);
    called(&f, &session, &["flood"; 1]).await;
    for text in ["Four", "Five", "Six", "Seven"] {
        answer(&f, &session, text).await;
    }
    assert_eq!(pruned(&f, &session).await, ["flood0 flood1"]);
    assert_eq!(cleared(&f), ["flood0", "flood1"]);
}

#[tokio::test]
async fn configuration_switches_it_off() {
    let f = Fixture::open().await;
    let config = json!({"compaction": {"prune": false}});
    f.project.write("opencode.json", &config.to_string());
    prepare(&f);
    let session = f.session().await;
    called(&f, &session, &["flood"; 8]).await;
    for text in ["One", "Two", "Three"] {
        answer(&f, &session, text).await;
    }
    assert_eq!(pruned(&f, &session).await, [""; 0]);
    assert_eq!(cleared(&f), [""; 0]);
}

#[tokio::test]
async fn pruned_output_is_also_pruned_in_imported_sessions() {
    let (mut f, session) = open().await;
    called(&f, &session, &["flood"; 8]).await;
    for text in ["One", "Two"] {
        answer(&f, &session, text).await;
    }
    let exported = f.export(&session).await;
    let other = elsewhere().await;
    prepare(&other);
    other.import(&exported).await.unwrap();
    assert_eq!(other.export(&session).await, exported);
    assert_eq!(other.messages(&session).await, f.messages(&session).await);
    f.reopen().await;
    for host in [&f, &other] {
        answer(host, &session, "Three").await;
        assert_eq!(
            cleared(host),
            ["flood0", "flood1", "flood2", "flood3", "flood4"]
        );
    }
}
