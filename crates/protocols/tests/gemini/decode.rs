//! Streams.

use super::*;

fn short(event: &LlmEvent) -> String {
    let meta = |it: &Option<opencode_llm::ProviderMetadata>| {
        it.as_ref()
            .map_or(String::new(), |it| format!(" {}", json!(it)))
    };
    match event {
        LlmEvent::TextStart { id, .. } => format!("+{id}"),
        LlmEvent::TextDelta { id, text, .. } | LlmEvent::ReasoningDelta { id, text, .. } => {
            format!("{id}: {text}")
        }
        LlmEvent::TextEnd {
            id,
            provider_metadata,
        }
        | LlmEvent::ReasoningEnd {
            id,
            provider_metadata,
        } => {
            format!("-{id}{}", meta(provider_metadata))
        }
        LlmEvent::ReasoningStart { id, .. } => format!("+{id}"),
        LlmEvent::ToolCall {
            id,
            name,
            input,
            provider_executed,
            provider_metadata,
        } => {
            let hosted = if *provider_executed { "hosted " } else { "" };
            format!("{hosted}{name} {id} {input}{}", meta(provider_metadata))
        }
        LlmEvent::ToolResult { id, result, .. } => format!("result {id} {}", json!(result)),
        LlmEvent::Finish {
            reason,
            provider_metadata,
            ..
        } => format!("{}{}", reason.as_str(), meta(provider_metadata)),
        LlmEvent::ProviderError { message, kind, .. } => {
            format!("error {} {message}", kind.as_str())
        }
        _ => String::new(),
    }
}

fn shown(frames: &[Value]) -> Vec<String> {
    let (events, outcome) = decode(frames);
    assert_eq!(outcome, Ok(()), "{events:?}");
    events
        .iter()
        .map(short)
        .filter(|it| !it.is_empty())
        .collect()
}

const UUID: &str = "call_00000000000040008000000000000000";

#[test]
fn thoughts_texts_and_calls_are_read() {
    assert_eq!(
        shown(&turn()),
        [
            "+reasoning-0",
            "reasoning-0: I should.",
            "-reasoning-0",
            "+text-1",
            "text-1: Rea",
            "text-1: ding ü.",
            "-text-1",
            r#"read fc_1 {"path":"a"} {"google":{"thoughtSignature":"SIG","callId":"fc_1"}}"#,
            &format!("list {UUID} {{}}"),
            "tool-calls",
        ]
    );
}

#[test]
fn a_late_signature_belongs_to_the_open_block() {
    let frames = [
        parts(json!([{"text": "Hi"}])),
        parts(json!([{"text": "", "thoughtSignature": "END"}])),
        stop("STOP"),
    ];
    assert_eq!(
        shown(&frames),
        [
            "+text-0",
            "text-0: Hi",
            r#"-text-0 {"google":{"thoughtSignature":"END"}}"#,
            "stop"
        ]
    );
}

#[test]
fn code_of_the_provider_is_a_hosted_call() {
    let frames = [
        parts(json!([{"executableCode": {"language": "PYTHON", "code": "1+1"}}])),
        parts(json!([{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}])),
        parts(json!([{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "lost"}}])),
        stop("STOP"),
    ];
    let expected = [
        format!(r#"hosted code_execution {UUID} {{"language":"PYTHON","code":"1+1"}}"#),
        format!(
            r#"result {UUID} {{"type":"json","value":{{"outcome":"OUTCOME_OK","output":"2"}}}}"#
        ),
        "stop".to_owned(),
    ];
    assert_eq!(shown(&frames), expected);
}

#[test]
fn results_of_several_codes_belong_to_their_codes() {
    let code = |code: &str| json!({"executableCode": {"language": "PYTHON", "code": code}});
    let ran =
        |output: &str| json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": output}});
    let named = |mut part: Value, id: &str| {
        let member = part.as_object_mut().unwrap().values_mut().next().unwrap();
        member["id"] = id.into();
        part
    };
    for frame in [
        [code("1"), code("2"), ran("1"), ran("2")],
        [
            named(code("1"), "a"),
            named(code("2"), "b"),
            named(ran("2"), "b"),
            named(ran("1"), "a"),
        ],
    ] {
        let request = LlmRequest::new(model("gemini-2.5-pro"));
        let adapter = protocol::adapter(ProtocolId::Gemini);
        let mut decoder = adapter.decoder(&request, &Sources::default());
        let sent = sse(&[parts(json!(frame)), stop("STOP")]);
        let mut events = Vec::new();
        decoder.push(sent.as_bytes(), &mut events).unwrap();
        let mut codes = Vec::new();
        let mut results = Vec::new();
        for event in events {
            match event {
                LlmEvent::ToolCall { id, input, .. } => codes.push((id, input["code"].clone())),
                LlmEvent::ToolResult {
                    id,
                    result: ToolResultValue::Json(result),
                    ..
                } => results.push((id, result["output"].clone())),
                _ => {}
            }
        }
        results.sort_by_key(|(_, output)| output.to_string());
        assert_eq!(codes.len(), 2);
        assert_eq!(codes, results);
    }
}

#[test]
fn a_file_of_an_answer_is_the_result_of_a_hosted_call() {
    let file = json!({"inlineData": {"mimeType": "image/png", "data": PNG}});
    let draft = json!({"thought": true, "inlineData": {"mimeType": "image/png", "data": PNG}});
    let frames = [parts(json!([{"text": "Here."}, draft, file])), stop("STOP")];
    let expected = [
        "+text-0".to_owned(),
        "text-0: Here.".to_owned(),
        "-text-0".to_owned(),
        format!(r#"hosted generated_file {UUID} {{"mimeType":"image/png"}}"#),
        format!(r#"result {UUID} {{"type":"json","value":{{"mimeType":"image/png"}}}}"#),
        "stop".to_owned(),
    ];
    assert_eq!(shown(&frames), expected);
    let (events, _) = decode(&frames);
    let output = events.iter().find_map(|event| match event {
        LlmEvent::ToolResult { output, .. } => output.as_ref(),
        _ => None,
    });
    let content = ToolContent::File {
        uri: format!("data:image/png;base64,{PNG}"),
        mime: "image/png".into(),
        name: None,
    };
    assert_eq!(output.unwrap().content, [content]);
}

#[test]
fn reasons_are_mapped_and_sources_are_kept() {
    let rows = [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("SAFETY", FinishReason::ContentFilter),
        ("IMAGE_SAFETY", FinishReason::ContentFilter),
    ];
    for (reason, expected) in rows {
        let frames = [parts(json!([{"text": "a"}])), stop(reason)];
        assert_eq!(
            shown(&frames).last().unwrap(),
            expected.as_str(),
            "{reason}"
        );
    }
    let mut last = stop("STOP");
    last["candidates"][0]["groundingMetadata"] = json!({"webSearchQueries": ["x"]});
    let said = shown(&[parts(json!([{"text": "a"}])), last]);
    assert_eq!(
        said.last().unwrap(),
        r#"stop {"google":{"groundingMetadata":{"webSearchQueries":["x"]}}}"#
    );
}

#[test]
fn a_blocked_prompt_finishes_and_an_early_end_fails() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}});
    assert_eq!(
        shown(&[blocked]),
        [r#"content-filter {"google":{"blockReason":"SAFETY"}}"#]
    );
    let (_, outcome) = decode(&[parts(json!([{"text": "a"}]))]);
    let error = outcome.unwrap_err();
    assert!(
        error.to_string().contains("ended before a finish event"),
        "{error}"
    );
    // Every piece has a usage report, so it does not show that the answer is complete.
    let mut piece = parts(json!([{"text": "a"}]));
    piece["usageMetadata"] = json!({"promptTokenCount": 3, "candidatesTokenCount": 1});
    let unspecified = stop("FINISH_REASON_UNSPECIFIED");
    for frames in [vec![piece.clone()], vec![piece, unspecified]] {
        let error = decode(&frames).1.unwrap_err();
        assert!(error.is_unfinished(), "{error}");
    }
}

#[test]
fn errors_inside_of_the_stream_are_reported() {
    let error = |code: u16, status: &str, message: &str| json!({"error": {"code": code, "status": status, "message": message}});
    let rows = [
        (
            error(503, "UNAVAILABLE", "overloaded"),
            "error overloaded 503: overloaded",
        ),
        (
            error(429, "RESOURCE_EXHAUSTED", "slow down"),
            "error rate-limit 429: slow down",
        ),
        (
            error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            ),
            "error context-overflow 400: The input token count (9) exceeds the maximum number of tokens allowed (8).",
        ),
    ];
    for (frame, expected) in rows {
        assert_eq!(
            shown(&[parts(json!([{"text": "a"}])), frame])
                .last()
                .unwrap(),
            expected
        );
    }
}

#[test]
fn missing_and_null_members_are_tolerated() {
    let frames = [
        json!({"candidates": null, "usageMetadata": null, "modelVersion": "x"}),
        json!({"candidates": [{"content": {"parts": null}, "finishReason": null}]}),
        json!({"candidates": [{"content": null}, {"content": {"parts": [{"text": "other"}]}}]}),
        parts(
            json!([{"text": null}, {"inlineData": {"data": "AAAA"}}, {"text": "a", "thought": null}]),
        ),
        stop("STOP"),
    ];
    assert_eq!(shown(&frames), ["+text-0", "text-0: a", "-text-0", "stop"]);
}
