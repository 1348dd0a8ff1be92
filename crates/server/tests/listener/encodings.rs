//! Every operation, with every encoding that a client may accept.

use opencode_protocol::operation::{LINES_TYPE, Method, Payload, Spec, Success};
use opencode_protocol::operations::OPERATIONS;
use opencode_testkit::Reply as Answer;

use crate::client::Reply;
use crate::compression::plain;
use crate::concrete::concrete;
use crate::server::{JSON, Served, unlocked};

const ENCODINGS: [&str; 6] = [
    "identity",
    "gzip",
    "deflate",
    "br",
    "zstd",
    "gzip, deflate, br, zstd",
];

/// Calls an operation and reads its answer. Reads only the head of a stream of events.
async fn ask(served: &Served, spec: &Spec, path: &str, encoding: &str) -> Reply {
    let (kind, body) = match spec.payload {
        Payload::None => (String::new(), ""),
        Payload::Json(_) => (JSON.to_owned(), "{}"),
        Payload::Lines => (format!("content-type: {LINES_TYPE}\r\n"), "{}\n"),
    };
    let declared = spec.headers.iter();
    let declared: String = declared
        .map(|(name, it)| format!("{name}: {it}\r\n"))
        .collect();
    let headers = format!("{kind}{declared}accept-encoding: {encoding}\r\n");
    let mut client = served.server.client().await;
    client
        .request(spec.method.as_str(), path, &headers, body)
        .await;
    match spec.success {
        Success::Stream { .. } => client.head().await,
        _ => client.reply().await,
    }
}

#[tokio::test]
async fn every_answer_is_complete_in_every_encoding() {
    let (served, session) = Served::with_session(unlocked()).await;
    served.f.model.reply(Answer::says(&"long ".repeat(2000)));
    served.f.ask(&session, "Hi").await;
    for spec in OPERATIONS {
        // An operation that changes a session gets an unknown one: otherwise it would send a model request.
        let is_read = spec.method == Method::Get;
        let path = concrete(spec.path, if is_read { session.as_str() } else { "ses_x" });
        let mut first = None;
        for encoding in ENCODINGS {
            let what = format!("{} {path} as {encoding}", spec.method.as_str());
            let reply = ask(&served, spec, &path, encoding).await;
            let found = reply.header("content-encoding");
            if let Some(found) = &found {
                assert!(encoding.contains(found.as_str()), "{what}: {found}");
            }
            let told = (reply.status, plain(&reply));
            match spec.success {
                Success::Stream { .. } => {
                    let is_stream = reply.status == 200 && found.is_none();
                    assert!(is_stream || spec.omitted, "{what}: {reply:?}");
                }
                // An operation that changes something may answer the second call differently.
                _ if !is_read => {}
                _ => assert_eq!(&told, first.get_or_insert_with(|| told.clone()), "{what}"),
            }
            if matches!(spec.success, Success::Lines) {
                let compressed = encoding.contains("gzip") || encoding == "deflate";
                assert_eq!((reply.status, found.is_some()), (200, compressed), "{what}");
            }
        }
    }
}
