//! Entries that repeat values of other entries are read as written.

use std::collections::BTreeMap;

use opencode_schema::event::SessionEvent;
use opencode_schema::id::MAX_ID_BYTES;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{
    Bench, admitted, event, of_a, prompted, raw_data, round_trip, step_started, with,
};

#[tokio::test]
async fn a_promotion_stores_its_prompt_only_when_it_differs() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let redelivered = json!({"messageID": "msg_2", "delivery": "steer"});
    for (time, event) in [
        (5, admitted("msg_1", "one", "steer")),
        (5, prompted("msg_1", "one", "steer")),
        (6, admitted("msg_2", "two", "queue")),
        (9, event("prompt.redelivered", redelivered)),
        (6, prompted("msg_2", "two", "steer")),
        (7, prompted("msg_3", "imported", "steer")),
    ] {
        bench.append(&session, time, event).await;
    }
    let read = bench.events(&session).await;
    let data: Vec<_> = read.iter().map(|entry| entry.data.as_str()).collect();
    assert_eq!(data[1], data[0]);
    assert_eq!(
        data[4],
        r#"{"messageID":"msg_2","prompt":{"text":"two"},"delivery":"steer"}"#
    );
    let stored = (1..=6).map(|seq| raw_data(&bench, &session, seq).is_some());
    assert!(stored.eq([true, false, true, true, true, true]));
}

/// Returns the events of a call with `text` as its argument text.
fn call(text: &str, input: &Value, provider: &Value) -> [SessionEvent; 4] {
    let called = json!({"callID": "c", "tool": "read", "input": input, "provider": provider});
    [
        step_started("msg_a"),
        of_a("tool.input.started", json!({"callID": "c", "name": "read"})),
        of_a("tool.input.ended", json!({"callID": "c", "text": text})),
        of_a("tool.called", called),
    ]
}

#[tokio::test]
async fn a_call_is_read_as_written_whatever_its_argument_text() {
    for text in [
        r#"{"path":"src/main.rs","limit":200}"#,
        r#"{"quoted":"a \"b\" \\ c","newline":"\n\t\u0001"}"#,
        r#"{"ünïcode":{"deep":["🦀","\u0000 nul",{"é":null}]}}"#,
        r#"{"a":{"input":{"a":1},"provider":{"executed":false}}}"#,
        r#"{"a":1}"#,
        // The same values have another JSON text.
        r#"{ "path": "src/main.rs", "limit": 200 }"#,
        r#"{"number":1.0e2,"path":"src/main.rs"}"#,
        r#"{"escaped":"\u00e9\/","path":"src/main.rs"}"#,
        r#"{"twice":"src/main.rs","twice":"src/main.rs"}"#,
    ] {
        let input: Value = serde_json::from_str(text).unwrap();
        let provider =
            json!({"executed": true, "metadata": {"p": {"input": input, "provider": {}}}});
        let (bench, session) = Bench::with_session("ses_a").await;
        round_trip(&bench, &session, &call(text, &input, &provider)).await;
    }
}

#[tokio::test]
async fn the_input_of_a_call_and_the_ids_of_its_message_take_few_bytes() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let content = "A line of a file.\n".repeat(500);
    let input = json!({"path": "src/main.rs", "content": content});
    let events = call(&input.to_string(), &input, &json!({"executed": false}));
    round_trip(&bench, &session, &events).await;
    let stored = (1..=4).filter_map(|seq| raw_data(&bench, &session, seq));
    let bytes: usize = stored.map(|data| data.len()).sum();
    assert!(bytes < content.len() / 10, "{bytes}");
}

/// Generates any text, often from pieces with a meaning in the stored form.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        prop::sample::select(vec![
            "\0",
            "\"",
            "\\",
            "{",
            "}",
            ",",
            "\"text\":",
            "\"input\":",
            "\"provider\":",
            ";base64,",
            "{\"assistantMessageID\":\"msg_a\",",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn any_id() -> impl Strategy<Value = String> {
    let id = any_text().prop_map(|text| format!("msg_{text}"));
    id.prop_filter("an id is short", |id| id.len() <= MAX_ID_BYTES)
}

/// Generates a turn with one call and arbitrary text as names, arguments and results.
fn any_turn() -> impl Strategy<Value = Vec<SessionEvent>> {
    let arguments = prop::collection::btree_map(any_text(), any_text(), 0..3);
    let parts = (
        any_id(),
        any_text(),
        arguments,
        any_text(),
        any_text(),
        any::<bool>(),
    );
    parts.prop_map(|(id, call, arguments, text, more, same)| {
        turn(&id, &call, &arguments, &text, &more, same)
    })
}

fn turn(
    id: &str,
    call: &str,
    arguments: &BTreeMap<String, String>,
    text: &str,
    more: &str,
    same: bool,
) -> Vec<SessionEvent> {
    let of = |name, payload| event(name, with(json!({"assistantMessageID": id}), payload));
    let written = if same {
        json!(arguments).to_string()
    } else {
        text.to_owned()
    };
    let provider = json!({"executed": false, "metadata": {more: {"input": arguments, text: more}}});
    let content = json!([{"type": "file", "uri": format!("data:;base64,{text}"), "mime": more}]);
    vec![
        step_started(id),
        of("text.started", json!({"textID": call})),
        of("text.ended", json!({"textID": call, "text": text})),
        of("tool.input.started", json!({"callID": call, "name": more})),
        of("tool.input.ended", json!({"callID": call, "text": written})),
        of(
            "tool.called",
            json!({"callID": call, "tool": more, "input": arguments, "provider": provider}),
        ),
        of(
            "tool.success",
            json!({
                "callID": call, "structured": {more: text, "text": arguments}, "content": content,
                "provider": provider,
            }),
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_turn_is_read_as_written(events in any_turn()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (bench, session) = Bench::with_session("ses_a").await;
            round_trip(&bench, &session, &events).await;
        });
    }
}
