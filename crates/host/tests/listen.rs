//! Listeners end with their host, however it ends.

use std::time::Duration;

use opencode_host::{Host, HostOptions, ListenOptions, Listener};
use opencode_protocol::failure::Tag;
use serde_json::json;
use tokio::net::TcpStream;

async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
    waited.unwrap_or_else(|_| panic!("not in time: {what}"))
}

/// A host that listens. Nothing it is asked here touches these folders.
async fn listening() -> (Host, Listener) {
    let options = json!({
        "directory": "/nowhere",
        "database": ":memory:",
        "home": "/nowhere",
        "dataDirectory": "/nowhere",
        "configDirectory": "/nowhere",
        "cacheDirectory": "/nowhere",
    });
    let options: HostOptions = serde_json::from_value(options).expect("they are complete");
    let opened = within("opening", Host::open(options)).await;
    let host = opened.unwrap_or_else(|failure| panic!("{failure:?}"));
    let listener = host.listen(ListenOptions::default());
    let listener = within("a listener", listener).await;
    (host, listener.expect("a port of this machine is free"))
}

async fn connect(listener: &Listener) -> std::io::Result<TcpStream> {
    let address = listener.url().replace("http://", "");
    within("a connection", TcpStream::connect(address)).await
}

#[tokio::test]
async fn a_closed_host_stops_listening() {
    let (host, listener) = listening().await;
    let _resting = connect(&listener).await.unwrap();
    within("closing", host.close()).await;
    assert!(listener.is_closed());
    assert!(connect(&listener).await.is_err());
    let late = within("an answer", host.listen(ListenOptions::default())).await;
    assert_eq!(late.unwrap_err().tag(), Tag::ServiceUnavailable);
    within("closing again", host.close()).await;
}

#[tokio::test]
async fn a_dropped_host_closes_its_listeners() {
    let (host, listener) = listening().await;
    let _resting = connect(&listener).await.unwrap();
    drop(host);
    within("the end of the listener", listener.closed()).await;
    assert!(connect(&listener).await.is_err());
}

#[tokio::test]
async fn closing_one_listener_keeps_the_others() {
    let (host, listener) = listening().await;
    let other = host.listen(ListenOptions::default());
    let other = within("another listener", other).await.unwrap();
    within("closing", listener.close()).await;
    assert!(listener.is_closed());
    connect(&other).await.unwrap();
    within("closing the host", host.close()).await;
}
