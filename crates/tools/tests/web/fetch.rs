//! Tests for the permissions and requests of `webfetch`, and for its handling of answers.

use opencode_tools::{PermissionError, Settlement};
use serde_json::{Value, json};

use crate::{
    common::{denied, failed, success, text},
    scripted::{Answer, Outcome, Script, answer, page, pairs},
};

const URL: &str = "https://example.com/a?b=c#d";

async fn fetch(input: Value, answers: Vec<Answer>) -> Outcome {
    Script::new("webfetch", input, answers).run().await
}

async fn fetched(format: &str, answer: Answer) -> Settlement {
    let input = json!({"url": URL, "format": format});
    fetch(input, vec![answer]).await.settlement
}

fn shown(content_type: &str, format: &str, output: &str) -> Settlement {
    success(
        json!({"url": URL, "contentType": content_type, "format": format, "output": output}),
        vec![text(output)],
    )
}

#[tokio::test]
async fn a_page_is_returned_in_the_requested_format() {
    let html = "\u{feff}<h1>A</h1><p>b *c*<script>x</script>";
    let kind = "text/html; charset=iso-8859-1";
    for (format, output) in [
        ("markdown", "# A\n\nb \\*c\\*"),
        ("text", "Ab *c*"),
        ("html", "<h1>A</h1><p>b *c*<script>x</script>"),
    ] {
        let settled = fetched(format, page(kind, html)).await;
        assert_eq!(settled, shown(kind, format, output));
    }
}

/// Runs on the same kind of threads as real calls.
#[tokio::test]
async fn a_page_with_deep_nesting_is_returned_as_plain_text() {
    for (levels, output) in [(97, "\\*a"), (98, "*a"), (100_000, "*a")] {
        let html = format!("{}*a", "<div>".repeat(levels));
        let settled = fetched("markdown", page("text/html", html)).await;
        assert_eq!(settled, shown("text/html", "markdown", output), "{levels}");
    }
}

#[tokio::test]
async fn other_texts_are_returned_unchanged() {
    for kind in [
        "text/plain",
        "text/markdown; charset=utf-8",
        "application/json",
        "application/problem+json",
        "application/xml",
        "application/xhtml+xml",
        "image/svg+xml",
        "application/javascript",
    ] {
        let settled = fetched("markdown", page(kind, " <b>a</b>\n")).await;
        assert_eq!(settled, shown(kind, "markdown", " <b>a</b>\n"));
    }
    let settled = fetched("text", answer(203, &[], *b"a\xff\xc3\xa9")).await;
    assert_eq!(settled, shown("", "text", "a\u{fffd}é"));
}

#[tokio::test]
async fn the_permission_request_has_the_address_as_written_and_normalised() {
    for (url, resources) in [
        (
            "https://example.com/a?b=c",
            &["https://example.com/a?b=c"][..],
        ),
        // A rule for `http://example.com/*` applies to this address too.
        (
            "http://example.com",
            &["http://example.com", "http://example.com/"],
        ),
        (
            "HTTP:\\\\Example.com:80/a\n/../b",
            &["HTTP:\\\\Example.com:80/a\n/../b", "http://example.com/b"],
        ),
        ("http://0x7f.1", &["http://0x7f.1", "http://127.0.0.1/"]),
        // Parts that are not sent to the server, or that do not change the server, do not bypass a
        // rule.
        (URL, &[URL, "https://example.com/a?b=c"]),
        (
            "http://a:b@example.com/",
            &["http://a:b@example.com/", "http://example.com/"],
        ),
        (
            "http://example.com./",
            &["http://example.com./", "http://example.com/"],
        ),
    ] {
        let outcome = fetch(json!({"url": url}), vec![page("", "")]).await;
        let [asked] = &*outcome.permissions else {
            panic!("one request, not {:?}", outcome.permissions);
        };
        assert_eq!(
            (asked.action.as_str(), &*asked.save),
            ("webfetch", &["*".to_owned()][..])
        );
        assert_eq!(asked.resources, resources);
        let metadata = json!({"url": url, "format": "markdown"});
        assert_eq!(Value::Object(asked.metadata.clone()), metadata);
    }
    let input = json!({"url": URL, "format": "html", "timeout": 0.5});
    let outcome = fetch(input.clone(), vec![page("", "")]).await;
    assert_eq!(
        Value::Object(outcome.permissions[0].metadata.clone()),
        input
    );
}

#[tokio::test]
async fn requests_have_the_headers_of_a_browser() {
    let accepted = [
        (
            "markdown",
            "text/markdown, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1",
        ),
        (
            "text",
            "text/plain, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1",
        ),
        (
            "html",
            "text/html, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1",
        ),
    ];
    for (format, accepted) in accepted {
        let input = json!({"url": URL, "format": format});
        let outcome = fetch(input, vec![page("", "")]).await;
        let [request] = &*outcome.requests else {
            panic!("one request");
        };
        assert_eq!(request.address.as_str(), URL);
        assert!(request.post.is_none());
        assert_eq!(request.limit, 5_242_880);
        let headers = pairs(&request.headers);
        let agent = headers[0].1;
        assert!(agent.starts_with("Mozilla/5.0 ("), "{agent}");
        let rest = [("accept", accepted), ("accept-language", "en-US,en;q=0.9")];
        assert_eq!(headers[1..], rest);
    }
}

#[tokio::test]
async fn a_challenge_is_answered_once_with_the_real_user_agent() {
    let challenge = || answer(403, &[("cf-mitigated", "challenge")], "");
    let settled = |outcome: Outcome| {
        let agents = outcome.requests.iter().map(|request| {
            let agent = request.headers["user-agent"].to_str();
            agent
                .expect("it is a text")
                .split('/')
                .next()
                .unwrap_or("")
                .to_owned()
        });
        (agents.collect::<Vec<_>>(), outcome.settlement)
    };
    let input = || json!({"url": URL});
    let outcome = fetch(input(), vec![challenge(), page("text/plain", "a")]).await;
    let agents = vec!["Mozilla".to_owned(), "opencode".to_owned()];
    assert_eq!(
        settled(outcome),
        (agents.clone(), shown("text/plain", "markdown", "a"))
    );
    let forbidden = failed(format!(
        "Unable to fetch {URL}: the server answers 403 Forbidden"
    ));
    let outcome = fetch(input(), vec![challenge(), challenge()]).await;
    assert_eq!(settled(outcome), (agents, forbidden.clone()));
    for other in [
        answer(403, &[], ""),
        answer(403, &[("cf-mitigated", "block")], ""),
    ] {
        let outcome = fetch(input(), vec![other]).await;
        assert_eq!(
            settled(outcome),
            (vec!["Mozilla".to_owned()], forbidden.clone())
        );
    }
}

#[tokio::test]
async fn failures_have_a_reason() {
    for (answer, reason) in [
        (answer(404, &[], ""), "the server answers 404 Not Found"),
        (answer(304, &[], ""), "the server answers 304 Not Modified"),
        (
            Answer::Error("the request failed: no way"),
            "the request failed: no way",
        ),
        (
            page("Image/PNG; a=b", "a"),
            "it is Image/PNG, which is no text",
        ),
        (
            page("application/octet-stream", ""),
            "it is application/octet-stream, which is no text",
        ),
        (
            answer(200, &[("content-encoding", "br")], "a"),
            "it is compressed in a way that was not asked for",
        ),
    ] {
        let expected = failed(format!("Unable to fetch {URL}: {reason}"));
        assert_eq!(fetched("markdown", answer).await, expected);
    }
}

#[tokio::test]
async fn an_invalid_address_is_refused_before_a_permission_request() {
    for (url, reason) in [
        ("", "it is no address (relative URL without a base)"),
        (
            "example.com/a",
            "it is no address (relative URL without a base)",
        ),
        ("http://", "it is no address (empty host)"),
        ("file:///etc/passwd", "only http and https can be fetched"),
        ("ftp://example.com", "only http and https can be fetched"),
        ("data:text/plain,a", "only http and https can be fetched"),
    ] {
        let outcome = fetch(json!({"url": url}), vec![]).await;
        let expected = failed(format!("Unable to fetch {url}: {reason}"));
        assert_eq!(
            (outcome.settlement, outcome.permissions),
            (expected, vec![])
        );
    }
    for (input, issue) in [
        (json!({}), "Missing key\n  at [\"url\"]"),
        (
            json!({"url": URL, "timeout": 0}),
            "Expected a value greater than 0, got 0\n  at [\"timeout\"]",
        ),
        (
            json!({"url": URL, "format": "pdf"}),
            "Expected \"text\" | \"markdown\" | \"html\" | undefined, got \"pdf\"\n  at [\"format\"]",
        ),
    ] {
        let outcome = fetch(input, vec![]).await;
        let expected = failed(format!("Invalid tool input: {issue}"));
        assert_eq!(
            (outcome.settlement, outcome.permissions),
            (expected, vec![])
        );
    }
}

#[tokio::test]
async fn a_denied_address_is_not_fetched() {
    for (answer, expected) in [
        (
            PermissionError::Blocked,
            denied(format!("Unable to fetch {URL}")),
        ),
        (PermissionError::Declined, Settlement::Declined),
    ] {
        let outcome = Script {
            allow: Box::new(move |_| Err(answer.clone())),
            ..Script::new("webfetch", json!({"url": URL}), vec![])
        };
        assert_eq!(outcome.run().await.settlement, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_covers_all_requests() {
    let late = failed(format!(
        "Unable to fetch {URL}: it takes too long; try a larger timeout"
    ));
    for (input, seconds) in [
        (json!({"url": URL}), 30.0),
        (json!({"url": URL, "timeout": 2.5}), 2.5),
        (json!({"url": URL, "timeout": 120}), 120.0),
    ] {
        let begun = tokio::time::Instant::now();
        let challenge = answer(403, &[("cf-mitigated", "challenge")], "");
        let outcome = fetch(input, vec![challenge, Answer::Never]).await;
        assert_eq!(outcome.settlement, late);
        let waited = begun.elapsed().as_secs_f64();
        assert!((waited - seconds).abs() < 0.1, "{waited} of {seconds}");
    }
}
