//! The live stream of everything that happens in a host.

use opencode_schema::prompt::Delivery;
use opencode_testkit::Reply;
use serde_json::json;

use crate::api::Api;
use crate::sse::Next;

#[tokio::test]
async fn a_subscriber_receives_heartbeats() {
    let (api, session) = Api::with_session().await;
    let mut stream = api.stream("/api/event").await;
    assert_eq!(stream.event(&api.f).await["type"], "server.connected");
    // The clock of the runtime advances when all tasks wait.
    tokio::time::pause();
    let first = stream.event(&api.f).await;
    let second = stream.event(&api.f).await;
    tokio::time::resume();
    for heartbeat in [&first, &second] {
        let expected = json!({"id": heartbeat["id"], "type": "server.heartbeat", "data": {}});
        assert_eq!(*heartbeat, expected);
        assert!(heartbeat["id"].as_str().unwrap().starts_with("evt_"));
    }
    assert_ne!(first["id"], second["id"]);
    api.f.leave(&session, "Hi", Delivery::Steer).await;
    let event = stream.event(&api.f).await;
    assert_eq!(event["type"], "session.next.prompt.admitted");
}

#[tokio::test]
async fn a_stream_starts_with_the_connection_and_ends_with_the_host() {
    let (api, session) = Api::with_session().await;
    let mut stream = api
        .stream("/api/event?location[directory]=%2Fnowhere")
        .await;
    let header = |name: &str| stream.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-cache, no-transform");
    assert_eq!(header("x-accel-buffering"), "no");
    assert_eq!(header("x-content-type-options"), "nosniff");
    // Events from now on are delivered, even if they are read late.
    let other = api.f.session().await;
    api.f.leave(&other, "Other", Delivery::Steer).await;
    api.f
        .model
        .reply(Reply::new().begin_text().delta("Hel").delta("lo.").stop());
    api.f.ask(&session, "Hi").await;
    api.f.close().await;
    let connected = stream.event(&api.f).await;
    assert_eq!(
        connected,
        json!({"id": connected["id"], "type": "server.connected", "data": {}})
    );
    assert!(connected["id"].as_str().unwrap().starts_with("evt_"));
    let (events, end) = stream.rest(&api.f).await;
    assert_eq!(
        events,
        [
            "session.created",
            "prompt.admitted Other",
            "prompt.admitted Hi",
            "session.status",
            "prompted Hi",
            "step.started",
            "text.started",
            "text.delta Hel",
            "text.delta lo.",
            "text.ended Hello.",
            "step.ended stop",
            "session.status",
            "session.idle",
            "global.disposed",
        ]
    );
    assert_eq!(end, Next::End);
}

#[tokio::test]
async fn durable_events_are_equal_in_both_streams_except_for_the_location() {
    let (api, session) = Api::with_session().await;
    let mut live = api.stream("/api/event").await;
    let mut durable = api.stream(&format!("/api/session/{session}/event")).await;
    live.event(&api.f).await;
    api.f.model.reply(Reply::new().stop());
    api.f.ask(&session, "Hi").await;
    let location = json!({"directory": api.f.project.directory()});
    for _ in 0..4 {
        let mut event = live.event(&api.f).await;
        if event["type"] == "session.status" {
            event = live.event(&api.f).await;
        }
        let place = event.as_object_mut().unwrap().shift_remove("location");
        assert_eq!(place.as_ref(), Some(&location));
        assert_eq!(event, durable.event(&api.f).await);
    }
}

#[tokio::test]
async fn a_reader_that_is_too_far_behind_is_cut() {
    const PIECE: usize = 1024 * 1024;
    let (api, session) = Api::with_session().await;
    let mut slow = api.stream("/api/event").await;
    let mut attentive = api.stream("/api/event").await;
    attentive.event(&api.f).await;
    for _ in 0..9 {
        api.f
            .leave(&session, &"x".repeat(PIECE), Delivery::Steer)
            .await;
        attentive.event(&api.f).await;
    }
    assert_eq!(slow.events(&api.f, 1).await, ["server.connected"]);
    let (events, end) = slow.rest(&api.f).await;
    assert_eq!((events, end), (vec![], Next::Break));
    // The other stream continues.
    api.f.leave(&session, "Hi", Delivery::Steer).await;
    assert_eq!(attentive.events(&api.f, 1).await, ["prompt.admitted Hi"]);
}

#[tokio::test]
async fn a_subscriber_selects_types_and_a_session() {
    let (api, session) = Api::with_session().await;
    let other = api.f.session().await;
    let path = format!("/api/event?types=message.*&types=session.idle&sessionID={session}");
    let mut selected = api.stream(&path).await;
    let mut whole = api.stream("/api/event").await;
    api.f.model.otherwise(|_| Reply::says("Hello."));
    api.f.ask(&other, "Not selected").await;
    api.f.ask(&session, "Hi").await;
    api.f.close().await;
    let connected = selected.event(&api.f).await;
    assert_eq!(connected["type"], "server.connected");
    let message = selected.event(&api.f).await;
    assert_eq!(message["type"], "message.updated");
    assert_eq!(message["data"]["sessionID"], *session.as_str());
    assert_eq!(message["data"]["info"]["text"], "Hi");
    let (mut events, end) = selected.rest(&api.f).await;
    // A part is announced when it begins, while it grows, and when it ends.
    events.dedup();
    assert_eq!(
        events,
        [
            "message.updated",
            "message.part.updated",
            "message.updated",
            "session.idle",
            "global.disposed",
        ]
    );
    assert_eq!(end, Next::End);
    let (events, _) = whole.rest(&api.f).await;
    assert!(!events.iter().any(|name| name.starts_with("message.")));
}

#[tokio::test]
async fn a_selection_without_events_is_refused() {
    let (api, _) = Api::with_session().await;
    let long = format!("types={}", "x".repeat(5000));
    let many = vec!["types=session.idle"; 200].join("&");
    for (query, field, message) in [
        ("types=sesion.idle", "types", "Did you mean session.idle?"),
        (
            "types=session.idle&types=lsp.updated",
            "types",
            "lsp.updated",
        ),
        ("types=", "types", "No event has the type"),
        (&long, "types", "No event has the type"),
        (&many, "types", "at most 128"),
    ] {
        let answer = api.get(&format!("/api/event?{query}")).await;
        let (status, body) = (answer.status, answer.json());
        assert_eq!(status, 400, "{query}");
        assert_eq!(body["_tag"], "InvalidRequestError");
        assert_eq!(body["field"], field);
        let text = body["message"].as_str().unwrap();
        assert!(text.contains(message) && text.len() < 400, "{text}");
    }
    let answer = api.get("/api/event?sessionID=foo").await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["kind"], "Query");
}
