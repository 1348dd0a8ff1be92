//! The stream of one session's durable events.

use opencode_schema::prompt::Delivery;
use opencode_testkit::Reply;
use serde_json::json;

use crate::api::Api;
use crate::sse::Next;

#[tokio::test]
async fn headers_are_sent_before_any_event() {
    let (api, session) = Api::with_session().await;
    // The stream opens before the first event.
    let mut stream = api.stream(&format!("/api/session/{session}/event")).await;
    let header = |name: &str| stream.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-cache, no-transform");
    assert_eq!(header("x-accel-buffering"), "no");
    assert_eq!(header("x-content-type-options"), "nosniff");
    api.f.leave(&session, "Hi", Delivery::Steer).await;
    assert_eq!(stream.events(&api.f, 1).await, ["prompt.admitted Hi"]);
}

#[tokio::test]
async fn an_event_is_one_line_and_equals_the_event_of_the_history() {
    let (api, session) = Api::with_session().await;
    api.f.model.reply(Reply::says("Two\nlines."));
    api.f.ask(&session, "Hi").await;
    let history = api.get(&format!("/api/session/{session}/history")).await;
    let mut stream = api.stream(&format!("/api/session/{session}/event")).await;
    for event in history.ok()["data"].as_array().unwrap() {
        let block = stream.next(&api.f).await;
        assert_eq!(block, Next::Block(format!("data: {event}")));
    }
}

#[tokio::test]
async fn a_stream_continues_after_the_end_of_another() {
    let (api, session) = Api::with_session().await;
    api.f.model.otherwise(|_| Reply::says("Hello."));
    let path = format!("/api/session/{session}/event");
    let mut first = api.stream(&path).await;
    api.f.ask(&session, "One").await;
    let mut seen = Vec::new();
    let mut last = json!(0);
    for _ in 0..4 {
        let event = first.event(&api.f).await;
        last = event["durable"]["seq"].clone();
        seen.push(crate::sse::shown(&event));
    }
    drop(first);
    api.f.ask(&session, "Two").await;
    // Other parameters of a request do not change the start.
    let path = format!("{path}?after={last}&directory=%2Fx&limit=1");
    let mut second = api.stream(&path).await;
    seen.extend(second.events(&api.f, 8).await);
    assert_eq!(seen, api.f.events(&session).await);
    let mut future = api.stream(&path.replace("after=4", "after=13")).await;
    api.f.leave(&session, "13", Delivery::Steer).await;
    api.f.leave(&session, "14", Delivery::Steer).await;
    assert_eq!(future.events(&api.f, 1).await, ["prompt.admitted 14"]);
}

#[tokio::test]
async fn an_idle_stream_is_kept_open() {
    let (api, session) = Api::with_session().await;
    let mut stream = api.stream(&format!("/api/session/{session}/event")).await;
    // The clock of the runtime advances when all tasks wait.
    tokio::time::pause();
    let heartbeat = Next::Block(": heartbeat".to_owned());
    assert_eq!(stream.next(&api.f).await, heartbeat);
    assert_eq!(stream.next(&api.f).await, heartbeat);
    tokio::time::resume();
    api.f.leave(&session, "Hi", Delivery::Steer).await;
    assert_eq!(stream.events(&api.f, 1).await, ["prompt.admitted Hi"]);
}

#[tokio::test]
async fn closing_the_host_breaks_the_stream() {
    let (api, session) = Api::with_session().await;
    api.f.leave(&session, "Hi", Delivery::Steer).await;
    let mut stream = api.stream(&format!("/api/session/{session}/event")).await;
    assert_eq!(stream.events(&api.f, 1).await, ["prompt.admitted Hi"]);
    api.f.close().await;
    let (events, end) = stream.rest(&api.f).await;
    assert_eq!((events, end), (vec![], Next::Break));
}
