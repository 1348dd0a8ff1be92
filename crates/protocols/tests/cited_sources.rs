//! The sources that answers cite, by protocol: each source as the user sees it, and the citations of the text.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

#[path = "common/event_stream.rs"]
mod event_stream;
#[path = "common/run.rs"]
mod run;

use std::sync::Arc;

use opencode_llm::{LlmEvent, LlmRequest, ProtocolId, ResolvedModel, Sources};
use opencode_protocols::{self as protocol};
use serde_json::{Value, json};

use self::event_stream::frame;
use self::run::decode_by;

/// Returns the sources of an answer, and the metadata of its texts.
fn decode(id: ProtocolId, chunks: &[Vec<u8>]) -> (Value, Value) {
    let model = ResolvedModel::new("mock", "m1", id, "http://localhost:1");
    let request = LlmRequest::new(Arc::new(model));
    let decoder = protocol::adapter(id).decoder(&request, &Sources::default());
    let (events, outcome) = decode_by(decoder, chunks.iter().map(Vec::as_slice));
    assert_eq!(outcome, Ok(()), "{events:?}");
    let (mut sources, mut texts) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            LlmEvent::Cited(source) => sources.push(json!(source)),
            LlmEvent::TextEnd {
                provider_metadata, ..
            } => texts.push(json!(provider_metadata)),
            _ => {}
        }
    }
    (sources.into(), texts.into())
}

fn sse(events: &[Value]) -> Vec<Vec<u8>> {
    let events = events.iter();
    events
        .map(|event| format!("data: {event}\n\n").into_bytes())
        .collect()
}

fn page(url: &str, title: &str) -> Value {
    json!({"type": "url", "url": url, "title": title})
}

#[test]
fn anthropic_cites_pages_results_and_documents() {
    let citations = [
        json!({"type": "web_search_result_location", "url": "https://a.test", "title": "A", "encrypted_index": "x"}),
        json!({"type": "search_result_location", "source": "https://b.test", "title": null}),
        json!({"type": "search_result_location", "source": "notes/7", "title": "Notes"}),
        json!({"type": "char_location", "document_title": "C", "file_id": "file_1"}),
        json!({"type": "page_location", "document_title": null, "document_index": 0}),
        json!({"type": "of_the_future"}),
    ];
    let cite = |citation: &Value| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": citation}});
    let mut events = vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Yes."}}),
    ];
    events.extend(citations.iter().map(cite));
    events.push(json!({"type": "content_block_stop", "index": 0}));
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}));
    events.push(json!({"type": "message_stop"}));
    let (sources, texts) = decode(ProtocolId::AnthropicMessages, &sse(&events));
    let expected = json!([
        page("https://a.test", "A"),
        {"type": "url", "url": "https://b.test"},
        {"type": "document", "id": "notes/7", "title": "Notes"},
        {"type": "document", "id": "file_1", "title": "C"},
    ]);
    assert_eq!(sources, expected);
    assert_eq!(texts, json!([{"anthropic": {"citations": citations}}]));
}

#[test]
fn responses_cite_in_complete_messages() {
    let cited = json!({"type": "url_citation", "url": "https://a.test", "title": "A", "start_index": 0, "end_index": 4});
    let file =
        json!({"type": "file_citation", "file_id": "file_1", "filename": "a.md", "index": 4});
    let part = |text: &str, annotations: Value| json!({"type": "output_text", "text": text, "annotations": annotations});
    let message = |id: &str, content: Value| json!({"type": "response.output_item.done", "item": {"type": "message", "id": id, "content": content}});
    let events = [
        json!({"type": "response.output_item.added", "item": {"type": "message", "id": "m1"}}),
        json!({"type": "response.output_text.delta", "item_id": "m1", "delta": "Yes."}),
        message(
            "m1",
            json!([part("Yes.", json!([cited, file, {"type": "other"}, 7]))]),
        ),
        // Places in one of several parts do not fit the text.
        message(
            "m2",
            json!([part("No.", json!([cited])), part("Yes.", json!(null))]),
        ),
        message("m3", json!([])),
        json!({"type": "response.output_text.annotation.added", "item_id": "m1", "annotation": cited}),
        json!({"type": "response.output_text.annotation.added", "item_id": "m1"}),
        json!({"type": "response.completed", "response": {"id": "r1", "citations": ["https://b.test", 7]}}),
    ];
    let (sources, texts) = decode(ProtocolId::OpenAiResponses, &sse(&events));
    let document = json!({"type": "document", "id": "file_1", "filename": "a.md"});
    let a = page("https://a.test", "A");
    let b = json!({"type": "url", "url": "https://b.test"});
    assert_eq!(sources, json!([a, document, a, a, b]));
    let of = |text: usize| texts[text].pointer("/places/annotations");
    assert_eq!((of(0), of(1)), (Some(&json!([cited, file])), None));
}

#[test]
fn chat_completions_cite_in_annotations() {
    let cited = json!({"type": "url_citation", "url_citation": {"url": "https://a.test", "title": "A", "start_index": 0, "end_index": 4}});
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let events = [
        delta(json!({"content": "Yes."})),
        delta(json!({"annotations": [cited, {"type": "file", "file": {}}]})),
        delta(json!({"annotations": "another form"})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    ];
    let (sources, texts) = decode(ProtocolId::OpenAiChat, &sse(&events));
    assert_eq!(sources, json!([page("https://a.test", "A")]));
    assert_eq!(texts, json!([{"places": {"annotations": [cited]}}]));
}

#[test]
fn chat_completions_cite_by_position() {
    let lists = json!({
        "citations": ["https://b.test", "https://a.test", 7],
        "search_results": [{"url": "https://a.test", "title": "A"}, {"url": "https://c.test", "title": "C"}, {}],
    });
    let chunk = |text: &str, finish: Option<&str>| {
        let mut chunk = lists.clone();
        chunk["choices"] =
            json!([{"index": 0, "delta": {"content": text}, "finish_reason": finish}]);
        chunk
    };
    let events = [chunk("Yes[1]", None), chunk("[2].", Some("stop"))];
    let (sources, _) = decode(ProtocolId::OpenAiChat, &sse(&events));
    let expected = json!([
        {"type": "url", "url": "https://b.test"},
        page("https://a.test", "A"),
        page("https://a.test", "A"),
        page("https://c.test", "C"),
    ]);
    assert_eq!(sources, expected);
    // Other servers use these names for other values.
    let mut other = chunk("Yes.", Some("stop"));
    other["citations"] = json!({"a": 1});
    other["search_results"] = json!(null);
    assert_eq!(decode(ProtocolId::OpenAiChat, &sse(&[other])).0, json!([]));
}

#[test]
fn gemini_cites_searches_stores_and_repeated_texts() {
    let grounding = json!({
        "webSearchQueries": ["x"],
        "groundingChunks": [
            {"web": {"uri": "https://a.test", "title": "A"}},
            {"maps": {"uri": "https://maps.test/b", "title": "B"}},
            {"retrievedContext": {"uri": "gs://bucket/c.pdf", "title": "C"}},
            {"retrievedContext": {"title": "D", "text": "…"}},
            {"image": {"sourceUri": "https://e.test", "imageUri": "https://e.test/e.png", "title": "E"}},
            {"other": {}},
        ],
    });
    let citations = json!({"citationSources": [{"startIndex": 0, "uri": "https://f.test"}, {"license": "MIT"}]});
    let events = [
        json!({"candidates": [{"content": {"parts": [{"text": "Yes."}]}}]}),
        json!({"candidates": [{"finishReason": "STOP", "groundingMetadata": grounding, "citationMetadata": citations}]}),
    ];
    let (sources, texts) = decode(ProtocolId::Gemini, &sse(&events));
    let expected = json!([
        page("https://a.test", "A"),
        page("https://maps.test/b", "B"),
        {"type": "document", "id": "gs://bucket/c.pdf", "title": "C"},
        {"type": "document", "title": "D"},
        page("https://e.test", "E"),
        {"type": "url", "url": "https://f.test"},
    ]);
    assert_eq!(sources, expected);
    let about = json!({"groundingMetadata": grounding, "citationMetadata": citations});
    assert_eq!(texts, json!([{"places": about}]));
}

#[test]
fn bedrock_cites_pages_results_and_documents() {
    let citations = [
        json!({"title": "A", "location": {"web": {"url": "https://a.test", "domain": "a.test"}}}),
        json!({"title": "B", "source": "https://b.test", "location": {"searchResultLocation": {"searchResultIndex": 0}}}),
        json!({"title": "C", "location": {"documentPage": {"documentIndex": 0}}, "sourceContent": [{"text": "…"}]}),
        json!({"location": {"documentChar": {"documentIndex": 0}}}),
    ];
    let event = |name: &str, payload: Value| {
        let headers = [(":message-type", "event"), (":event-type", name)];
        frame(&headers, payload.to_string())
    };
    let delta = |delta: Value| {
        event(
            "contentBlockDelta",
            json!({"contentBlockIndex": 0, "delta": delta}),
        )
    };
    let mut frames = vec![delta(json!({"text": "Yes."}))];
    frames.extend(
        citations
            .iter()
            .map(|citation| delta(json!({"citation": citation}))),
    );
    frames.push(event("contentBlockStop", json!({"contentBlockIndex": 0})));
    frames.push(event("messageStop", json!({"stopReason": "end_turn"})));
    let (sources, texts) = decode(ProtocolId::BedrockConverse, &frames);
    let expected = json!([
        page("https://a.test", "A"),
        page("https://b.test", "B"),
        {"type": "document", "title": "C"},
    ]);
    assert_eq!(sources, expected);
    assert_eq!(texts, json!([{"places": {"citations": citations}}]));
}

#[test]
fn programs_name_sources() {
    let events = json!([
        {"type": "source", "source": page("https://a.test", "A")},
        {"type": "source", "source": {"type": "url", "url": "javascript:alert(1)"}},
        {"type": "source", "source": {"type": "document", "filename": "b.pdf", "mediaType": "application/pdf"}},
        {"type": "finish", "reason": "stop"},
    ]);
    let (sources, _) = decode(ProtocolId::Program(7), &[events.to_string().into_bytes()]);
    let document = json!({"type": "document", "filename": "b.pdf", "mediaType": "application/pdf"});
    assert_eq!(sources, json!([page("https://a.test", "A"), document]));
}
