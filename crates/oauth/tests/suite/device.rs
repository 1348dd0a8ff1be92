//! The device flow.

use std::time::Duration;

use opencode_net::{HttpClients, Proxies};
use opencode_oauth::{AuthorizationError, DeviceCode, DevicePoll, Http, Reach, TokenEndpoint};
use serde_json::{Value, json};
use url::Url;

use crate::authorization::AuthorizationServer;

fn http(server: &Url) -> Http {
    Http {
        clients: HttpClients::new(None, Proxies::default()),
        reach: Reach::of(server),
        limit: Duration::from_millis(500),
    }
}

/// A client, and the server that it asks.
struct Device {
    server: AuthorizationServer,
    token: Url,
    http: Http,
}

impl Device {
    async fn start() -> Self {
        let server = AuthorizationServer::start().await;
        let token = Url::parse(&format!("{}/token", server.origin())).unwrap();
        let http = http(&token);
        Self {
            server,
            token,
            http,
        }
    }

    fn endpoint(&self) -> TokenEndpoint<'_> {
        TokenEndpoint {
            address: &self.token,
            client_id: "editor",
            client_secret: None,
            secret_in_body: false,
            resource: None,
        }
    }

    async fn code(&self) -> Result<DeviceCode, AuthorizationError> {
        let address = self.token.join("/device").unwrap();
        let scopes = ["read:user".to_owned(), "models".to_owned()];
        let parameters = [("audience", "api")];
        self.endpoint()
            .device_code(&self.http, &address, &scopes, &parameters)
            .await
    }

    async fn poll(&self, code: &DeviceCode) -> Result<DevicePoll, AuthorizationError> {
        let requested = ["models".to_owned()];
        self.endpoint()
            .device_tokens(&self.http, code, &requested, 1000)
            .await
    }
}

#[tokio::test]
async fn tokens_arrive_when_the_user_has_entered_the_code() {
    let device = Device::start().await;
    let code = device.code().await.unwrap();
    assert_eq!(code.user_code, "WDJB-MJHT");
    let page = format!("{}/enter?code=WDJB-MJHT", device.server.origin());
    assert_eq!(code.page.as_str(), page);
    assert_eq!(
        (code.life, code.interval),
        (Duration::from_secs(900), Duration::from_secs(5))
    );
    let asked = &device.server.received("/device")[0].form;
    assert_eq!(asked["client_id"], "editor");
    assert_eq!(asked["scope"], "read:user models");
    assert_eq!(asked["audience"], "api");

    device.server.change(|it| {
        // GitHub refuses with status 200.
        it.polls = vec![
            (400, "authorization_pending"),
            (200, "authorization_pending"),
            (400, "slow_down"),
        ];
    });
    for expected in ["Pending", "Pending", "SlowDown"] {
        let poll = device.poll(&code).await.unwrap();
        assert_eq!(format!("{poll:?}"), expected);
    }
    device.server.change(|it| it.polls.clear());
    let DevicePoll::Granted(grant) = device.poll(&code).await.unwrap() else {
        panic!("no tokens");
    };
    assert_eq!(grant.access.expose(), "access_secret_1");
    assert_eq!(grant.refresh.unwrap().expose(), "refresh_secret_1");
    assert_eq!(
        (grant.expires, grant.renew),
        (Some(3_601_000), Some(3_301_000))
    );
    assert_eq!(grant.scopes, ["read:user", "models"]);
}

#[tokio::test]
async fn a_server_that_is_away_for_a_moment_is_asked_again() {
    let device = Device::start().await;
    let code = device.code().await.unwrap();
    let raw = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n".to_vec();
    device.server.change(|it| it.raw = Some(("/token", raw)));
    assert!(matches!(device.poll(&code).await, Ok(DevicePoll::SlowDown)));
    device.server.change(|it| {
        it.raw = None;
        it.silent = Some("/token");
    });
    assert!(matches!(device.poll(&code).await, Ok(DevicePoll::SlowDown)));
    device.server.change(|it| it.silent = None);
    assert!(matches!(
        device.poll(&code).await,
        Ok(DevicePoll::Granted(_))
    ));
}

#[tokio::test]
async fn a_refusal_ends_the_flow_without_the_texts_of_the_server() {
    let device = Device::start().await;
    let code = device.code().await.unwrap();
    for (status, given, shown) in [
        (400, "access_denied", "access_denied"),
        (400, "expired_token", "expired_token"),
        (401, "invalid_client", "invalid_client"),
        (400, "code_secret_text", "an unknown error"),
    ] {
        device.server.change(|it| it.polls = vec![(status, given)]);
        let error = device.poll(&code).await.unwrap_err();
        assert_eq!(error, AuthorizationError::Refused(shown.into()));
    }
}

#[tokio::test]
async fn hostile_answers_are_refused_or_bounded() {
    let device = Device::start().await;
    let format = "answers in another format";
    for (members, expected) in [
        (json!({"user_code": "a\nb"}), format),
        (json!({"user_code": ""}), format),
        (json!({"user_code": "x".repeat(33)}), format),
        (json!({"device_code": "a b"}), format),
        (json!({"device_code": 1}), format),
        (
            json!({"error": "invalid_scope"}),
            "gives no device code: invalid_scope",
        ),
        (
            json!({"error": "code_secret"}),
            "gives no device code: an unknown error",
        ),
        (
            json!({"verification_uri": "javascript:alert(1)", "verification_uri_complete": Value::Null}),
            format,
        ),
    ] {
        device.server.change(|it| it.device = members.clone());
        let message = device.code().await.unwrap_err().to_string();
        assert!(message.ends_with(expected), "{members}: {message}");
    }
    let seconds = Duration::from_secs;
    for (members, life, interval) in [
        (
            json!({"expires_in": 1e12, "interval": 0}),
            seconds(900),
            seconds(1),
        ),
        (
            json!({"expires_in": "60", "interval": 1e9}),
            seconds(60),
            seconds(60),
        ),
        (
            json!({"expires_in": null, "interval": null}),
            seconds(900),
            seconds(5),
        ),
        (
            json!({"expires_in": -1, "interval": -1}),
            seconds(900),
            seconds(5),
        ),
    ] {
        device.server.change(|it| it.device = members.clone());
        let code = device.code().await.unwrap();
        assert_eq!((code.life, code.interval), (life, interval), "{members}");
    }
    // The page without the code is used if the other one is none.
    let page = json!({"verification_uri_complete": "http://evil.example/"});
    device.server.change(|it| it.device = page);
    let code = device.code().await.unwrap();
    assert_eq!(code.page.path(), "/enter");
    assert_eq!(code.page.query(), None);
    device.server.change(|it| {
        let answer = b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n";
        it.raw = Some(("/device", answer.to_vec()));
    });
    let message = device.code().await.unwrap_err().to_string();
    assert!(
        message.ends_with("answers with status 500 Internal Server Error"),
        "{message}"
    );
}
