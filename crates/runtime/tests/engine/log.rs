//! The log entries of sessions: every failure after which the engine continues, with its session
//! and Location.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use opencode_llm::LlmError;
use opencode_log::{Entry, Level};
use opencode_runtime::{Fault, Moment, Recovery, UpdateSession};
use opencode_schema::id::SessionID;
use opencode_schema::session::SessionBudget;
use opencode_testkit::{Blockade, Fixture, Gate, RecordedLog, Reply, output, test_hook};
use serde_json::json;

use crate::holds;

/// Asserts that an entry belongs to this session and this directory.
#[track_caller]
fn is_about(entry: &Entry, session: &SessionID, directory: &str) {
    assert_eq!(
        entry.session_id.as_deref(),
        Some(session.as_str()),
        "{entry:?}"
    );
    let location = entry.location.as_ref();
    let found = location.map(|location| location.directory.as_str());
    assert_eq!(found, Some(directory), "{entry:?}");
}

fn kind(entry: &Entry) -> (Level, &str) {
    (entry.level, &entry.target)
}

fn refused() -> Reply {
    Reply::fails(LlmError::invalid_request("it does not say what"))
}

#[tokio::test]
async fn a_failed_drain_is_an_entry_with_its_session_and_current_location() {
    let mut log = RecordedLog::begin();
    let f = Fixture::open().await;
    f.project.write("two/b.txt", "");
    f.project.git();
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    let two = f.project.path("two").to_string_lossy().into_owned();
    f.move_to(&session, &two).await;
    f.model.reply(refused());
    f.ask(&session, "Go on").await;
    let entry = log.find("the Session Drain failed").await;
    assert_eq!(kind(&entry), (Level::Warn, "opencode::runtime"));
    assert_eq!(entry.fields["tag"], "ProviderFailed");
    is_about(&entry, &session, &two);
}

#[tokio::test]
async fn a_panic_in_a_drain_or_in_a_tool_is_an_error() {
    let mut log = RecordedLog::begin();
    let f = Fixture::open().await;
    let directory = f.project.directory();
    let session = f.session().await;
    f.tool("broken", |_, _| async { panic!("out of order") });
    let gate = Gate::new();
    f.model
        .reply(Reply::calls("c1", "broken", json!({})))
        .reply(Reply::new().hold(&gate).text("Never."));
    f.prompt(&session, "Go").await;
    let entry = log.find("a tool panicked").await;
    assert_eq!(kind(&entry), (Level::Error, "opencode::tools"));
    assert_eq!(entry.fields["panic"], "out of order");
    is_about(&entry, &session, &directory);
    f.reached(&gate).await;
    f.clock.panic_once();
    gate.release();
    f.wait(&session).await;
    let entry = log.find("the Session Drain failed").await;
    assert_eq!(kind(&entry), (Level::Error, "opencode::runtime"));
    assert_eq!(entry.fields["tag"], "Internal");
    is_about(&entry, &session, &directory);
}

#[tokio::test]
async fn the_entries_of_a_child_name_the_child() {
    let mut log = RecordedLog::begin();
    let f = Fixture::open().await;
    let tools = opencode_testkit::built_in_tools();
    f.register(
        tools
            .into_iter()
            .filter(|(name, _)| name == "task")
            .collect(),
    );
    let session = f.session().await;
    let task = json!({"description": "Look", "prompt": "Look", "agent": "general"});
    f.model
        .reply(Reply::calls("c0", "task", task))
        .reply(refused())
        .reply(Reply::says("Then not."));
    f.ask(&session, "Go").await;
    let children = f.runtime().children(&session).await.unwrap();
    let entry = log.find("the Session Drain failed").await;
    is_about(&entry, &children[0].id, &f.project.directory());
}

#[tokio::test]
async fn a_pause_is_information_and_no_failure() {
    let mut log = RecordedLog::begin();
    let f = Fixture::open().await;
    let session = f.session().await;
    let budget = SessionBudget {
        turns: Some(1),
        tokens: None,
        cost: None,
        duration_ms: None,
    };
    let request = UpdateSession {
        budget: Some(budget),
        ..UpdateSession::default()
    };
    f.runtime().update_session(&session, request).await.unwrap();
    f.model
        .reply(Reply::calls("c0", "glob", json!({"pattern": "*"})));
    f.prompt(&session, "Go").await;
    f.wait(&session).await;
    let entry = log.find("the Session Drain paused").await;
    assert_eq!(kind(&entry), (Level::Info, "opencode::runtime"));
    assert_eq!(entry.fields["tag"], "BudgetUsedUp");
    is_about(&entry, &session, &f.project.directory());
}

#[tokio::test]
async fn a_database_failure_is_an_error_with_the_affected_sessions() {
    let mut log = RecordedLog::begin();
    let full = test_hook(|moment| match moment {
        Moment::Commit(entries) if holds(entries, "session.next.step.started") => Err(Fault::Full),
        _ => Ok(()),
    });
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&full))).await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    let entry = log.find("the database failed").await;
    assert_eq!(kind(&entry), (Level::Error, "opencode::store"));
    assert!(entry.fields["reason"].is_string(), "{entry:?}");
    let entry = log.find("the Session Drain failed").await;
    assert_eq!(entry.fields["tag"], "StoreFailed");
    is_about(&entry, &session, &f.project.directory());
}

#[tokio::test]
async fn recovery_logs_the_sessions_that_it_resumes_and_those_that_it_skips() {
    let mut log = RecordedLog::begin();
    let mut f = Fixture::open().await;
    let session = f.session().await;
    let gate = Gate::new();
    f.model.reply(Reply::nothing().hold(&gate));
    f.prompt(&session, "Hi").await;
    f.reached(&gate).await;
    f.change(|options| options.recovery = Recovery::Resume);
    for attempt in 1..=3 {
        let gate = Gate::new();
        f.model.reply(Reply::nothing().hold(&gate));
        f.kill().await;
        f.reached(&gate).await;
        let entry = log.find("an interrupted session is resumed").await;
        assert_eq!(kind(&entry), (Level::Info, "opencode::runtime"));
        assert_eq!(entry.session_id.as_deref(), Some(session.as_str()));
        assert_eq!(entry.fields["attempt"], attempt);
        log.forget();
    }
    f.kill().await;
    let entry = log.find("an interrupted session is left alone").await;
    assert_eq!(kind(&entry), (Level::Warn, "opencode::runtime"));
    assert_eq!(entry.fields["attempts"], 3);
    is_about(&entry, &session, &f.project.directory());
}

#[tokio::test]
async fn a_recovery_that_cannot_read_is_an_error() {
    let mut log = RecordedLog::begin();
    let failing = Arc::new(AtomicBool::new(false));
    let mut f = Fixture::open().await;
    let broken = Arc::clone(&failing);
    f.change(move |options| {
        let broken = Arc::clone(&broken);
        options.recovery = Recovery::Resume;
        options.test_hook = Some(test_hook(move |moment| match moment {
            Moment::Read if broken.load(Ordering::SeqCst) => Err(Fault::Full),
            _ => Ok(()),
        }));
    });
    failing.store(true, Ordering::SeqCst);
    f.reopen().await;
    let entry = log.find("interrupted sessions cannot be found").await;
    assert_eq!(kind(&entry), (Level::Error, "opencode::runtime"));
    failing.store(false, Ordering::SeqCst);
}

#[tokio::test]
async fn a_failed_compaction_is_an_entry_with_its_session() {
    let mut log = RecordedLog::begin();
    let f = Fixture::open().await;
    let config = json!({"compaction": {"keep": {"tokens": 4}}});
    f.project.write("opencode.json", &config.to_string());
    let session = f.session().await;
    f.model.reply(Reply::says("A long enough answer"));
    f.ask(&session, "Hi").await;
    f.model.reply(Reply::says(" "));
    f.runtime().compact(&session).await.unwrap_err();
    let message =
        format!("The history of {session} was not compacted: the model answered with nothing");
    let entry = log.find(&message).await;
    assert_eq!(kind(&entry), (Level::Warn, "opencode::runtime"));
    is_about(&entry, &session, &f.project.directory());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_ignores_its_interruption_is_a_warning() {
    let mut log = RecordedLog::begin();
    let f = Fixture::open().await;
    let session = f.session().await;
    let begun = Gate::new();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (begins, ends) = (begun.clone(), Arc::new(Mutex::new(released)));
    f.tool("deaf", move |input, _| {
        let (begins, ends) = (begins.clone(), Arc::clone(&ends));
        async move {
            begins.come();
            // The tool blocks its thread, like a long computation.
            let _ = ends.lock().unwrap().recv();
            output(input)
        }
    });
    f.model.reply(Reply::calls("c1", "deaf", json!({})));
    f.prompt(&session, "Go").await;
    f.reached(&begun).await;
    f.interrupt(&session).await;
    let entry = log.find("an interrupted tool was abandoned").await;
    assert_eq!(kind(&entry), (Level::Warn, "opencode::tools"));
    assert_eq!(entry.fields["tool"], "deaf");
    is_about(&entry, &session, &f.project.directory());
    drop(release);
}

#[tokio::test]
async fn drains_that_do_not_end_before_closing_are_an_error() {
    let mut log = RecordedLog::begin();
    let blockade = Blockade::new();
    let held = blockade.clone();
    let test_hook = test_hook(move |moment| {
        if let Moment::Commit(entries) = moment
            && holds(entries, "session.next.step.started")
        {
            held.pass();
        }
        Ok(())
    });
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.prompt(&session, "Go").await;
    f.blocked(&blockade).await;
    tokio::time::pause();
    let runtime = f.runtime().clone();
    let closing = opencode_log::spawn(async move { runtime.close().await });
    let message =
        "some Session Drains or tools did not end in time; the next host settles what they left";
    let entry = log.find(message).await;
    assert_eq!(kind(&entry), (Level::Error, "opencode::runtime"));
    blockade.release();
    closing.await.unwrap();
}

#[tokio::test]
async fn outputs_that_cannot_be_swept_are_a_warning() {
    let mut log = RecordedLog::begin();
    let mut f = Fixture::open().await;
    let outputs = f.project.root().join("data/tool-output");
    std::fs::write(&outputs, "in the way").unwrap();
    f.reopen().await;
    let message = "Managed Tool Output Files are not swept";
    let entry = log.find(message).await;
    assert_eq!(kind(&entry), (Level::Warn, "opencode::runtime"));
    assert_eq!(
        entry.fields["directory"],
        outputs.to_string_lossy().as_ref()
    );
}
