//! From the bytes of a server to the log: for each kind of failed answer, the step records the
//! failure once, with its kind.

mod server;

use std::sync::Arc;

use opencode_llm::RetryPolicy;
use opencode_protocols::HttpModelClient;
use opencode_runtime::CreateSession;
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_testkit::{Fixture, Gate};
use serde_json::{Value, json};

use self::server::{OK, Script, Server, refuse, says};

/// A session whose model is at the server. Retries have no delay.
async fn at(server: &Server) -> (Fixture, SessionID) {
    let f = Fixture::with(|options| {
        options.retry = RetryPolicy {
            max_attempts: 3,
            ..RetryPolicy::NEVER
        };
        options.model = Arc::new(HttpModelClient::default());
    })
    .await;
    let provider = json!({"provider": {"wire": {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": server.base_url, "apiKey": "sk-secret"},
        "models": {"m": {}},
    }}});
    f.project.write("opencode.json", &provider.to_string());
    let model = ModelRef {
        id: "m".to_owned(),
        provider_id: "wire".to_owned(),
        variant: None,
    };
    let request = CreateSession {
        model: Some(model),
        ..f.new_session()
    };
    let session = f.create(request).await.id;
    (f, session)
}

/// The events, the cause of the failure, and the number of requests.
async fn outcome(scripts: Vec<Script>) -> (Vec<String>, Value, usize) {
    let server = Server::start(scripts).await;
    let (f, session) = at(&server).await;
    f.ask(&session, "Hi").await;
    let events = f.events(&session).await.into_iter();
    let advice = [". The request has about ", ". The account at the provider "];
    let without_advice = |event: String| {
        let end = advice.iter().find_map(|advice| event.find(advice));
        event[..end.unwrap_or(event.len())].to_owned()
    };
    let events = events.map(without_advice).collect();
    let failed = f.payloads(&session, "step.failed").await;
    let cause = failed.first().map(|it| it["error"]["cause"].clone());
    (events, cause.unwrap_or_default(), server.requests())
}

fn stop() -> String {
    let chunk = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    format!("data: {chunk}\n\ndata: [DONE]\n\n")
}

/// The events before every answer and every failure of a request that is sent once.
const ASKED: [&str; 3] = ["prompt.admitted Hi", "prompted Hi", "step.started"];

/// The events before the answer or failure of the last one of this number of requests.
fn asked(requests: usize) -> Vec<String> {
    let [admitted, prompted, started] = ASKED.map(str::to_owned);
    let retried = (1..requests).map(|attempt| format!("retried {attempt}"));
    let before = [admitted, prompted].into_iter();
    before.chain(retried).chain([started]).collect()
}

const HELLO: [&str; 3] = ["text.started", "text.ended Hello.", "step.ended stop"];

#[tokio::test]
async fn a_refusal_is_a_failed_step_with_its_kind() {
    let overflow = "prompt is too long: 9 tokens";
    let quota = r#"{"error":{"code":"insufficient_quota"}}"#;
    let policy = r#"{"error":{"code":"content_filter"}}"#;
    for (status, body, requests, kind) in [
        (302, "no", 1, "unknown"),
        (400, "no", 1, "invalid-request"),
        (400, overflow, 1, "context-overflow"),
        (400, policy, 1, "content-policy"),
        (401, "no", 1, "auth"),
        (402, "no", 1, "quota"),
        (403, "no", 1, "auth"),
        (404, "no", 1, "invalid-request"),
        (409, "no", 1, "invalid-request"),
        (413, "no", 1, "invalid-request"),
        (413, "", 1, "context-overflow"),
        (422, "no", 1, "invalid-request"),
        (429, "no", 3, "rate-limit"),
        (429, quota, 1, "quota"),
        (500, "no", 3, "overloaded"),
        (500, policy, 1, "content-policy"),
        (503, "no", 3, "overloaded"),
        (529, "no", 3, "overloaded"),
    ] {
        let refusals = vec![refuse(status, "", body); requests];
        let (events, cause, made) = outcome(refusals).await;
        let said = if body.is_empty() { "" } else { ": " };
        let failed = format!("step.failed Provider request failed with HTTP {status}{said}{body}");
        // Retries after a plain failure of the server are not recorded.
        let recorded = if status == 500 { 1 } else { requests };
        assert_eq!(events, [asked(recorded), vec![failed]].concat());
        assert_eq!(made, requests, "{status} {body}");
        assert_eq!(
            cause,
            json!({"kind": kind, "status": status, "retryable": requests > 1, "providerID": "wire"})
        );
    }
}

#[tokio::test]
async fn the_retry_time_of_a_server_is_quoted() {
    let refusals = vec![refuse(429, "retry-after: 3\r\n", "no")];
    let (_, cause, _) = outcome(refusals).await;
    assert_eq!(
        cause,
        json!({"kind": "rate-limit", "status": 429, "retryable": true, "retryAfterMs": 3000, "providerID": "wire"})
    );
}

#[tokio::test]
async fn repeated_requests_are_recorded() {
    let answer = Script::Answer(format!("{OK}{}{}", says("Hello."), stop()));
    for refusals in [
        vec![refuse(429, "", "no"), refuse(429, "", "no")],
        vec![refuse(503, "", "no")],
        vec![refuse(500, "retry-after: 0\r\n", "no")],
    ] {
        let expected = refusals.len() + 1;
        let scripts = [refusals, vec![answer.clone()]].concat();
        let (events, cause, requests) = outcome(scripts).await;
        assert_eq!((cause, requests), (Value::Null, expected));
        let hello = HELLO.map(str::to_owned).to_vec();
        assert_eq!(events, [asked(expected), hello].concat());
    }
}

#[tokio::test]
async fn a_server_failure_is_retried_without_a_record() {
    let answer = Script::Answer(format!("{OK}{}{}", says("Hello."), stop()));
    let (events, cause, requests) = outcome(vec![refuse(500, "", "no"), answer]).await;
    assert_eq!((cause, requests), (Value::Null, 2));
    assert_eq!(
        events,
        [asked(1), HELLO.map(str::to_owned).to_vec()].concat()
    );
}

#[tokio::test]
async fn an_exchange_that_breaks_before_an_answer_is_repeated_twice() {
    let answer = Script::Answer(format!("{OK}{}{}", says("Hello."), stop()));
    let (_, cause, requests) = outcome(vec![Script::HangUp, answer]).await;
    assert_eq!((cause, requests), (Value::Null, 2));
    let (events, cause, requests) = outcome(vec![Script::HangUp; 3]).await;
    let [before @ .., failed] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((before, requests), (&ASKED.map(str::to_owned)[..], 3));
    // The rest of the message comes from the operating system.
    assert!(failed.starts_with("step.failed wire/"), "{failed}");
    let transport = "/chat/completions broke the exchange off before an answer: ";
    assert!(failed.contains(transport), "{failed}");
    assert_eq!(
        cause,
        json!({"kind": "transport", "retryable": false, "providerID": "wire"})
    );
}

#[tokio::test]
async fn a_broken_answer_keeps_its_received_part() {
    let announced = "HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n";
    let cut = format!("{announced}{}", says("Hel"));
    for script in [Script::Answer(cut.clone()), Script::Reset(cut)] {
        let (events, cause, requests) = outcome(vec![script; 3]).await;
        let [rest @ .., failed] = &events[..] else {
            panic!("{events:?}")
        };
        // A reset can overtake bytes that were sent before it.
        let kept = [&ASKED[..], &["text.started", "text.ended Hel"]].concat();
        assert!(rest == kept || rest == ASKED, "{rest:?}");
        assert!(failed.starts_with("step.failed wire/"), "{failed}");
        let unread = "/chat/completions broke its answer off: ";
        assert!(failed.contains(unread), "{failed}");
        assert_eq!(
            cause,
            json!({"kind": "invalid-output", "retryable": false, "providerID": "wire"})
        );
        // An answer of which nothing arrived is asked for again.
        assert_eq!(requests, if rest == kept { 1 } else { 3 });
    }
}

#[tokio::test]
async fn an_answer_that_fails_at_its_end_keeps_its_text_or_is_asked_for_again() {
    let end = |reason: &str| {
        let chunk = json!({"choices": [{"delta": {}, "finish_reason": reason}]});
        format!("data: {chunk}\n\n")
    };
    let failed = "step.failed The provider ended its answer with \"network_error\"";
    let body = format!("{OK}{}{}", says("Hel"), end("network_error"));
    let (events, cause, requests) = outcome(vec![Script::Answer(body)]).await;
    let kept = [&ASKED[..], &["text.started", "text.ended Hel", failed]].concat();
    assert_eq!(
        (events, requests),
        (kept.into_iter().map(str::to_owned).collect(), 1)
    );
    assert_eq!(
        cause,
        json!({"kind": "transport", "retryable": true, "providerID": "wire"})
    );
    let empty = Script::Answer(format!("{OK}{}", end("insufficient_system_resource")));
    let answer = Script::Answer(format!("{OK}{}{}", says("Hello."), stop()));
    let (events, cause, requests) = outcome(vec![empty, answer]).await;
    assert_eq!((cause, requests), (Value::Null, 2));
    assert_eq!(
        events,
        [asked(2), HELLO.map(str::to_owned).to_vec()].concat()
    );
}

#[tokio::test]
async fn an_answer_outside_of_the_protocol_is_a_failed_step() {
    let call = |arguments: &str| {
        let function = json!({"name": "echo", "arguments": arguments});
        let calls = json!([{"index": 0, "id": "c1", "function": function}]);
        let chunk = json!({"choices": [{"delta": {"tool_calls": calls}}]});
        format!("data: {chunk}\n\n")
    };
    let unfinished = "step.failed The wire/openai-chat stream ended before a finish event";
    let text = ["text.started", "text.ended Hel"];
    for (body, before, failed) in [
        (String::new(), &[][..], unfinished),
        ("Welcome".to_owned(), &[], unfinished),
        ("data: [DONE]\n\n".to_owned(), &[], unfinished),
        (says("Hel"), &text, unfinished),
        (
            format!("{}data: {{\"choices\":[{{\"del", says("Hel")),
            &text,
            unfinished,
        ),
        (
            format!("{}data: oops\n\n", says("Hel")),
            &text,
            "step.failed Invalid wire/openai-chat stream event 2: expected value at line 1 column 1, in \"oops\"",
        ),
        (format!("{}data: [5]\n\n", says("Hel")), &text, unfinished),
        (
            call("{\"n\""),
            &[
                "tool.input.started c1 echo",
                "tool.input.ended c1 {\"n\"",
                "tool.failed c1 The call did not run, because the answer failed: The wire/openai-chat stream ended before a finish event",
            ],
            unfinished,
        ),
    ] {
        // An answer without output and without an end is asked for again.
        let expected_requests = if before.is_empty() { 3 } else { 1 };
        let answers = vec![Script::Answer(format!("{OK}{body}")); expected_requests];
        let (events, cause, requests) = outcome(answers).await;
        let expected = [&ASKED[..], before, &[failed]].concat();
        assert_eq!(events, expected, "{body}");
        assert_eq!(
            cause,
            json!({"kind": "invalid-output", "retryable": false, "providerID": "wire"})
        );
        assert_eq!(requests, expected_requests);
    }
}

#[tokio::test]
async fn a_call_with_broken_arguments_fails_alone() {
    let function = json!({"name": "echo", "arguments": "{\"n\""});
    let calls = json!([{"index": 0, "id": "c1", "function": function}]);
    let chunk =
        json!({"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]});
    let first = format!("{OK}data: {chunk}\n\ndata: [DONE]\n\n");
    let then = format!("{OK}{}{}", says("Hello."), stop());
    let scripts = vec![Script::Answer(first), Script::Answer(then)];
    let (events, cause, requests) = outcome(scripts).await;
    let failed = "tool.failed c1 Invalid tool input: the arguments are not one JSON object: EOF while parsing an object at line 1 column 4. The tool did not run. Call it again with the whole corrected arguments.\nThe arguments were:\n{\"n\"";
    let broken = [
        "tool.input.started c1 echo",
        "tool.input.ended c1 {\"n\"",
        "tool.called c1 echo {}",
        failed,
        "step.ended tool-calls",
        "step.started",
    ];
    assert_eq!(events, [&ASKED[..], &broken, &HELLO].concat());
    assert_eq!((cause, requests), (Value::Null, 2));
}

#[tokio::test]
async fn a_page_is_a_failed_step_with_that_reason() {
    let page = format!("{OK}<html>Welcome</html>");
    let (events, cause, requests) = outcome(vec![Script::Answer(page)]).await;
    let failed = events.last().unwrap();
    assert!(
        failed.starts_with("step.failed wire/m at http://"),
        "{failed}"
    );
    let page = "answered with an HTML page (status 200) instead of a stream: is the baseURL right?";
    assert!(failed.ends_with(page), "{failed}");
    assert_eq!(
        cause,
        json!({"kind": "invalid-output", "retryable": false, "providerID": "wire"})
    );
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn a_failure_inside_an_answer_has_its_kind() {
    for (error, failed, kind, retryable) in [
        (
            json!({"message": "too big", "code": "context_length_exceeded"}),
            "step.failed context_length_exceeded: too big",
            "context-overflow",
            false,
        ),
        (
            json!({"message": "boom", "type": "server_error"}),
            "step.failed server_error: boom",
            "overloaded",
            true,
        ),
        (
            json!({"code": "rate_limit_exceeded"}),
            "step.failed rate_limit_exceeded",
            "rate-limit",
            true,
        ),
        (
            json!({"message": "bad key sk-secret", "type": "authentication_error"}),
            "step.failed authentication_error: bad key <redacted>",
            "auth",
            false,
        ),
    ] {
        let chunk = json!({ "error": error });
        let body = format!("{OK}{}data: {chunk}\n\n{}", says("Hel"), stop());
        let (events, cause, requests) = outcome(vec![Script::Answer(body)]).await;
        let after = ["text.started", "text.ended Hel", failed];
        assert_eq!(events, [ASKED, after].concat());
        assert_eq!(
            cause,
            json!({"kind": kind, "retryable": retryable, "providerID": "wire"})
        );
        assert_eq!(requests, 1);
    }
}

#[tokio::test]
async fn an_interruption_ends_silent_and_endless_answers() {
    let gate = Gate::new;
    let begun = ["step.started", "text.started"];
    for (gone, script, expected) in [
        {
            let gone = gate();
            (gone.clone(), Script::Silence(gone), &[][..])
        },
        {
            let gone = gate();
            (gone.clone(), Script::Endless(gone), &begun[..])
        },
    ] {
        let server = Server::start(vec![script]).await;
        let (f, session) = at(&server).await;
        f.prompt(&session, "Hi").await;
        f.reached(&gone).await;
        if let Some(last) = expected.last() {
            f.recorded(&session, last).await;
        }
        f.interrupt(&session).await;
        assert_eq!(f.runtime().active(), []);
        let mut events = f.events_after(&session, 2).await;
        if expected.is_empty() {
            assert_eq!(events.pop().unwrap(), "interrupted");
        } else {
            assert_eq!(
                events.pop().unwrap(),
                "step.failed Provider turn interrupted"
            );
            // The length of the received text can vary.
            let text = events.pop().unwrap();
            assert!(text.starts_with("text.ended word"), "{text}");
        }
        assert_eq!(events, expected);
        // The connection is closed.
        f.within("the server is left", gone.pass()).await;
    }
}
