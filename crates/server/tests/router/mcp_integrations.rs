//! The authorization of the host at remote MCP servers, through the routes of the contract.

use std::net::TcpListener;

use opencode_testkit::{AuthorizationServer, Fixture, RecordedLog, redirect_port};
use serde_json::{Value, json};
use url::Url;

use crate::api::{Answer, Api, request};

struct Host {
    api: Api,
    server: AuthorizationServer,
    /// The port of the redirect address.
    port: u16,
    /// Keeps the port of the redirect address from the host.
    taken: Option<TcpListener>,
}

impl Host {
    /// A host with one MCP server, `notes`. The browser answers, or the user enters the answer.
    async fn open(is_entered: bool) -> Self {
        let server = AuthorizationServer::start().await;
        let port = redirect_port();
        let host = Self {
            api: Api::on(Fixture::open().await),
            server,
            port,
            taken: is_entered.then(|| TcpListener::bind(("127.0.0.1", port)).unwrap()),
        };
        host.add().await;
        host
    }

    /// Adds the server until the host closes.
    async fn add(&self) {
        let url = self.server.url().to_string();
        let config = json!({"type": "remote", "url": url, "oauth": {"callbackPort": self.port}});
        let body = json!({"name": "notes", "config": config});
        let added = self.post("/api/mcp", body).await.ok();
        assert_eq!(added["data"]["status"], json!({"status": "needs_auth"}));
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.api.post_json(path, &body).await
    }

    /// Begins an attempt.
    async fn begin(&self) -> Value {
        let path = "/api/integration/mcp:notes/connect/oauth";
        let body = json!({"methodID": "oauth", "inputs": {}, "label": "mine"});
        let answer = self.post(path, body).await.ok();
        answer["data"].clone()
    }

    fn consent(&self, attempt: &Value) -> Url {
        let page = Url::parse(attempt["url"].as_str().unwrap()).unwrap();
        self.server.consent(&page)
    }

    async fn complete(&self, attempt: &Value, code: &str) -> Answer {
        let path = format!("{}/complete", path_of(attempt));
        self.post(&path, json!({"code": code})).await
    }

    /// The status of an attempt once it is not pending.
    async fn end(&self, attempt: &Value) -> Value {
        let ended = async {
            loop {
                let answer = self.api.get(&path_of(attempt)).await.ok();
                if answer["data"]["status"] != "pending" {
                    return answer["data"].clone();
                }
                tokio::task::yield_now().await;
            }
        };
        self.api.f.within("the end of the attempt", ended).await
    }

    /// Returns when the server does not wait for an authorization any more.
    async fn authorized(&self) {
        loop {
            let servers = self.api.get("/api/mcp").await.ok();
            if servers["data"][0]["status"]["status"] != "needs_auth" {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn connections(&self) -> Value {
        let found = self.api.get("/api/integration/mcp:notes").await.ok();
        found["data"]["connections"].clone()
    }
}

fn path_of(attempt: &Value) -> String {
    format!(
        "/api/integration/attempt/{}",
        attempt["attemptID"].as_str().unwrap()
    )
}

fn refusal(field: &str, message: &str) -> (u16, Value) {
    let body = json!({"_tag": "InvalidRequestError", "message": message, "field": field});
    (400, body)
}

#[tokio::test]
async fn a_remote_server_is_an_integration() {
    let host = Host::open(false).await;
    let expected = json!({
        "id": "mcp:notes",
        "name": "notes",
        "methods": [{"type": "oauth", "id": "oauth", "label": "Authorize in the browser"}],
        "connections": [],
    });
    let listed = host.api.get("/api/integration").await.ok();
    assert_eq!(listed["data"][0], expected);
    let found = host.api.get("/api/integration/mcp:notes").await.ok();
    assert_eq!(found["data"], expected);
    let key = host.post(
        "/api/integration/mcp:notes/connect/key",
        json!({"key": "k"}),
    );
    assert_eq!(
        key.await.status_and_json(),
        refusal(
            "integrationID",
            "The integration mcp:notes has no method with a key"
        )
    );
    let path = "/api/integration/mcp:notes/connect/oauth";
    let other = host.post(path, json!({"methodID": "other", "inputs": {}}));
    assert_eq!(
        other.await.status_and_json(),
        refusal("methodID", "The integration mcp:notes has no method other")
    );
    let label = "x".repeat(257);
    let long = host.post(
        path,
        json!({"methodID": "oauth", "inputs": {}, "label": label}),
    );
    assert_eq!(
        long.await.status_and_json(),
        refusal("label", "A label has at most 256 characters")
    );
}

#[tokio::test]
async fn the_browser_completes_an_attempt() {
    let host = Host::open(false).await;
    let mut events = host.api.stream("/api/event").await;
    let attempt = host.begin().await;
    assert!(attempt["attemptID"].as_str().unwrap().starts_with("con_"));
    assert_eq!(attempt["mode"], "auto");
    let time = &attempt["time"];
    let expires = time["created"].as_i64().unwrap() + 600_000;
    assert_eq!(time["expires"], expires);
    let pending = host.api.get(&path_of(&attempt)).await.ok();
    assert_eq!(pending["data"], json!({"status": "pending", "time": time}));
    assert_eq!(
        host.complete(&attempt, "code").await.status_and_json(),
        refusal("attemptID", "The attempt needs no code")
    );
    let redirect = host.consent(&attempt);
    assert_eq!(AuthorizationServer::browse(&redirect).await.0, 200);
    host.api
        .f
        .within("the authorization", host.authorized())
        .await;
    let ended = json!({"status": "complete", "time": time});
    assert_eq!(host.end(&attempt).await, ended);
    let connections = host.connections().await;
    let id = connections[0]["id"].as_str().unwrap();
    assert!(id.starts_with("cred_"));
    let expected = json!([{"type": "credential", "id": id, "label": "mine"}]);
    assert_eq!(connections, expected);

    let path = format!("/api/credential/{id}");
    let body = r#"{"label":"yours"}"#;
    let renamed = host.api.send(request("PATCH", &path, body.into())).await;
    renamed.is_bare(204);
    assert_eq!(host.connections().await[0]["label"], "yours");
    host.api.delete(&path).await.is_bare(204);
    assert_eq!(host.connections().await, json!([]));
    // A removal that removes nothing is not announced.
    host.api.delete(&path).await.is_bare(204);
    host.api.f.close().await;
    let (events, _) = events.rest(&host.api.f).await;
    let updated = "integration.connection.updated";
    let is_update = |kind: &&String| kind.as_str() == updated;
    assert_eq!(events.iter().filter(is_update).count(), 3, "{events:?}");
}

#[tokio::test]
async fn the_user_completes_an_attempt() {
    let host = Host::open(true).await;
    let attempt = host.begin().await;
    assert_eq!(attempt["mode"], "code");
    let redirect = host.consent(&attempt);
    let mut wrong = redirect.clone();
    wrong.set_query(Some("code=code&state=other"));
    assert_eq!(
        host.complete(&attempt, wrong.as_str())
            .await
            .status_and_json(),
        refusal("code", "the address does not belong to this authorization")
    );
    assert_eq!(
        host.complete(&attempt, " ").await.status_and_json(),
        refusal("code", "Enter the code of the page")
    );
    let pending = host.api.get(&path_of(&attempt)).await.ok();
    assert_eq!(pending["data"]["status"], "pending");
    host.complete(&attempt, redirect.as_str())
        .await
        .is_bare(204);
    assert_eq!(host.end(&attempt).await["status"], "complete");
    assert_eq!(host.connections().await[0]["label"], "mine");
    assert_eq!(
        host.complete(&attempt, redirect.as_str())
            .await
            .status_and_json(),
        refusal("attemptID", "The attempt has ended; begin another one")
    );
}

#[tokio::test]
async fn a_refusal_fails_an_attempt() {
    let host = Host::open(false).await;
    host.server.change(|it| it.consents = false);
    let attempt = host.begin().await;
    AuthorizationServer::browse(&host.consent(&attempt)).await;
    let message = "the authorization was refused: access_denied";
    let failed = json!({"status": "failed", "message": message, "time": attempt["time"]});
    assert_eq!(host.end(&attempt).await, failed);

    let entered = Host::open(true).await;
    entered.server.change(|it| it.accepts_codes = false);
    let attempt = entered.begin().await;
    let redirect = entered.consent(&attempt);
    let message = "the authorization was refused: the code has expired, or was used already";
    assert_eq!(
        entered
            .complete(&attempt, redirect.as_str())
            .await
            .status_and_json(),
        refusal("code", message)
    );
    assert_eq!(entered.end(&attempt).await["message"], message);
    assert_eq!(entered.connections().await, json!([]));
}

#[tokio::test]
async fn a_server_that_cannot_be_used_begins_no_attempt() {
    let host = Host::open(false).await;
    let path = "/api/integration/mcp:notes/connect/oauth";
    let begin = || host.post(path, json!({"methodID": "oauth", "inputs": {}}));
    host.server.change(|it| it.registers = false);
    let message = format!(
        "mcp:notes cannot be authorized: {} registers no clients; register one there and set `oauth.client_id`",
        host.server.origin()
    );
    let needs = refusal("integrationID", &message);
    assert_eq!(begin().await.status_and_json(), needs);
    host.server
        .change(|it| it.metadata = json!({"issuer": "https://evil.example"}));
    let (status, body) = begin().await.status_and_json();
    assert_eq!(
        (status, &body["_tag"]),
        (503, &json!("ServiceUnavailableError"))
    );
}

#[tokio::test]
async fn an_attempt_expires() {
    for (is_entered, minutes, status) in [(false, 5, "failed"), (true, 10, "expired")] {
        let host = Host::open(is_entered).await;
        let attempt = host.begin().await;
        let clock = &host.api.f.clock;
        clock.advance(minutes * 60_000 - 1);
        let pending = host.api.get(&path_of(&attempt)).await.ok();
        assert_eq!(pending["data"]["status"], "pending");
        clock.advance(1);
        assert_eq!(host.end(&attempt).await["status"], status);
        clock.advance(60_000);
        let removed = async {
            while host.api.get(&path_of(&attempt)).await.status == 200 {
                tokio::task::yield_now().await;
            }
        };
        host.api.f.within("the removal", removed).await;
        let gone = host.api.get(&path_of(&attempt)).await.status_and_json();
        let id = attempt["attemptID"].as_str().unwrap();
        assert_eq!(
            gone,
            refusal("attemptID", &format!("Unknown attempt: {id}"))
        );
    }
}

#[tokio::test]
async fn a_cancelled_attempt_is_gone() {
    let host = Host::open(false).await;
    let attempt = host.begin().await;
    host.api.delete(&path_of(&attempt)).await.is_bare(204);
    assert_eq!(host.api.get(&path_of(&attempt)).await.status, 400);
    // Its port is free again.
    assert_eq!(host.begin().await["mode"], "auto");
}

#[tokio::test]
async fn an_attempt_ends_with_the_host_and_the_client_stays() {
    let mut host = Host::open(false).await;
    let attempt = host.begin().await;
    host.api = host.api.kill().await;
    assert_eq!(host.api.get(&path_of(&attempt)).await.status, 400);
    host.add().await;
    let next = host.begin().await;
    let client = |attempt: &Value| {
        let page = Url::parse(attempt["url"].as_str().unwrap()).unwrap();
        let id = page.query_pairs().find(|it| it.0 == "client_id");
        id.unwrap().1.into_owned()
    };
    assert_eq!(client(&attempt), client(&next));
    assert_eq!(host.server.received("/register").len(), 1);
    assert_eq!(host.connections().await, json!([]));
}

#[tokio::test]
async fn secrets_are_stored_and_shown_nowhere() {
    let log = RecordedLog::begin();
    let mut host = Host::open(true).await;
    let session = host.api.f.session().await;
    let mut events = host.api.stream("/api/event").await;
    let mut answers = Vec::new();
    for accepts in [false, true] {
        host.server.change(|it| it.accepts_codes = accepts);
        let attempt = host.begin().await;
        let redirect = host.consent(&attempt);
        let completed = host.complete(&attempt, redirect.as_str()).await;
        answers.push(completed.text);
        answers.push(host.end(&attempt).await.to_string());
    }
    let secrets = host.server.secrets();
    assert!(secrets.len() >= 4);
    for path in [
        "/api/integration".to_owned(),
        "/api/integration/mcp:notes".to_owned(),
        format!("/api/session/{session}/export"),
        "/api/provider".to_owned(),
        "/api/config/diagnostics".to_owned(),
    ] {
        answers.push(host.api.get(&path).await.text);
    }
    host.api.f.close().await;
    answers.push(format!("{:?}", events.rest(&host.api.f).await.0));
    let database = std::fs::read(host.api.f.project.root().join("data/opencode.db")).unwrap();
    let database = String::from_utf8_lossy(&database);
    assert!(
        database.contains("access_secret_"),
        "the search finds secrets"
    );
    host.taken.take();
    answers.extend(log.all().await.iter().map(|entry| format!("{entry:?}")));
    for secret in &secrets {
        for answer in &answers {
            assert!(!answer.contains(secret.as_str()), "{secret}: {answer}");
        }
    }
}
