//! Sessions that are exported from one host and imported into another.

use opencode_llm::ToolResultValue;
use opencode_runtime::{ImportError, Imported, ReplayConflict, RuntimeError};
use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_schema::session::{SessionImport, SessionInfo};
use opencode_testkit::{Fixture, Gate, Reply, compact, output};
use opencode_tools::ToolFailure;
use serde_json::{Value, json};

use crate::flow;

/// Another host at a later time, so that its identifiers differ from all earlier ones.
pub(crate) async fn elsewhere() -> Fixture {
    let f = Fixture::open().await;
    f.clock.advance(3_600_000);
    f
}

/// A session with every kind of event.
async fn eventful(f: &Fixture) -> SessionID {
    f.project.write("sub/a.txt", "a");
    f.project.git();
    let session = f.session().await;
    f.tool("echo", |input, _| async { output(input) })
        .tool("broken", |_, _| async {
            Err(ToolFailure::new("no such thing"))
        });
    let gate = Gate::new();
    let calls = Reply::new()
        .reasoning("Hm.", None)
        .text("Let me see: \"\u{e4}\u{0}\"\n")
        .call(
            "c1",
            "echo",
            json!({"deep": {"z": 1, "a": [1.5, null, "x"]}}),
        )
        .call("c2", "broken", json!({}))
        .hold(&gate)
        .tool_calls();
    f.model.reply(calls);
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    f.prompt(&session, "Steer").await;
    f.queue(&session, "Queued").await;
    let hosted = Reply::new()
        .hosted_call("h1", "web_search", json!({"query": "x"}))
        .hosted_result("h1", "web_search", ToolResultValue::Text("y".into()), None)
        .stop();
    f.model.reply(hosted).reply(Reply::says("Queued done."));
    gate.release();
    f.wait(&session).await;
    f.clock.advance(1000);
    f.switch_model(&session, "m2").await;
    let runtime = f.runtime();
    runtime.switch_agent(&session, "plan".into()).await.unwrap();
    f.move_to(&session, f.project.path("sub").to_string_lossy())
        .await;
    let failure = opencode_llm::LlmError::invalid_request("no");
    f.model.reply(Reply::fails(failure));
    f.ask(&session, "Fail").await;
    f.clock.advance(1000);
    let withdrawn = f.leave(&session, "Never", Delivery::Steer).await;
    f.leave(&session, "Waits", Delivery::Steer).await;
    let later = f.leave(&session, "Sooner", Delivery::Queue).await;
    let last = f.leave(&session, "Later", Delivery::Queue).await;
    f.withdraw(&withdrawn).await;
    let silence = Gate::new();
    f.model.reply(Reply::nothing().hold(&silence));
    f.set_delivery(&later, Delivery::Steer).await;
    f.reached(&silence).await;
    f.interrupt(&session).await;
    f.withdraw(&last).await;
    session
}

#[tokio::test]
async fn a_recorded_session_is_identical_after_every_replay() {
    let f = Fixture::open().await;
    let session = eventful(&f).await;
    let lines = f.export(&session).await;
    let g = elsewhere().await;
    let mut live = g.live();
    let imported = g.import(&lines).await.unwrap();
    let info = f.info(&session).await;
    let info = SessionInfo {
        imported: Some(SessionImport::default()),
        ..info
    };
    let expected = Imported {
        session: info.clone(),
        applied: lines.len() as u64 - 1,
        skipped: 0,
    };
    assert_eq!(imported, expected);
    assert_eq!(g.info(&session).await, info);
    assert_eq!(g.stored(&session).await, f.stored(&session).await);
    let text = |messages: Vec<_>| serde_json::to_string(&messages).unwrap();
    assert_eq!(
        text(g.messages(&session).await),
        text(f.messages(&session).await)
    );
    assert_eq!(
        g.runtime().inbox(&session).await.unwrap(),
        f.runtime().inbox(&session).await.unwrap()
    );
    assert_eq!(g.export(&session).await, lines);
    // The import starts no drain, and no event is announced live.
    assert_eq!(g.runtime().active(), []);
    g.close().await;
    g.read_to_end(&mut live).await;
    assert_eq!(live.events(), ["global.disposed"]);
}

#[tokio::test]
async fn an_export_has_a_line_about_the_session_and_a_line_per_event() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi \"you\"").await;
    let lines = f.export(&session).await;
    let header = json!({
        "format": "opencode-session",
        "version": 1,
        "session": f.info(&session).await,
    });
    assert_eq!(lines[0], header.to_string());
    let entries: Vec<Value> = lines[1..]
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<_> = entries
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "session.created.1",
            "session.next.prompt.admitted.1",
            "session.next.prompted.1",
            "session.next.step.started.1",
            "session.next.text.started.1",
            "session.next.text.ended.1",
            "session.next.step.ended.2",
        ]
    );
    let seqs: Vec<_> = entries.iter().map(|it| it["seq"].as_u64()).collect();
    assert_eq!(seqs, (0..7).map(Some).collect::<Vec<_>>());
    let stored = &f.stored(&session).await[0];
    let id = &stored.id;
    let time = stored.timestamp;
    let message = f.payloads(&session, "prompt.admitted").await[0]["messageID"].clone();
    assert_eq!(
        lines[2],
        format!(
            r#"{{"id":"{id}","type":"session.next.prompt.admitted.1","seq":1,"data":{{"timestamp":{time},"sessionID":"{session}","messageID":{message},"prompt":{{"text":"Hi \"you\""}},"delivery":"steer"}}}}"#
        )
    );
    assert_eq!(entries[0]["data"]["sessionID"], json!(session));
    assert_eq!(entries[0]["data"]["info"]["id"], json!(session));
}

#[tokio::test]
async fn an_export_ends_at_its_start_time() {
    let f = Fixture::open().await;
    let session = f.session().await;
    for n in 0..600 {
        f.leave(&session, &n.to_string(), Delivery::Steer).await;
    }
    let before = f.export(&session).await;
    assert_eq!(before.len(), 602);
    let mut export = f.runtime().export(&session).await.unwrap();
    let mut lines = export.next().await.unwrap().unwrap();
    f.leave(&session, "Too late", Delivery::Steer).await;
    while let Some(more) = f.within("export", export.next()).await.unwrap() {
        lines.extend(more);
    }
    assert_eq!(lines, before);
    let unknown_session = SessionID::parse("ses_nope").unwrap();
    let unknown = f.runtime().export(&unknown_session).await.err();
    assert!(
        matches!(&unknown, Some(RuntimeError::SessionNotFound(it)) if *it == unknown_session),
        "{unknown:?}"
    );
}

#[tokio::test]
async fn an_imported_session_continues_from_its_last_state() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    let g = elsewhere().await;
    g.import(&f.export(&session).await).await.unwrap();
    g.model.reply(Reply::says("Here I am."));
    g.prompt(&session, "And now?").await;
    g.wait(&session).await;
    assert_eq!(
        g.events_after(&session, 7).await,
        [
            "prompted And now?",
            "step.started",
            "text.started",
            "text.ended Here I am.",
            "step.ended stop",
        ]
    );
    let request = g.model.last_request();
    assert_eq!(
        compact::messages(&request),
        ["user: Hi", "assistant: Hello.", "user: And now?"]
    );
    // The baseline describes the present environment.
    let baseline = request.system.last().unwrap();
    assert!(baseline.text.contains(&f.project.directory()));
}

#[tokio::test]
async fn stored_events_are_skipped_and_newer_ones_are_applied() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Hello."));
    f.ask(&session, "One").await;
    let first = f.export(&session).await;
    let g = elsewhere().await;
    g.import(&first).await.unwrap();
    let mut tail = g.runtime().events(&session, Some(6.into())).await.unwrap();
    f.clock.advance(1000);
    f.ask(&session, "Two").await;
    let second = f.export(&session).await;
    let counts = |imported: Imported| (imported.applied, imported.skipped);
    assert_eq!(counts(g.import(&second).await.unwrap()), (6, 7));
    let news = g.within("events", tail.next()).await.unwrap();
    let news: Vec<_> = news.iter().map(compact::stored).collect();
    assert_eq!(
        news,
        [
            "prompt.admitted Two",
            "prompted Two",
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
    // Importing the same or an older log again changes nothing.
    assert_eq!(counts(g.import(&second).await.unwrap()), (0, 13));
    assert_eq!(counts(g.import(&first).await.unwrap()), (0, 7));
    assert_eq!(g.export(&session).await, second);
}

#[tokio::test]
async fn two_sessions_with_a_common_start_do_not_mix() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.leave(&session, "Common", Delivery::Steer).await;
    let g = elsewhere().await;
    g.import(&f.export(&session).await).await.unwrap();
    f.leave(&session, "Here", Delivery::Steer).await;
    g.leave(&session, "There", Delivery::Steer).await;
    g.leave(&session, "There, too", Delivery::Steer).await;
    let before = g.export(&session).await;
    let refused = g.import(&f.export(&session).await).await;
    let expected = ImportError::Conflict {
        line: 4,
        conflict: ReplayConflict::Diverged {
            session_id: session.clone(),
            seq: 2,
        },
    };
    assert!(
        matches!(&refused, Err(RuntimeError::Import(it)) if *it == expected),
        "{refused:?}"
    );
    assert_eq!(g.export(&session).await, before);
}

#[tokio::test]
async fn a_running_session_is_not_changed_by_an_import() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Hello."));
    f.ask(&session, "One").await;
    let g = elsewhere().await;
    g.import(&f.export(&session).await).await.unwrap();
    f.clock.advance(1000);
    f.ask(&session, "Two").await;
    let lines = f.export(&session).await;
    let gate = Gate::new();
    g.model.reply(Reply::nothing().hold(&gate));
    g.resume(&session).await;
    g.reached(&gate).await;
    let refused = g.import(&lines).await;
    assert!(
        matches!(&refused, Err(RuntimeError::SessionBusy(it)) if *it == session),
        "{refused:?}"
    );
    g.interrupt(&session).await;
    let imported = g.import(&lines).await.unwrap();
    assert_eq!((imported.applied, imported.skipped), (6, 7));
    assert_eq!(
        flow(&g.events(&session).await),
        [
            "prompted One",
            "step.started",
            "prompted Two",
            "step.started"
        ]
    );
    // Data of this session in the memory of the host is not used.
    g.model.reply(Reply::says("All of it."));
    g.resume(&session).await;
    g.wait(&session).await;
    assert_eq!(
        compact::messages(&g.model.last_request()),
        [
            "user: One",
            "assistant: Hello.",
            "user: Two",
            "assistant: Hello.",
        ]
    );
}
