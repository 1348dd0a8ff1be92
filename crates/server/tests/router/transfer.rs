//! Export of sessions as lines, and import into another host.

use std::io;

use axum::body::{Body, Bytes};
use futures::stream;
use http_body_util::BodyExt;
use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Gate, Reply};
use serde_json::{Value, json};

use crate::api::{Answer, Api, request};

const LINES: &str = "application/x-ndjson";

/// A host with a session that has one answered and one pending prompt.
async fn with_history() -> (Api, SessionID) {
    let (api, session) = Api::with_session().await;
    api.f.model.reply(Reply::says("Hello."));
    api.f.ask(&session, "Hi").await;
    api.f.leave(&session, "Later", Delivery::Queue).await;
    (api, session)
}

/// A host with a session that has one answered prompt, so an import of it ends no work.
async fn with_answer() -> (Api, SessionID) {
    let (api, session) = Api::with_session().await;
    api.f.model.reply(Reply::says("Hello."));
    api.f.ask(&session, "Hi").await;
    (api, session)
}

async fn export(api: &Api, session: &SessionID) -> String {
    let answer = api.get(&format!("/api/session/{session}/export")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some(LINES));
    answer.text
}

async fn import(api: &Api, text: impl Into<Body>) -> Answer {
    api.post_text("/api/session/import", Some(LINES), text)
        .await
}

/// Lines as the text of a body.
fn joined<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    lines.into_iter().flat_map(|it| [it, "\n"]).collect()
}

fn invalid(message: &str) -> (u16, Value) {
    let told = json!({"_tag": "InvalidRequestError", "message": message, "kind": "Payload"});
    (400, told)
}

fn conflict(message: &str) -> (u16, Value) {
    (409, json!({"_tag": "ConflictError", "message": message}))
}

#[tokio::test]
async fn an_export_has_a_header_and_all_events() {
    let (api, session) = with_history().await;
    let text = export(&api, &session).await;
    assert!(text.ends_with('\n'));
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let info = api.get(&format!("/api/session/{session}")).await.ok();
    let header = json!({"format": "opencode-session", "version": 1, "session": info["data"]});
    assert_eq!(lines[0], header);
    let seqs: Vec<_> = lines[1..].iter().map(|line| &line["seq"]).collect();
    let count = 1 + api.f.events(&session).await.len();
    assert_eq!(json!(seqs), json!((0..count).collect::<Vec<_>>()));
    assert_eq!(lines[1]["type"], "session.created.1");
    let history = api.get(&format!("/api/session/{session}/history")).await;
    let first = &history.ok()["data"][0];
    assert_eq!(
        lines[2],
        json!({
            "id": first["id"],
            "type": "session.next.prompt.admitted.1",
            "seq": 1,
            "data": first["data"],
        })
    );
}

#[tokio::test]
async fn an_imported_session_is_identical_and_has_the_same_export() {
    let (from, session) = with_answer().await;
    let text = export(&from, &session).await;
    let to = Api::open().await;
    let mut info = from.get(&format!("/api/session/{session}")).await.ok()["data"].clone();
    info["imported"] = json!({"rules": 0, "unconfirmed": ["directory"]});
    let count = text.lines().count() - 1;
    let imported = import(&to, text.clone()).await.ok();
    assert_eq!(
        imported,
        json!({"data": {"session": info, "applied": count, "skipped": 0}})
    );
    assert_eq!(export(&to, &session).await, text);
    let shown = to.get(&format!("/api/session/{session}")).await.ok();
    assert_eq!(shown["data"], info);
    for rest in ["/message", "/history", "/context", "/inbox"] {
        let path = format!("/api/session/{session}{rest}");
        assert_eq!(to.get(&path).await.ok(), from.get(&path).await.ok());
    }
    // An import starts no drain.
    assert_eq!(to.f.model.requests().len(), 0);
    let again = import(&to, text).await.ok();
    assert_eq!(
        again,
        json!({"data": {"session": info, "applied": 0, "skipped": count}})
    );
}

#[tokio::test]
async fn a_later_export_adds_new_events() {
    let (from, session) = with_answer().await;
    let first = export(&from, &session).await;
    let to = Api::open().await;
    import(&to, first.clone()).await.ok();
    from.f.model.reply(Reply::says("Again."));
    from.f.ask(&session, "New").await;
    let second = export(&from, &session).await;
    let imported = import(&to, second.clone()).await.ok();
    let skipped = first.lines().count() - 1;
    let applied = second.lines().count() - 1 - skipped;
    assert_eq!(
        (&imported["data"]["applied"], &imported["data"]["skipped"]),
        (&json!(applied), &json!(skipped))
    );
    assert_eq!(export(&to, &session).await, second);
}

#[tokio::test]
async fn an_unreadable_line_is_reported_and_nothing_is_recorded() {
    let (from, session) = with_history().await;
    let text = export(&from, &session).await;
    let lines: Vec<_> = text.lines().collect();
    let last = lines.len();
    let replaced = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at - 1] = line;
        joined(lines)
    };
    let to = Api::open().await;
    for (text, message) in [
        (
            String::new(),
            "line 2: it is missing; an export has two lines at least".to_owned(),
        ),
        (
            replaced(1, &lines[0].replacen("\"version\":1", "\"version\":2", 1)),
            "line 1: version 2 of the format is not known, only 1".into(),
        ),
        (
            replaced(
                last,
                &lines[last - 1].replacen("prompt.admitted.1", "prompt.admitted.9", 1),
            ),
            format!("line {last}: the type \"session.next.prompt.admitted.9\" is not known"),
        ),
    ] {
        assert_eq!(import(&to, text).await.status_and_json(), invalid(&message));
    }
    for (at, text) in [(1, replaced(1, "{")), (last, replaced(last, "{"))] {
        let (status, told) = import(&to, text).await.status_and_json();
        assert_eq!(
            (status, &told["_tag"], &told["kind"]),
            (400, &json!("InvalidRequestError"), &json!("Payload"))
        );
        let message = told["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("line {at}: ")), "{message}");
    }
    let missing = to.get(&format!("/api/session/{session}")).await;
    assert_eq!(missing.status, 404, "{missing:?}");
}

#[tokio::test]
async fn a_contradicting_line_is_reported_and_nothing_is_recorded() {
    let (from, session) = with_history().await;
    let text = export(&from, &session).await;
    let lines: Vec<_> = text.lines().collect();
    let to = Api::open().await;
    import(&to, joined(lines[..3].iter().copied())).await.ok();
    let before = export(&to, &session).await;
    let other = lines[2].replacen("\"Hi\"", "\"Ho\"", 1);
    assert_ne!(other, lines[2]);
    let mut diverged = lines.clone();
    diverged[2] = &other;
    let mut gap = lines.clone();
    gap.remove(3);
    // The import has withdrawn the prompt, with an event of its own.
    let beyond = [&lines[..1], &lines[5..]].concat();
    for (text, message) in [
        (
            joined(diverged),
            format!(
                "line 3: the log of {session} has another entry at sequence 1: the two have diverged"
            ),
        ),
        (
            joined(gap),
            "line 4: the elements are not consecutive: sequence 2 must come next, not 3".into(),
        ),
        (
            joined(beyond),
            format!(
                "line 2: the log of {session} continues at sequence 3, and 4 was given: entries are missing in between"
            ),
        ),
    ] {
        assert_eq!(
            import(&to, text).await.status_and_json(),
            conflict(&message)
        );
        assert_eq!(export(&to, &session).await, before);
    }
}

#[tokio::test]
async fn a_running_session_refuses_lines() {
    let (api, session) = with_history().await;
    let text = export(&api, &session).await;
    let gate = Gate::new();
    api.f.model.reply(Reply::new().begin_text().hold(&gate));
    api.f.prompt(&session, "More").await;
    api.f.reached(&gate).await;
    let busy = json!({
        "_tag": "SessionBusyError",
        "sessionID": session,
        "message": format!(
            "The session {session} is running; wait for it, or interrupt it, and try again"
        ),
    });
    assert_eq!(import(&api, text).await.status_and_json(), (409, busy));
    api.f.interrupt(&session).await;
}

#[tokio::test]
async fn lines_have_their_content_type_or_none() {
    let (api, session) = with_history().await;
    let text = export(&api, &session).await;
    let path = "/api/session/import";
    for content_type in [
        None,
        Some(LINES),
        Some("Application/X-NDJSON; charset=utf-8"),
    ] {
        api.post_text(path, content_type, text.clone()).await.ok();
    }
    for content_type in ["application/json", "text/plain"] {
        let answer = api.post_text(path, Some(content_type), text.clone()).await;
        assert_eq!(
            (answer.status, answer.text),
            (415, format!("Unsupported content-type: {content_type}"))
        );
    }
}

#[tokio::test]
async fn a_body_that_breaks_records_nothing() {
    let (from, session) = with_history().await;
    let text = export(&from, &session).await;
    let to = Api::open().await;
    let pieces = [Ok(Bytes::from(text)), Err(io::Error::other("reset"))];
    let answer = import(&to, Body::from_stream(stream::iter(pieces))).await;
    let (status, told) = answer.status_and_json();
    assert_eq!((status, &told["kind"]), (400, &json!("Payload")));
    let message = told["message"].as_str().unwrap();
    assert!(
        message.contains("the body cannot be read: reset"),
        "{message}"
    );
    let missing = to.get(&format!("/api/session/{session}")).await;
    assert_eq!(missing.status, 404, "{missing:?}");
}

#[tokio::test]
async fn an_export_that_cannot_continue_breaks() {
    let (api, session) = Api::with_session().await;
    for n in 0..300 {
        api.f.leave(&session, &n.to_string(), Delivery::Queue).await;
    }
    let path = format!("/api/session/{session}/export");
    let response = api.response(request("GET", &path, Body::empty())).await;
    assert_eq!(response.headers().get("content-length"), None);
    let mut body = response.into_body();
    let header = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(header.ends_with(b"\n"));
    api.f.close().await;
    let rest = body.frame().await.unwrap();
    assert_eq!(rest.unwrap_err().to_string(), "the database is closed");
    assert!(body.frame().await.is_none());
}
