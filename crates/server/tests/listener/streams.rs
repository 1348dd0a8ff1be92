//! Streams of events over a socket.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use opencode_schema::prompt::Delivery;
use opencode_testkit::Reply;
use tokio::sync::oneshot;

use crate::client::{Client, within};
use crate::server::{Served, Server, patient, unlocked};

async fn open(served: &Served, path: &str) -> Client {
    let mut client = served.server.client().await;
    client
        .request("GET", path, "accept-encoding: gzip\r\n", "")
        .await;
    let head = client.head().await;
    let header = |name: &str| head.header(name).unwrap();
    assert_eq!(head.status, 200);
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("transfer-encoding"), "chunked");
    assert_eq!(header("cache-control"), "no-cache, no-transform");
    assert_eq!(header("x-accel-buffering"), "no");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(head.header("content-encoding"), None);
    client
}

/// The types of the events in some text.
fn types(text: &str) -> Vec<String> {
    let events = text
        .split("\n\n")
        .filter_map(|it| it.strip_prefix("data: "));
    let kind = |event: &str| {
        let event: serde_json::Value = serde_json::from_str(event).unwrap();
        event["type"].as_str().unwrap().replace("session.next.", "")
    };
    events.map(kind).collect()
}

async fn read_until(client: &mut Client, wanted: &str) -> Vec<String> {
    let mut text = String::new();
    while !text.contains(&format!(r#""type":"{wanted}""#)) || !text.ends_with("\n\n") {
        let chunk = client.chunk().await.expect("the stream goes on");
        let chunk = chunk.unwrap_or_else(|| panic!("{wanted} comes: {text}"));
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    types(&text)
}

#[tokio::test]
async fn a_turn_can_be_followed_live() {
    let (served, session) = Served::with_session(unlocked()).await;
    let mut live = open(&served, "/api/event").await;
    // Headers come before any event.
    let mut durable = open(&served, &format!("/api/session/{session}/event?after=0")).await;
    read_until(&mut live, "server.connected").await;
    served.f.model.reply(Reply::says("Hello."));
    served.f.ask(&session, "Hi").await;
    let durable_types = [
        "prompt.admitted",
        "prompted",
        "step.started",
        "text.started",
    ];
    let mut expected: Vec<_> = durable_types.map(str::to_owned).into();
    expected.extend(["text.ended".to_owned(), "step.ended".to_owned()]);
    let followed = read_until(&mut durable, "session.next.step.ended").await;
    assert_eq!(followed, expected);
    let mut announced = read_until(&mut live, "session.next.step.ended").await;
    announced.retain(|it| it != "text.delta" && it != "session.status");
    assert_eq!(announced, expected);
}

#[tokio::test]
async fn the_end_of_the_host_ends_live_streams_and_breaks_durable_ones() {
    let (served, session) = Served::with_session(unlocked()).await;
    let mut live = open(&served, "/api/event").await;
    let mut durable = open(&served, &format!("/api/session/{session}/event")).await;
    read_until(&mut live, "server.connected").await;
    served.server.0.stop();
    served.f.close().await;
    let (text, end) = live.rest().await;
    assert_eq!(
        (types(&text), end),
        (vec!["global.disposed".into()], Ok(()))
    );
    assert_eq!(durable.rest().await, (String::new(), Err("it broke")));
    within("the connections end", served.server.0.closed()).await;
}

#[tokio::test]
async fn a_paused_reader_misses_no_event_of_a_durable_stream() {
    const EVENTS: usize = 200;
    let (served, session) = Served::with_session(unlocked()).await;
    let mut paused = open(&served, &format!("/api/session/{session}/event")).await;
    let text = "x".repeat(50_000);
    for _ in 0..EVENTS {
        served.f.leave(&session, &text, Delivery::Steer).await;
    }
    let mut read = String::new();
    while read.matches("\n\n").count() < EVENTS {
        let chunk = paused.chunk().await.unwrap().unwrap();
        read.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    let seqs: Vec<_> = read
        .split("\n\n")
        .filter_map(|block| block.strip_prefix("data: "))
        .map(|event| serde_json::from_str::<serde_json::Value>(event).unwrap())
        .map(|event| event["durable"]["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=EVENTS as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_reader_that_is_too_far_behind_is_cut_from_the_live_stream() {
    let (served, session) = Served::with_session(unlocked()).await;
    let mut paused = open(&served, "/api/event").await;
    // The buffers in between accept this much without waiting.
    let text = "x".repeat(1 << 20);
    for _ in 0..30 {
        served.f.leave(&session, &text, Delivery::Steer).await;
    }
    let (text, end) = paused.rest().await;
    assert_eq!(end, Err("it broke"));
    let read = types(&text[..text.rfind("\n\n").unwrap()]);
    assert!((1..31).contains(&read.len()), "{} events", read.len());
}

/// Routes with one stream of events that reports the drop of its body.
fn watched() -> (Router, oneshot::Receiver<()>) {
    let (gone, dropped) = oneshot::channel();
    let gone = Arc::new(Mutex::new(Some(gone)));
    let stream = move || {
        let held: Option<oneshot::Sender<()>> = gone.lock().unwrap().take();
        let first = futures::stream::iter([Ok::<_, std::io::Error>(": here\n\n")]);
        let rest = futures::stream::pending();
        let pieces = futures::StreamExt::chain(first, rest);
        let pieces = futures::StreamExt::map(pieces, move |piece| {
            let _ = &held;
            piece
        });
        async {
            (
                [("content-type", "text/event-stream")],
                Body::from_stream(pieces),
            )
        }
    };
    (Router::new().route("/", get(stream)), dropped)
}

#[tokio::test]
async fn the_stream_of_a_disconnected_client_is_freed_at_once() {
    for leave in [leave_by_dropping, leave_by_closing_one_half] {
        let (routes, dropped) = watched();
        let server = Server::on(routes, unlocked(), patient()).await;
        let mut client = server.client().await;
        client.request("GET", "/", "", "").await;
        client.head().await;
        assert_eq!(client.chunk().await, Ok(Some(b": here\n\n".to_vec())));
        let kept = leave(client).await;
        let dropped = within("the stream is freed", dropped).await;
        assert!(dropped.is_err(), "what feeds it was dropped");
        drop(kept);
    }
}

#[tokio::test]
async fn a_client_gets_the_last_piece_before_a_break() {
    let stream = || async {
        let broken = std::io::Error::other("the host is closed");
        let pieces = futures::stream::iter([Ok("data: last\n\n"), Err(broken)]);
        let kind = [("content-type", "text/event-stream")];
        (kind, Body::from_stream(pieces))
    };
    let routes = Router::new().route("/", get(stream));
    let server = Server::on(routes, unlocked(), patient()).await;
    let mut client = server.client().await;
    client.request("GET", "/", "", "").await;
    client.head().await;
    let last = "data: last\n\n".to_owned();
    assert_eq!(client.rest().await, (last, Err("it broke")));
}

type Left = futures::future::BoxFuture<'static, Option<Client>>;

fn leave_by_dropping(client: Client) -> Left {
    drop(client);
    Box::pin(async { None })
}

fn leave_by_closing_one_half(mut client: Client) -> Left {
    Box::pin(async {
        client.half_close().await;
        Some(client)
    })
}
