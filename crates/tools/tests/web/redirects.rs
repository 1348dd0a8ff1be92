//! Tests for the redirects that `webfetch` follows, and for the permissions before them.

use opencode_tools::{PermissionError, Settlement};
use serde_json::json;

use crate::{
    common::{denied, failed},
    scripted::{Answer, Outcome, Script, answer, page},
};

fn to(location: &str) -> Answer {
    answer(302, &[("location", location)], "")
}

fn script(url: &str, answers: Vec<Answer>) -> Script {
    Script::new("webfetch", json!({"url": url}), answers)
}

fn output(outcome: &Outcome) -> Option<&str> {
    match &outcome.settlement {
        Settlement::Success { structured, .. } => structured["output"].as_str(),
        _ => None,
    }
}

#[tokio::test]
async fn redirects_within_a_server_are_allowed_with_its_address() {
    let url = "http://a.example/x/y";
    for status in [301, 302, 303, 307, 308] {
        for (location, expected) in [
            ("z?q=1", "http://a.example/x/z?q=1"),
            ("/z", "http://a.example/z"),
            ("//a.example/z", "http://a.example/z"),
            ("https://A.example/z", "https://a.example/z"),
            ("http://a.example:80/z", "http://a.example/z"),
        ] {
            let redirect = answer(status, &[("location", location)], "");
            let outcome = script(url, vec![redirect, page("", "there")]).run().await;
            assert_eq!(output(&outcome), Some("there"), "{location}");
            assert_eq!(outcome.addresses(), [url, expected]);
            assert_eq!(outcome.resources(), [url]);
        }
    }
}

#[tokio::test]
async fn a_redirect_to_another_server_needs_a_permission() {
    for (url, location, expected) in [
        (
            "http://a.example/",
            "http://b.example/z",
            "http://b.example/z",
        ),
        (
            "http://a.example/",
            "http://www.a.example/",
            "http://www.a.example/",
        ),
        (
            "http://a.example/",
            "http://a.example:8080",
            "http://a.example:8080/",
        ),
        // A change from HTTPS to HTTP is a different site.
        (
            "https://a.example/",
            "http://a.example/",
            "http://a.example/",
        ),
        (
            "https://a.example:8443/",
            "http://a.example:8443/",
            "http://a.example:8443/",
        ),
        (
            "http://a.example/",
            "http://169.254.169.254/",
            "http://169.254.169.254/",
        ),
    ] {
        let allowed = script(url, vec![to(location), page("", "there")])
            .run()
            .await;
        assert_eq!(output(&allowed), Some("there"));
        assert_eq!(allowed.resources(), [url, expected]);
        let metadata = json!({"url": expected, "format": "markdown"});
        assert_eq!(json!(allowed.permissions[1].metadata), metadata);
        assert_eq!(allowed.permissions[1].save, ["*"]);

        let blocked = Script {
            allow: Box::new(move |request| {
                let named = request.resources == [url];
                named.then_some(()).ok_or(PermissionError::Blocked)
            }),
            ..script(url, vec![to(location)])
        };
        let blocked = blocked.run().await;
        let refused = denied(format!("Unable to fetch {url}"));
        assert_eq!(blocked.settlement, refused);
        assert_eq!(blocked.addresses(), [url]);
    }
}

#[tokio::test]
async fn invalid_and_endless_redirects_are_refused() {
    let url = "http://a.example/";
    let nowhere = failed(format!(
        "Unable to fetch {url}: the server redirects to no address of the web"
    ));
    for location in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http://[",
        "\u{e9}",
    ] {
        let outcome = script(url, vec![to(location)]).run().await;
        assert_eq!(outcome.settlement, nowhere, "{location}");
    }
    let without = script(url, vec![answer(302, &[], "")]).run().await;
    let expected = failed(format!(
        "Unable to fetch {url}: the server answers 302 Found"
    ));
    assert_eq!(without.settlement, expected);

    let circle = |times: usize| vec![to("/"); times];
    let mut answers = circle(10);
    answers.push(page("", "there"));
    assert_eq!(output(&script(url, answers).run().await), Some("there"));
    let outcome = script(url, circle(11)).run().await;
    let expected = failed(format!(
        "Unable to fetch {url}: it redirects more than 10 times"
    ));
    assert_eq!(outcome.settlement, expected);
}
