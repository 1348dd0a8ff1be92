//! Tests for the service that `websearch` uses, its request, and its handling of the answer.

use opencode_tools::{PermissionError, SearchServices, Settlement};
use serde_json::{Value, json};

use crate::{
    common::{denied, failed, success, text},
    scripted::{Answer, Outcome, Script, answer, page, pairs},
};

fn services(set: &'static [(&'static str, &'static str)]) -> SearchServices {
    SearchServices::from_variables(|name| {
        let found = set.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| *value)
    })
}

async fn search(services: SearchServices, input: Value, answers: Vec<Answer>) -> Outcome {
    let script = Script::new("websearch", input, answers);
    Script { services, ..script }.run().await
}

const EXA: &[(&str, &str)] = &[("OPENCODE_WEBSEARCH_PROVIDER", "exa")];

/// Returns the answer of a service that found something.
fn found(text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    json!({"jsonrpc": "2.0", "id": 1, "result": {"content": content}}).to_string()
}

#[tokio::test]
async fn each_service_receives_its_own_form_of_a_request() {
    let query = "what is new";
    let exa = |more: Value| {
        let mut arguments = json!({
            "query": query, "type": "auto", "numResults": 8, "livecrawl": "fallback",
        });
        for (name, value) in more.as_object().expect("it is an object") {
            arguments[name] = value.clone();
        }
        json!({"name": "web_search_exa", "arguments": arguments})
    };
    let parallel = json!({
        "name": "web_search",
        "arguments": {"objective": query, "search_queries": [query], "session_id": "ses_1"},
    });
    let json_headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let with_key = [&json_headers[..], &[("authorization", "Bearer key-2")]].concat();
    let all = json!({
        "numResults": 20, "livecrawl": "preferred", "type": "deep", "contextMaxCharacters": 50_000,
    });
    for (set, more, address, headers, params) in [
        (
            EXA,
            json!({}),
            "https://mcp.exa.ai/mcp",
            &json_headers[..],
            exa(json!({})),
        ),
        (
            &[
                ("OPENCODE_WEBSEARCH_PROVIDER", "exa"),
                ("EXA_API_KEY", "key 1&"),
            ],
            all.clone(),
            "https://mcp.exa.ai/mcp?exaApiKey=key+1%26",
            &json_headers[..],
            exa(all),
        ),
        (
            &[("OPENCODE_ENABLE_PARALLEL", "1")],
            json!({"numResults": 3}),
            "https://search.parallel.ai/mcp",
            &json_headers[..],
            parallel.clone(),
        ),
        (
            &[
                ("OPENCODE_ENABLE_PARALLEL", "1"),
                ("PARALLEL_API_KEY", "key-2"),
            ],
            json!({}),
            "https://search.parallel.ai/mcp",
            &with_key[..],
            parallel,
        ),
    ] {
        let mut input = more;
        input["query"] = json!(query);
        let answers = vec![page("application/json", found("a"))];
        let outcome = search(services(set), input, answers).await;
        let [request] = &*outcome.requests else {
            panic!("one request");
        };
        assert_eq!(request.address.as_str(), address);
        assert_eq!(pairs(&request.headers), headers);
        assert_eq!(request.limit, 262_144);
        let body = request.post.as_deref().expect("it is posted");
        let body: Value = serde_json::from_slice(body).expect("it is JSON");
        let expected = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        assert_eq!(body, expected);
    }
}

#[tokio::test]
async fn the_permission_request_has_the_query() {
    let input = json!({"query": "q", "numResults": 2.0, "type": "fast", "more": 1});
    let outcome = search(services(EXA), input, vec![page("", found("a"))]).await;
    let [asked] = &*outcome.permissions else {
        panic!("one request, not {:?}", outcome.permissions);
    };
    assert_eq!(
        (asked.action.as_str(), &*asked.resources, &*asked.save),
        ("websearch", &["q".to_owned()][..], &["*".to_owned()][..])
    );
    let metadata = json!({"query": "q", "numResults": 2, "type": "fast", "provider": "exa"});
    assert_eq!(Value::Object(asked.metadata.clone()), metadata);

    for (error, expected) in [
        (
            PermissionError::Blocked,
            denied("Unable to search the web for q"),
        ),
        (PermissionError::Declined, Settlement::Declined),
    ] {
        let script = Script {
            allow: Box::new(move |_| Err(error.clone())),
            ..Script::new("websearch", json!({"query": "q"}), vec![])
        };
        assert_eq!(script.run().await.settlement, expected);
    }
}

#[tokio::test]
async fn the_result_is_the_first_text() {
    let nothing = "Nothing was found. Try other words.";
    let parts = |content: Value| json!({"result": {"content": content}}).to_string();
    for (body, expected) in [
        (found("a\nb"), "a\nb"),
        (
            parts(json!([
                {"type": "image", "data": "", "text": "no"},
                {"type": "text", "text": " "},
                {"type": "text", "text": "first"},
                {"type": "text", "text": "second"},
            ])),
            "first",
        ),
        (parts(json!([])), nothing),
        (r#"{"result": {}}"#.to_owned(), nothing),
        (format!("event: message\ndata: {}\n\n", found("a")), "a"),
        (
            format!(
                ": hello\r\ndata: {{\"method\": \"progress\"}}\r\n\r\ndata:{}\r\n\r\n",
                found("b")
            ),
            "b",
        ),
    ] {
        let outcome = search(services(EXA), json!({"query": "q"}), vec![page("", body)]).await;
        let expected = success(
            json!({"provider": "exa", "text": expected}),
            vec![text(expected)],
        );
        assert_eq!(outcome.settlement, expected);
    }
}

#[tokio::test]
async fn failures_have_a_reason_without_the_text_of_the_service() {
    let said = "key-1 is no key";
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": said}});
    let as_result = json!({
        "result": {"isError": true, "content": [{"type": "text", "text": said}]},
    });
    let odd = "exa does not answer as it should";
    for (answer, reason) in [
        (answer(401, &[], ""), "exa answers 401 Unauthorized"),
        (
            answer(302, &[("location", "http://a.example")], ""),
            "exa answers 302 Found",
        ),
        (
            Answer::Error("the request failed: no way"),
            "exa cannot be asked, the request failed: no way",
        ),
        (page("application/json", error.to_string()), odd),
        (page("application/json", as_result.to_string()), odd),
        (page("text/html", format!("<p>{said}")), odd),
        (page("text/event-stream", format!("data: {said}\n")), odd),
        (page("", "[".repeat(100_000)), odd),
        (page("", ""), odd),
    ] {
        let set = &[
            ("OPENCODE_WEBSEARCH_PROVIDER", "exa"),
            ("EXA_API_KEY", "key-1"),
        ];
        let outcome = search(services(set), json!({"query": "q"}), vec![answer]).await;
        let expected = failed(format!("Unable to search the web for q: {reason}"));
        assert_eq!(outcome.settlement, expected);
    }
    let set = &[
        ("OPENCODE_WEBSEARCH_PROVIDER", "parallel"),
        ("PARALLEL_API_KEY", "key\n2"),
    ];
    let outcome = search(services(set), json!({"query": "q"}), vec![]).await;
    let expected =
        failed("Unable to search the web for q: PARALLEL_API_KEY is no text that can be sent");
    assert_eq!(outcome.settlement, expected);
}

#[tokio::test(start_paused = true)]
async fn a_request_to_a_service_times_out() {
    let begun = tokio::time::Instant::now();
    let outcome = search(services(EXA), json!({"query": "q"}), vec![Answer::Never]).await;
    let late = failed("Unable to search the web for q: exa takes longer than 25 seconds");
    assert_eq!(outcome.settlement, late);
    let waited = begun.elapsed().as_secs_f64();
    assert!((waited - 25.0).abs() < 0.1, "{waited}");
}

#[tokio::test]
async fn sessions_are_distributed_over_the_services() {
    for (session, provider, address) in [
        ("ses_1", "exa", "https://mcp.exa.ai/mcp"),
        ("ses_2", "parallel", "https://search.parallel.ai/mcp"),
    ] {
        let answers = vec![page("", found("a"))];
        let script = Script::new("websearch", json!({"query": "q"}), answers);
        let outcome = Script { session, ..script }.run().await;
        assert_eq!(outcome.addresses(), [address]);
        let expected = success(json!({"provider": provider, "text": "a"}), vec![text("a")]);
        assert_eq!(outcome.settlement, expected);
    }
}

#[tokio::test]
async fn arguments_are_checked() {
    for (input, issue) in [
        (json!({}), "Missing key\n  at [\"query\"]"),
        (
            json!({"query": "q", "numResults": "many"}),
            "Expected number | undefined, got \"many\"\n  at [\"numResults\"]",
        ),
        (
            json!({"query": "q", "livecrawl": "always"}),
            "Expected \"fallback\" | \"preferred\" | undefined, got \"always\"\n  at [\"livecrawl\"]",
        ),
    ] {
        let outcome = search(services(EXA), input, vec![]).await;
        let expected = failed(format!("Invalid tool input: {issue}"));
        assert_eq!(
            (outcome.settlement, outcome.permissions),
            (expected, vec![])
        );
    }
}
