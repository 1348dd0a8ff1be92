use serde_json::json;

use super::*;

/// Returns the result or the message of the error that ends request 7, or the kind of message.
fn outcome(body: &str) -> Value {
    let Read::Answer { message, .. } = read(body.as_bytes(), &RequestId::Number(7), false) else {
        return json!(null);
    };
    let answer = serde_json::to_value(message).unwrap();
    assert_eq!(answer["id"], 7, "{body}");
    match answer.get("result") {
        Some(result) => whole_result(result.clone()),
        None => answer["error"]["message"].clone(),
    }
}

#[test]
fn an_answer_belongs_to_the_request_of_its_exchange() {
    let rows = [
        (
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#,
            json!({"a": 1}),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"7","result":{"a":1}}"#,
            json!({"a": 1}),
        ),
        (r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#, json!({})),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, json!({})),
        (r#"{"result":{"content":null}}"#, json!({"content": null})),
        (r#"{"jsonrpc":"2.0","id":8,"result":{}}"#, json!(FOREIGN)),
        (
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#,
            json!("no"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#,
            json!("no"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":1,"message":"no"}}"#,
            json!("no"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"no"}}"#,
            json!("no"),
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":"E1","message":"no","data":1}}"#,
            json!("no"),
        ),
        (r#"{"error":"no\u0007\n\nway"}"#, json!("no way")),
        (
            r#"{"error":{"detail":[{"msg":"x"}]}}"#,
            json!(r#"{"detail":[{"msg":"x"}]}"#),
        ),
        (r#"{"id":7,"error":null,"result":{}}"#, json!({})),
        (
            r#"{"method":null,"id":7,"error":null,"result":{}}"#,
            json!({}),
        ),
        (
            r#"{"id":1,"id":7,"result":{},"result":{"a":1}}"#,
            json!({"a": 1}),
        ),
        (
            "\u{feff}{\"id\":7,\"result\":{\"a\":\"\\ud83d\"}}",
            json!({"a": "\u{fffd}"}),
        ),
        (
            r#"[{"method":"x"},{"id":7,"result":{"a":1}}]"#,
            json!({"a": 1}),
        ),
        (
            r#"[{"id":8,"result":{}},{"id":null,"error":{"message":"no"}}]"#,
            json!(FOREIGN),
        ),
        (
            r#"[{"id":8,"result":{}},{"id":"7","result":{}}]"#,
            json!({}),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
            json!(null),
        ),
        (r#"{"detail":"x"}"#, json!(null)),
        ("[]", json!(null)),
        ("<html>", json!(null)),
        ("", json!(null)),
    ];
    for (body, expected) in rows {
        assert_eq!(outcome(body), expected, "{body}");
    }
}

#[test]
fn a_normal_message_has_each_member_once_and_an_integer_as_its_id() {
    for (given, expected) in [
        (r#"{"id":7.0,"a":1}"#, Some(r#"{"id":7,"a":1}"#)),
        (r#"{"id":1,"id":2}"#, Some(r#"{"id":2}"#)),
        (r#"{"id":7.5}"#, None),
        (r#"{"id":1e300}"#, Some(r#"{"id":1e+300}"#)),
        (r#"{"id":7}"#, None),
        ("[1.0]", None),
        ("noise", None),
    ] {
        let found = normal(given);
        assert_eq!(found.as_deref(), expected, "{given}");
        assert_eq!(found.as_deref().and_then(normal), None, "{given}");
    }
}

#[test]
fn events_change_only_if_they_need_to() {
    let (id, link) = (RequestId::Number(7), Link::new("s"));
    let handshake =
        r#"{"id":7,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":true}}}"#;
    let read = event(handshake, &id, true, &link).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&read).unwrap(),
        json!({"jsonrpc": "2.0", "id": 7, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "unnamed", "version": "0"}}})
    );
    for same in [
        r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#,
        "{}",
        "keep-alive",
    ] {
        assert_eq!(event(same, &id, false, &link), None, "{same}");
    }
    for (given, expected) in [
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#,
        ),
        (
            r#"[{"id":"7","result":{"x":1}}]"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"opencode/result":{"x":1}}}"#,
        ),
        (
            r#"{"id":7,"result": null, "x": 1}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"opencode/result":null}}"#,
        ),
    ] {
        assert_eq!(
            event(given, &id, false, &link).as_deref(),
            Some(expected),
            "{given}"
        );
    }
}

#[test]
fn bodies_without_a_message_have_a_text() {
    for (body, expected) in [
        (r#"{"detail":"Not allowed"}"#, "Not allowed"),
        (r#"{"error":{"message":"gone"}}"#, "gone"),
        (r#"{"errors":1}"#, r#"{"errors":1}"#),
        ("  Bad\u{1b}[31m gateway\r\n", "Bad [31m gateway"),
        ("", ""),
    ] {
        assert_eq!(body_text(body.as_bytes()), expected, "{body}");
    }
    assert!(body_text("x".repeat(100_000).as_bytes()).len() < 2 * MAX_ERROR);
}

#[test]
fn servers_forget_sessions_in_many_words() {
    for text in [
        "Session not found",
        "Bad Request: No valid session ID provided",
        "Unprocessable: no session, the reason",
        "Invalid or missing session ID",
        "Mcp-Session-Id header is required",
        "session terminated",
        "Unknown session",
        "Bad Request: Server not initialized",
    ] {
        assert!(forgets_session(text), "{text}");
    }
    for text in [
        "Not found",
        "Invalid arguments",
        "session limit reached",
        "",
    ] {
        assert!(!forgets_session(text), "{text}");
    }
}
