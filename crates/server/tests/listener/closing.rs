//! Closing of a listener.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use opencode_schema::prompt::Delivery;
use opencode_server::Bounds;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::client::within;
use crate::server::{SOON, Served, Server, patient, unlocked};

/// A route that reports each request and waits for the test before it answers.
fn held() -> (Router, Arc<Notify>, Arc<Notify>) {
    let (asked, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let wait = {
        let (asked, release) = (Arc::clone(&asked), Arc::clone(&release));
        move || {
            let (asked, release) = (Arc::clone(&asked), Arc::clone(&release));
            async move {
                asked.notify_one();
                release.notified().await;
                "done"
            }
        }
    };
    (Router::new().route("/", get(wait)), asked, release)
}

#[tokio::test]
async fn pending_requests_are_answered_and_new_ones_are_refused() {
    let (routes, asked, release) = held();
    let server = Server::on(routes, unlocked(), patient()).await;
    let mut resting = server.client().await;
    assert_eq!(resting.ask("GET", "/nothing", "", "").await.status, 404);
    let mut client = server.client().await;
    client.request("GET", "/", "", "").await;
    within("the request", asked.notified()).await;
    let listener = server.0.clone();
    let closing = tokio::spawn(async move { listener.close().await });
    // An idle connection is closed at once.
    assert_eq!(resting.everything().await, b"");
    let address = server.0.url().replace("http://", "");
    assert!(
        TcpStream::connect(&address).await.is_err(),
        "no listener is left"
    );
    assert!(!closing.is_finished());
    release.notify_one();
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.text()), (200, "done"));
    assert_eq!(reply.header("connection").as_deref(), Some("close"));
    within("the listener closes", closing).await.unwrap();
}

#[tokio::test]
async fn slow_requests_are_cut() {
    let (routes, asked, _release) = held();
    let bounds = Bounds {
        close_timeout: SOON,
        ..patient()
    };
    let server = Server::on(routes, unlocked(), bounds).await;
    let mut client = server.client().await;
    client.request("GET", "/", "", "").await;
    within("the request", asked.notified()).await;
    within("the listener closes", server.0.close()).await;
    assert_eq!(client.everything().await, b"");
    within("it is closed", server.0.closed()).await;
}

#[tokio::test]
async fn event_streams_break_at_once_and_the_host_continues() {
    let (served, session) = Served::with_session(unlocked()).await;
    let mut client = served.server.client().await;
    let path = format!("/api/session/{session}/event");
    client.request("GET", &path, "", "").await;
    client.head().await;
    let mut live = served.server.client().await;
    live.request("GET", "/api/event", "", "").await;
    live.head().await;
    within("the listener closes", served.server.0.close()).await;
    assert_eq!(client.rest().await, (String::new(), Err("it broke")));
    assert_eq!(live.rest().await.1, Err("it broke"));
    served.f.leave(&session, "Hi", Delivery::Steer).await;
    assert_eq!(served.f.events(&session).await, ["prompt.admitted Hi"]);
}

#[tokio::test]
async fn a_second_close_has_no_effect() {
    let served = Served::open(unlocked()).await;
    let listener = &served.server.0;
    let both = async { tokio::join!(listener.close(), listener.close()) };
    within("both", both).await;
    within("once more", listener.close()).await;
    within("finishing", listener.finish(Duration::ZERO)).await;
}
