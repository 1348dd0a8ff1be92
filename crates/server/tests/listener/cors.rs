//! The CORS headers for browsers.

use opencode_server::ListenOptions;

use crate::client::Reply;
use crate::server::{JSON, KEY, Served, locked, unlocked};

const GOOD: &str = "http://localhost:5173";
const EVIL: &str = "https://evil.example";

fn from(origin: &str) -> String {
    format!("origin: {origin}\r\n")
}

/// Status, allowed origin, and the header `vary`.
fn shared(reply: &Reply) -> (u16, Option<String>, Option<String>) {
    let origin = reply.header("access-control-allow-origin");
    (reply.status, origin, reply.header("vary"))
}

#[tokio::test]
async fn all_kinds_of_answers_have_cors_headers() {
    let served = Served::open(locked()).await;
    let (good, keyed) = (from(GOOD), format!("{}{KEY}", from(GOOD)));
    let vary = || Some("Origin".to_owned());
    for (method, path, headers, status) in [
        ("GET", "/api/health", &keyed, 200),
        ("GET", "/api/health", &good, 401),
        ("GET", "/nothing", &good, 401),
        ("GET", "/nothing", &keyed, 404),
        ("GET", "/api/session/ses_nope", &keyed, 404),
        ("POST", "/api/session/foo/interrupt", &keyed, 400),
        (
            "POST",
            "/api/session",
            &format!("{keyed}content-type: text/plain\r\n"),
            415,
        ),
    ] {
        let reply = served.server.ask(method, path, headers, "").await;
        let expected = (status, Some(GOOD.to_owned()), vary());
        assert_eq!(shared(&reply), expected, "{method} {path}");
    }
    let stranger = format!("{}{KEY}", from(EVIL));
    let reply = served.server.ask("GET", "/api/health", &stranger, "").await;
    assert_eq!(shared(&reply), (200, None, vary()));
    let reply = served.server.ask("GET", "/api/health", KEY, "").await;
    assert_eq!(shared(&reply), (200, None, vary()));
}

#[tokio::test]
async fn a_request_with_the_password_from_a_foreign_page_is_executed() {
    let served = Served::open(locked()).await;
    let headers = format!("{}{JSON}", from(EVIL));
    let target = "/api/session?auth_token=b3BlbmNvZGU6czNjcmV0";
    let reply = served.server.ask("POST", target, &headers, "{}").await;
    assert_eq!(shared(&reply), (200, None, Some("Origin".into())));
    let id = reply.json()["data"]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/session/{id}");
    assert_eq!(served.server.ask("GET", &path, KEY, "").await.status, 200);
}

#[tokio::test]
async fn preflights_need_no_credentials() {
    let served = Served::open(locked()).await;
    let asked = "access-control-request-method: POST\r\n\
                 access-control-request-headers: content-type,x-opencode-directory\r\n";
    let plain = |reply: &Reply| {
        let wanted = |(name, value): &(String, String)| {
            let it = name.starts_with("access-control") || name == "vary";
            it.then(|| format!("{name}: {value}"))
        };
        let mut headers: Vec<_> = reply.headers.iter().filter_map(wanted).collect();
        headers.sort();
        (reply.status, headers, reply.text().to_owned())
    };
    let same = [
        "access-control-allow-headers: content-type,x-opencode-directory",
        "access-control-allow-methods: GET, HEAD, PUT, PATCH, POST, DELETE",
        "access-control-max-age: 86400",
        "vary: Origin, Access-Control-Request-Headers",
    ];
    let for_evil: Vec<_> = same.map(str::to_owned).into();
    let mut for_good = for_evil.clone();
    for_good.insert(2, format!("access-control-allow-origin: {GOOD}"));
    for path in ["/api/session", "/api/nothing", "/", "*"] {
        for (origin, headers) in [(GOOD, &for_good), (EVIL, &for_evil)] {
            let head = format!("{}{asked}", from(origin));
            let reply = served.server.ask("OPTIONS", path, &head, "").await;
            assert_eq!(
                plain(&reply),
                (204, headers.clone(), String::new()),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn further_origins_may_be_configured() {
    let options = ListenOptions {
        cors: vec!["https://app.example".into()],
        ..unlocked()
    };
    let served = Served::open(options).await;
    for (origin, allowed) in [
        ("https://app.example", true),
        (EVIL, false),
        ("null", false),
    ] {
        let reply = served
            .server
            .ask("GET", "/api/health", &from(origin), "")
            .await;
        let found = reply.header("access-control-allow-origin");
        assert_eq!(found, allowed.then(|| origin.to_owned()));
    }
}
