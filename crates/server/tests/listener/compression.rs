//! The compression of answers.

use std::io::Read;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use flate2::read::{GzDecoder, ZlibDecoder};

use crate::client::Reply;
use crate::server::{Server, patient, unlocked};

const LEAST: usize = 1024;

async fn open() -> Server {
    let of = |length: usize, kind: &'static str| {
        get(move || async move { ([(CONTENT_TYPE, kind)], "x".repeat(length)) })
    };
    let routes = Router::new()
        .route("/small", of(LEAST - 1, "application/json"))
        .route("/large", of(LEAST, "application/json"))
        .route("/events", of(LEAST, "text/event-stream"));
    Server::on(routes, unlocked(), patient()).await
}

/// Returns the decoded body.
pub(crate) fn plain(reply: &Reply) -> Vec<u8> {
    let mut plain = Vec::new();
    let body = &*reply.body;
    match reply.header("content-encoding").as_deref() {
        None => plain.extend(body),
        Some("gzip") => drop(GzDecoder::new(body).read_to_end(&mut plain).unwrap()),
        Some("deflate") => drop(ZlibDecoder::new(body).read_to_end(&mut plain).unwrap()),
        Some(other) => panic!("{other}"),
    }
    plain
}

#[tokio::test]
async fn large_answers_are_compressed_if_the_client_accepts_it() {
    let server = open().await;
    for (path, accepted, encoding) in [
        ("/large", None, None),
        ("/large", Some(""), None),
        ("/large", Some("identity"), None),
        ("/large", Some("br, zstd"), None),
        ("/large", Some("gzip;q=0"), None),
        ("/large", Some("gzip"), Some("gzip")),
        ("/large", Some("GZIP"), Some("gzip")),
        ("/large", Some("deflate, gzip, br"), Some("gzip")),
        ("/large", Some("br;q=1.0, deflate;q=0.5"), Some("deflate")),
        ("/small", Some("gzip, deflate"), None),
        ("/events", Some("gzip, deflate"), None),
    ] {
        let header = accepted.map(|it| format!("accept-encoding: {it}\r\n"));
        let reply = server
            .ask("GET", path, &header.unwrap_or_default(), "")
            .await;
        let found = reply.header("content-encoding");
        assert_eq!(found.as_deref(), encoding, "{path} {accepted:?}");
        let length = if path == "/small" { LEAST - 1 } else { LEAST };
        assert_eq!(plain(&reply), vec![b'x'; length], "{path} {accepted:?}");
        assert_eq!(encoding.is_some(), reply.body.len() < length);
    }
}

#[tokio::test]
async fn request_bodies_are_not_decompressed() {
    let routes = Router::new().route("/", axum::routing::post(|body: String| async { body }));
    let server = Server::on(routes, unlocked(), patient()).await;
    let reply = server
        .ask("POST", "/", "content-encoding: gzip\r\n", "plain")
        .await;
    assert_eq!(reply.text(), "plain");
}
