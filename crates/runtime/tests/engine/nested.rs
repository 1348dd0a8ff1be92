//! Instructions in the folders of the files that a session reads.

use std::sync::Arc;

use opencode_location::location::{Locations, Trust};
use opencode_runtime::{Moment, RuntimeOptions};
use opencode_schema::id::SessionID;
use opencode_testkit::{Blockade, Fixture, Gate, Reply, built_in_tools, compact, test_hook};
use serde_json::json;

use crate::holds;

/// A repository with instructions in folders, and the built-in tools.
async fn with(change: impl Fn(&mut RuntimeOptions) + Send + Sync + 'static) -> Fixture {
    let f = Fixture::with(change).await;
    for folder in ["", "src/", "src/deep/", "docs/"] {
        let name = format!("{folder}AGENTS.md");
        f.project.write(&name, &format!("Rules of /{folder}."));
    }
    for file in ["a.txt", "src/deep/b.txt", "docs/c.txt", "plain/d.txt"] {
        f.project.write(file, "text");
    }
    f.project.git();
    f.register(built_in_tools());
    f
}

async fn repository() -> Fixture {
    with(|_| {}).await
}

/// A turn that reads a file, and the turn after it.
async fn reads(f: &Fixture, session: &SessionID, path: &str) {
    f.model
        .reply(Reply::calls("c1", "read", json!({"path": path})))
        .reply(Reply::says("Yes."));
    f.ask(session, path).await;
}

/// The folders whose rules are in the newest update of a session, in its order. Empty if the update
/// says that there are no rules, or without any update.
async fn stated(f: &Fixture, session: &SessionID) -> Vec<String> {
    let payloads = f.payloads(session, "context.updated").await;
    let Some(newest) = payloads.last() else {
        return Vec::new();
    };
    let text = newest["text"].as_str().unwrap();
    let rules = text.split("Rules of ").skip(1);
    rules
        .map(|rest| rest.split_once('.').unwrap().0.to_owned())
        .collect()
}

async fn count(f: &Fixture, session: &SessionID) -> usize {
    f.payloads(session, "context.updated").await.len()
}

#[tokio::test]
async fn a_read_adds_the_instructions_between_the_project_and_the_file() {
    let f = repository().await;
    let session = f.session().await;
    for (path, expected, updates) in [
        // The instructions of the Location itself are part of the baseline.
        ("a.txt", &[][..], 0),
        ("plain/d.txt", &[], 0),
        // Listing a directory and failed reads do not count.
        ("docs", &[], 0),
        ("docs/missing.txt", &[], 0),
        ("src/deep/b.txt", &["/src/", "/src/deep/"], 1),
        ("src/deep/b.txt", &["/src/", "/src/deep/"], 1),
        ("docs/c.txt", &["/docs/", "/src/", "/src/deep/"], 2),
    ] {
        reads(&f, &session, path).await;
        assert_eq!(stated(&f, &session).await, expected, "{path}");
        assert_eq!(count(&f, &session).await, updates, "{path}");
    }
    // The update follows the result that caused it, before the next request.
    let events = f.events(&session).await;
    let at = events
        .iter()
        .position(|it| it.starts_with("context.updated"))
        .unwrap();
    assert_eq!(events[at - 1], "step.ended tool-calls");
    assert_eq!(events[at + 1], "step.started");
}

#[tokio::test]
async fn they_are_observed_again_before_every_turn() {
    let f = repository().await;
    let session = f.session().await;
    reads(&f, &session, "src/deep/b.txt").await;
    f.model.otherwise(|_| Reply::says("Yes."));
    f.project.write("src/AGENTS.md", "Rules of /new/.");
    f.ask(&session, "1").await;
    assert_eq!(stated(&f, &session).await, ["/new/", "/src/deep/"]);
    for file in ["src/AGENTS.md", "src/deep/AGENTS.md"] {
        std::fs::remove_file(f.project.path(file)).unwrap();
    }
    f.ask(&session, "2").await;
    assert_eq!(
        (stated(&f, &session).await, count(&f, &session).await),
        (vec![], 3)
    );
    f.project.write("src/AGENTS.md", "Rules of /src/.");
    f.ask(&session, "3").await;
    assert_eq!(stated(&f, &session).await, ["/src/"]);
    // If instructions cannot be read, the last update stays valid.
    std::fs::remove_file(f.project.path("src/AGENTS.md")).unwrap();
    std::fs::create_dir(f.project.path("src/AGENTS.md")).unwrap();
    f.ask(&session, "4").await;
    assert_eq!(count(&f, &session).await, 4);
}

#[tokio::test]
async fn they_are_kept_if_the_process_dies_between_the_result_and_the_next_turn() {
    let blockade = Blockade::new();
    let held = blockade.clone();
    let test_hook = test_hook(move |moment| {
        if let Moment::Committed(entries) = moment
            && holds(entries, "session.next.tool.success")
        {
            held.pass();
        }
        Ok(())
    });
    let mut f = with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    let session = f.session().await;
    f.model
        .reply(Reply::calls("c1", "read", json!({"path": "docs/c.txt"})));
    f.prompt(&session, "Go").await;
    f.blocked(&blockade).await;
    f.change(|_| {});
    f.kill().await;
    f.model.reply(Reply::says("Yes."));
    f.run(&session).await;
    assert_eq!(stated(&f, &session).await, ["/docs/"]);
    blockade.release();
}

#[tokio::test]
async fn another_process_uses_them_and_a_move_removes_them() {
    let mut f = repository().await;
    let session = f.session().await;
    reads(&f, &session, "docs/c.txt").await;
    f.reopen().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    f.ask(&session, "1").await;
    assert_eq!(count(&f, &session).await, 1);
    let plain = f.project.path("plain").to_string_lossy().into_owned();
    f.move_to(&session, &plain).await;
    f.move_to(&session, f.project.directory()).await;
    f.ask(&session, "2").await;
    let request = f.model.last_request();
    let baseline = &request.system.last().unwrap().text;
    assert!(baseline.contains("Rules of /.") && !baseline.contains("Rules of /docs/."));
    assert_eq!(count(&f, &session).await, 1);
    assert_eq!(
        compact::messages(&request).last().map(String::as_str),
        Some("user: 2")
    );
}

#[tokio::test]
async fn a_read_during_a_move_adds_none() {
    let blockade = Blockade::new();
    let held = blockade.clone();
    // The settlement waits behind the move.
    let test_hook = test_hook(move |moment| {
        if let Moment::Commit(entries) = moment
            && holds(entries, "session.next.moved")
        {
            held.pass();
        }
        Ok(())
    });
    let f = with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    let session = f.session().await;
    let gate = Gate::new();
    let calls = Reply::new()
        .hold(&gate)
        .call("c1", "read", json!({"path": "docs/c.txt"}))
        .tool_calls();
    f.model
        .reply(calls.in_one_piece())
        .reply(Reply::says("Yes."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    let src = f.project.path("src").to_string_lossy().into_owned();
    let moves = f.move_to(&session, &src);
    let goes_on = async {
        f.blocked(&blockade).await;
        gate.release();
        blockade.release();
    };
    tokio::join!(moves, goes_on);
    f.wait(&session).await;
    // Otherwise the next turn would look for `docs` in the new Location.
    f.project.write("src/docs/AGENTS.md", "Rules of /wrong/.");
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "1").await;
    assert_eq!(count(&f, &session).await, 0);
}

#[tokio::test]
async fn untrusted_projects_add_none() {
    let f = with(|options| {
        let mut environment = (**options.locations.environment()).clone();
        let name = "OPENCODE_DISABLE_PROJECT_CONFIG".to_owned();
        environment.variables.insert(name, "1".to_owned());
        let config = json!({
            "model": "mock/m1",
            "provider": {"mock": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "test"},
                "models": {"m1": {}},
            }},
        });
        options.locations =
            Arc::new(Locations::new(Arc::new(environment), Some(config)).with_trust(Trust::Always));
    })
    .await;
    let session = f.session().await;
    reads(&f, &session, "src/deep/b.txt").await;
    assert_eq!(count(&f, &session).await, 0);
}
