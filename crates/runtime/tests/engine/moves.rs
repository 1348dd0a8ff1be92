//! Sessions that move to another directory of their project.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencode_llm::LlmRequest;
use opencode_runtime::{Moment, RuntimeError, TestHook};
use opencode_schema::id::{SessionID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Blockade, Fixture, Gate, Reply, compact, output, test_hook};
use serde_json::json;

use crate::{flow, holds};

/// A repository with two folders.
async fn repository() -> Fixture {
    let f = Fixture::open().await;
    f.project.write("one/a.txt", "a");
    f.project.write("two/deep/b.txt", "b");
    f.project.git();
    f
}

fn folder(f: &Fixture, below: &str) -> String {
    f.project.path(below).to_string_lossy().into_owned()
}

/// The working directory in the System Context of a request.
fn place(request: &LlmRequest) -> &str {
    let text = &request.system.last().unwrap().text;
    let line = text.lines().find(|it| it.contains("Working directory"));
    let (_, directory) = line.unwrap().split_once(": ").unwrap();
    directory
}

#[tokio::test]
async fn an_idle_session_moves_and_its_next_turn_has_the_context_of_the_new_location() {
    let f = repository().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Hello."));
    f.ask(&session, "Here").await;
    f.clock.advance(5000);
    let before = f.info(&session).await;
    let deep = folder(&f, "two/deep");
    // The path is normalised.
    let moved = f.move_to(&session, folder(&f, "two/./deep/")).await;
    let mut expected = before.clone();
    expected.location.directory = deep.clone();
    expected.subpath = Some("two/deep".into());
    expected.time.updated = before.time.updated + 5000;
    assert_eq!(moved, expected);
    assert_eq!(f.info(&session).await, expected);
    let payload = json!({"location": {"directory": deep}, "subdirectory": "two/deep"});
    assert_eq!(f.payloads(&session, "moved").await, [payload]);
    f.ask(&session, "There").await;
    assert_eq!(
        f.events_after(&session, 6).await,
        [
            &format!("moved {deep} two/deep"),
            "prompt.admitted There",
            "prompted There",
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
    let requests = f.model.requests();
    let places: Vec<_> = requests.iter().map(place).collect();
    assert_eq!(places, [&f.project.directory(), &deep]);
    assert_eq!(
        compact::messages(&requests[1]),
        ["user: Here", "assistant: Hello.", "user: There"]
    );
    // At the root of the project there is no subpath.
    let back = f.move_to(&session, f.project.directory()).await;
    assert_eq!(back.location, before.location);
    assert_eq!(back.subpath, None);
    let payload = json!({"location": {"directory": f.project.directory()}});
    assert_eq!(f.payloads(&session, "moved").await[1], payload);
}

#[tokio::test]
async fn a_move_to_the_same_location_records_nothing() {
    let f = repository().await;
    let session = f.session().await;
    let before = f.info(&session).await;
    f.clock.advance(5000);
    assert_eq!(f.move_to(&session, f.project.directory()).await, before);
    let roundabout = format!("{}/one/..", f.project.directory());
    assert_eq!(f.move_to(&session, roundabout).await, before);
    assert_eq!(f.events(&session).await, [""; 0]);
}

#[tokio::test]
async fn another_workspace_is_another_location() {
    let f = repository().await;
    let session = f.session().await;
    let location = LocationRef {
        directory: f.project.directory(),
        workspace_id: WorkspaceID::parse("wrk_1").ok(),
    };
    let moved = f.runtime().move_session(&session, location.clone()).await;
    assert_eq!(moved.unwrap().location, location);
    let back = f.move_to(&session, f.project.directory()).await;
    assert_eq!(back.location.workspace_id, None);
    assert_eq!(f.events(&session).await.len(), 2);
}

#[tokio::test]
async fn a_session_stays_in_its_project() {
    let f = repository().await;
    let session = f.session().await;
    let project = f.info(&session).await.project_id;
    let outside = f.project.root().join("home");
    let outside = outside.to_string_lossy();
    let refused = f
        .runtime()
        .move_session(
            &session,
            LocationRef {
                directory: outside.clone().into_owned(),
                workspace_id: None,
            },
        )
        .await;
    assert!(
        matches!(
            &refused,
            Err(RuntimeError::OtherProject { directory, found, project: it })
                if *directory == outside && found == "global" && *it == project
        ),
        "{refused:?}"
    );
    let location = |directory: &str| LocationRef {
        directory: directory.into(),
        workspace_id: None,
    };
    let relative = f.runtime().move_session(&session, location("one")).await;
    assert!(
        matches!(relative, Err(RuntimeError::Location(_))),
        "{relative:?}"
    );
    let unknown_session = SessionID::parse("ses_nope").unwrap();
    let unknown = f
        .runtime()
        .move_session(&unknown_session, location("/"))
        .await;
    assert!(
        matches!(&unknown, Err(RuntimeError::SessionNotFound(it)) if *it == unknown_session),
        "{unknown:?}"
    );
    assert_eq!(f.events(&session).await, [""; 0]);
}

#[tokio::test]
async fn a_move_wakes_no_session() {
    let f = repository().await;
    let session = f.session().await;
    f.leave(&session, "Hi", Delivery::Steer).await;
    f.move_to(&session, folder(&f, "one")).await;
    assert_eq!(f.runtime().active(), []);
    assert_eq!(f.inbox(&session).await, ["Hi"]);
}

#[tokio::test]
async fn a_running_activity_continues_at_the_new_location_after_its_turn() {
    let f = repository().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    f.model
        .reply(Reply::calls("c1", "slow", json!({})))
        .reply(Reply::says("Done."))
        .reply(Reply::says("Later done."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.queue(&session, "Later").await;
    let one = folder(&f, "one");
    f.move_to(&session, &one).await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 6).await,
        [
            "prompt.admitted Later (queue)",
            &format!("moved {one} one"),
            "tool.success c1 {}",
            "step.ended tool-calls",
            // A due continuation comes before queued input, as in any activity.
            "step.started",
            "text.started",
            "text.ended Done.",
            "step.ended stop",
            "prompted Later (queue)",
            "step.started",
            "text.started",
            "text.ended Later done.",
            "step.ended stop",
        ]
    );
    let requests = f.model.requests();
    let places: Vec<_> = requests.iter().map(place).collect();
    assert_eq!(places, [&f.project.directory(), &one, &one]);
    assert_eq!(
        compact::messages(&requests[1]),
        ["user: Go", "assistant: c1 slow{}", "tool: c1 = {}"]
    );
}

#[tokio::test]
async fn pending_inputs_run_at_the_new_location_after_the_turn() {
    let f = repository().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("Working.").hold(&gate).stop())
        .reply(Reply::says("Steered."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    // The input does not wake the session.
    f.leave(&session, "Steer", Delivery::Steer).await;
    let one = folder(&f, "one");
    f.move_to(&session, &one).await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        flow(&f.events(&session).await),
        [
            "prompted Go",
            "step.started",
            "prompted Steer",
            "step.started"
        ]
    );
    assert_eq!(place(&f.model.last_request()), one);
}

#[tokio::test]
async fn a_drain_that_starts_during_a_move_works_at_the_new_location() {
    let f = repository().await;
    let session = f.session().await;
    f.leave(&session, "Hi", Delivery::Steer).await;
    let one = folder(&f, "one");
    // The writer is held in the move, and the drain waits behind it.
    let hold = f.clock.hold_writer(0);
    f.model.reply(Reply::says("Hello."));
    let moves = f.move_to(&session, &one);
    let runs = async {
        f.writer_held(&hold).await;
        f.resume(&session).await;
        // Each read goes to the disk and back. Together they take longer than the drain needs to
        // reach the writer.
        for _ in 0..20 {
            f.events(&session).await;
        }
        drop(hold);
    };
    tokio::join!(moves, runs);
    f.wait(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Hi",
            &format!("moved {one} one"),
            "prompted Hi",
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
    assert_eq!(f.model.requests().len(), 1);
    assert_eq!(place(&f.model.last_request()), one);
}

/// Holds the first read after the end of a step at one blockade, and the commit of a move at the other.
fn held(read: Blockade, commit: Blockade) -> Arc<dyn TestHook> {
    let has_ended = AtomicBool::new(false);
    test_hook(move |moment| {
        match moment {
            Moment::Committed(entries) if holds(entries, "session.next.step.ended") => {
                has_ended.store(true, Ordering::SeqCst);
            }
            Moment::Read if has_ended.swap(false, Ordering::SeqCst) => read.pass(),
            Moment::Commit(entries) if holds(entries, "session.next.moved") => commit.pass(),
            _ => {}
        }
        Ok(())
    })
}

#[tokio::test]
async fn nothing_is_written_for_a_location_that_the_session_has_left() {
    let (read, commit) = (Blockade::new(), Blockade::new());
    let test_hook = held(read.clone(), commit.clone());
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    f.project.write("one/a.txt", "a");
    f.project.git();
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) });
    f.model
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    // The drain is about to read the session for its second turn.
    f.blocked(&read).await;
    let one = folder(&f, "one");
    let moves = f.move_to(&session, &one);
    let goes_on = async {
        f.blocked(&commit).await;
        // The drain reads the former Location, but its decision is written after the move.
        read.release();
        for _ in 0..20 {
            f.info(&session).await;
        }
        commit.release();
    };
    tokio::join!(moves, goes_on);
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 6).await,
        [
            "tool.success c1 {}",
            "step.ended tool-calls",
            &format!("moved {one} one"),
            "step.started",
            "text.started",
            "text.ended Done.",
            "step.ended stop",
        ]
    );
    let requests = f.model.requests();
    let places: Vec<_> = requests.iter().map(place).collect();
    assert_eq!(places, [&f.project.directory(), &one]);
}

#[tokio::test]
async fn the_turns_before_a_move_count() {
    let f = repository().await;
    f.allow_repetition();
    let session = f.session().await;
    let gate = Gate::new();
    f.held_tool("slow", &gate)
        .tool("echo", |input, _| async { output(input) });
    f.model.reply(Reply::calls("c0", "slow", json!({})));
    f.model.otherwise(|request| {
        let calls = request.messages.len();
        Reply::calls(&format!("c{calls}"), "echo", json!({}))
    });
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.move_to(&session, folder(&f, "one")).await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 25);
}
