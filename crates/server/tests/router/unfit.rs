//! Problems of invalid requests, with their place.

use serde_json::json;

use crate::api::{Api, request};

#[tokio::test]
async fn invalid_input_is_reported_first() {
    let (api, session) = Api::with_session().await;
    for (method, path, body, kind, message) in [
        (
            "GET",
            format!("/api/session/{session}/permission/foo"),
            "",
            "Params",
            "Expected a string starting with \"per\", got \"foo\"\n  at [\"requestID\"]",
        ),
        (
            "POST",
            format!("/api/session/{session}/question/foo/reject"),
            "",
            "Params",
            "Expected a string starting with \"que\", got \"foo\"\n  at [\"requestID\"]",
        ),
        (
            "GET",
            "/api/pty/foo".to_owned(),
            "",
            "Params",
            "Expected a string starting with \"pty\", got \"foo\"\n  at [\"ptyID\"]",
        ),
        (
            "GET",
            "/api/fs/find".to_owned(),
            "",
            "Query",
            "Missing key\n  at [\"query\"]",
        ),
        (
            "GET",
            "/api/fs/find?query=&limit=0".to_owned(),
            "",
            "Query",
            "Expected a value greater than or equal to 1, got 0\n  at [\"limit\"]",
        ),
        (
            "POST",
            format!("/api/session/{session}/permission"),
            r#"{"action":"bash","resources":"ls"}"#,
            "Payload",
            "Expected array, got \"ls\"\n  at [\"resources\"]",
        ),
        (
            "POST",
            format!("/api/session/{session}/permission/per_x/reply"),
            r#"{"reply":"maybe"}"#,
            "Payload",
            "Expected \"once\" | \"always\" | \"reject\", got \"maybe\"\n  at [\"reply\"]",
        ),
        (
            "POST",
            format!("/api/session/{session}/question/que_x/reply"),
            r#"{"answers":["a"]}"#,
            "Payload",
            "Expected array, got \"a\"\n  at [\"answers\"][0]",
        ),
        (
            "POST",
            format!("/api/session/{session}/revert/stage"),
            r#"{"messageID":"foo"}"#,
            "Payload",
            "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"messageID\"]",
        ),
        (
            "PUT",
            "/api/pty/pty_x".to_owned(),
            r#"{"size":{"rows":0,"cols":1}}"#,
            "Payload",
            "Expected a value greater than 0, got 0\n  at [\"size\"][\"rows\"]",
        ),
    ] {
        let answer = api.send(request(method, &path, body.into())).await;
        let told = json!({"_tag": "InvalidRequestError", "message": message, "kind": kind});
        assert_eq!(answer.status_and_json(), (400, told), "{method} {path}");
    }
}
