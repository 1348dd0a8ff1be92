//! The end of a connection to a terminal.

use std::time::Duration;

use opencode_log::Level;
use opencode_server::Bounds;
use opencode_testkit::RecordedLog;

use super::{Shown, caught, closed};
use crate::client::within;
use crate::server::{patient, unlocked};
use crate::websocket::Message;

#[tokio::test]
async fn removing_a_terminal_closes_its_connections() {
    let shown = Shown::open("sleep 600").await;
    let mut client = shown.connect("?cursor=-1").await;
    assert_eq!(client.next().await, caught(0));
    let removed = shown.served.server.ask("DELETE", &shown.path, "", "").await;
    assert_eq!(removed.status, 204);
    assert_eq!(client.rest().await.1, closed(1000, ""));
    assert_eq!(shown.status("", "").await, 404);
}

#[tokio::test]
async fn closing_the_host_closes_connections_before_its_listeners() {
    let shown = Shown::open("sleep 600").await;
    let mut client = shown.connect("?cursor=-1").await;
    let listener = &shown.served.server.0;
    listener.stop();
    let closing = shown.served.f.close();
    let (end, ()) = tokio::join!(client.rest(), closing);
    assert_eq!(end.1, closed(1000, ""));
    within(
        "the end of the listener",
        listener.finish(Duration::from_secs(30)),
    )
    .await;
}

#[tokio::test]
async fn closing_a_listener_closes_its_connections_without_waiting() {
    let shown = Shown::open("sleep 600").await;
    let mut polite = shown.connect("?cursor=-1").await;
    let mut rude = shown.connect("?cursor=-1").await;
    assert_eq!(
        (polite.next().await, rude.next().await),
        (caught(0), caught(0))
    );
    let listener = &shown.served.server.0;
    let (client, ()) = tokio::join!(
        async {
            let end = polite.rest().await.1;
            polite.send(8, &1001_u16.to_be_bytes()).await;
            (end, polite.next().await)
        },
        within("the end of the listener", listener.close()),
    );
    let goodbye = || closed(1001, "the listener is closed");
    assert_eq!(client, (goodbye(), Message::Broken));
    assert_eq!(rude.rest().await.1, goodbye());
    assert!(listener.is_closed());
    let left = shown.served.f.runtime().terminals().list(&shown.place());
    assert_eq!(left.len(), 1, "the terminal is the host's");
}

#[tokio::test]
async fn cutting_a_listener_cuts_its_connections() {
    let shown = Shown::open("sleep 600").await;
    let mut client = shown.connect("?cursor=-1").await;
    assert_eq!(client.next().await, caught(0));
    shown.served.server.0.cut();
    within("the end of the listener", shown.served.server.0.closed()).await;
    assert_eq!(client.rest().await.1, Message::Broken);
}

#[tokio::test]
async fn a_disconnected_client_is_detected() {
    let ping = Duration::from_secs(60);
    let bounds = Bounds { ping, ..patient() };
    let shown = Shown::with("sleep 600", unlocked(), bounds).await;
    let mut alive = shown.connect("?cursor=-1").await;
    let mut silent = shown.connect("?cursor=-1").await;
    assert_eq!(
        (alive.next().await, silent.next().await),
        (caught(0), caught(0))
    );
    pass(ping).await;
    assert_eq!(
        (alive.next().await, silent.next().await),
        (Message::Ping, Message::Ping)
    );
    alive.send(10, b"").await;
    // When the server has answered this, it has processed the message before it.
    let server = &shown.served.server;
    assert_eq!(server.ask("GET", "/api/health", "", "").await.status, 200);
    pass(ping).await;
    assert_eq!(alive.next().await, Message::Ping);
    let gone = closed(1013, "the client does not answer");
    assert_eq!(silent.rest().await.1, gone);
}

/// Advances the clock without waiting.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn connections_count_among_those_of_the_listener() {
    let bounds = Bounds {
        connections: 1,
        ..patient()
    };
    let shown = Shown::with("sleep 600", unlocked(), bounds).await;
    let mut only = shown.connect("?cursor=-1").await;
    assert_eq!(only.next().await, caught(0));
    let mut next = shown.served.server.client().await;
    next.request("GET", "/api/health", "", "").await;
    let waits = tokio::time::timeout(Duration::from_millis(100), next.head()).await;
    assert!(waits.is_err(), "{waits:?}");
    drop(only);
    assert_eq!(next.reply().await.status, 200);
}

#[tokio::test]
async fn a_slow_client_does_not_stop_a_program_and_is_disconnected() {
    let mut log = RecordedLog::begin();
    let script = "stty -opost -echo; echo ready; read x; i=0; while [ $i -lt 5000 ]; do printf '%04000d' 7; i=$((i+1)); done; echo end";
    let shown = Shown::open(script).await;
    let mut slow = shown.connect("").await;
    slow.until("ready\n").await;
    slow.text("\n").await;
    // The client reads nothing while the program writes 20 MB and ends.
    let mut quick = shown.connect("?cursor=-1").await;
    let (seen, end) = quick.rest().await;
    assert!(seen.ends_with("7end\n"), "{}", seen.len());
    assert_eq!(end, closed(1000, ""));
    let (seen, end) = slow.rest().await;
    assert!(seen.len() < 20_000_000, "{}", seen.len());
    // The close frame reaches the client only if it reads again at once.
    let cut = closed(1013, "too much output waits for this client");
    assert!(end == cut || end == Message::Broken, "{end:?}");
    let message = "a client of a terminal was too slow and is cut off";
    let entry = log.find(message).await;
    assert_eq!(
        (entry.level, &*entry.target),
        (Level::Warn, "opencode::server")
    );
}
