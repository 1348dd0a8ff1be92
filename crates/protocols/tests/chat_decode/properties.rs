//! For every input, there is exactly one outcome and the events before it are well formed.

use proptest::prelude::*;

use super::outcome::check_one_outcome;
use super::*;

fn arbitrary_text() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        "[a-c]{0,2}".prop_map(Value::from),
        Just(json!("{}")),
        Just(json!("{\"a\":")),
        Just(json!(5)),
        Just(json!({"a": []})),
    ]
}

fn arbitrary_call() -> impl Strategy<Value = Value> {
    let index = prop_oneof![Just(Value::Null), (-1_i64..3).prop_map(Value::from)];
    (index, arbitrary_text(), arbitrary_text(), arbitrary_text()).prop_map(|(index, id, name, arguments)| {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
    })
}

fn arbitrary_chunk() -> impl Strategy<Value = String> {
    let reason = prop_oneof![
        6 => Just(Value::Null),
        1 => Just(json!("")),
        1 => Just(json!("stop")),
        1 => Just(json!("tool_calls")),
    ];
    let calls = prop::collection::vec(arbitrary_call(), 0..3);
    let choice = (arbitrary_text(), arbitrary_text(), calls, reason).prop_map(|(content, thought, calls, reason)| {
        json!({"choices": [{"delta": {"content": content, "reasoning": thought, "tool_calls": calls},
            "finish_reason": reason}], "usage": {"prompt_tokens": 1}})
        .to_string()
    });
    prop_oneof![
        8 => choice,
        1 => Just("{\"error\":{\"message\":\"x\"}}".to_owned()),
        1 => Just("[DONE]".to_owned()),
        1 => Just("{\"choices\":".to_owned()),
        1 => "[ -~]{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_chunks_has_one_outcome(
        chunks in prop::collection::vec(arbitrary_chunk(), 0..12),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let wire: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        check_one_outcome(decoder(), wire.as_bytes(), &cuts);
    }

    #[test]
    fn any_bytes_have_one_outcome(
        wire in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        check_one_outcome(decoder(), &wire, &cuts);
    }

    #[test]
    fn splitting_the_stream_changes_nothing(
        chunks in prop::collection::vec(arbitrary_chunk(), 0..8),
        at in any::<usize>(),
    ) {
        let wire: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        let (head, tail) = wire.as_bytes().split_at(at % (wire.len() + 1));
        prop_assert_eq!(decode(&[head, tail]), decode(&[wire.as_bytes()]));
    }
}
