//! The registration of this host as a client of an authorization server (RFC 7591).

use http::StatusCode;
use opencode_oauth::{Answer, AuthorizationError, Http, Number, refusal_code, shown, shown_code};
use opencode_schema::clock::Millis;
use opencode_secrets::Secret;
use serde::Deserialize;
use serde_json::json;

use super::discovery::Found;
use super::record::Client;

/// Maximum length of an id or a secret of a client.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// The name of this host at authorization servers.
const CLIENT_NAME: &str = "opencode";

/// The answer of a registration endpoint.
#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<Number>,
    token_endpoint_auth_method: Option<String>,
}

/// Registers this host as a client.
pub(super) async fn register(
    http: &Http,
    found: &Found,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<Client, AuthorizationError> {
    let Some(address) = &found.registration_endpoint else {
        let message = unregistered(found);
        return Err(AuthorizationError::NeedsClientRegistration(message));
    };
    let mut client = json!({
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    if !scopes.is_empty() {
        client["scope"] = scopes.join(" ").into();
    }
    let body = client.to_string().into_bytes();
    let failed = AuthorizationError::Failed;
    let answer = http.post(address, "application/json", None, body).await;
    let answer = answer.map_err(failed)?;
    if !answer.status.is_success() {
        return Err(not_registered(found, &answer));
    }
    let other = || failed(format!("{} answers in another format", shown(address)));
    let registered: Registered = serde_json::from_slice(&answer.body).map_err(|_| other())?;
    let secret = registered.client_secret.filter(|secret| !secret.is_empty());
    let fits = |text: &str| !text.is_empty() && text.len() <= MAX_TEXT_BYTES;
    if !fits(&registered.client_id) || !secret.as_deref().is_none_or(fits) {
        return Err(other());
    }
    let expires = registered.client_secret_expires_at.as_ref();
    let expires = expires
        .and_then(Number::seconds)
        .filter(|seconds| *seconds > 0);
    let method = registered.token_endpoint_auth_method;
    Ok(Client {
        id: registered.client_id,
        secret: secret.map(Secret::new),
        secret_expires: expires.map(|seconds| (seconds as Millis).saturating_mul(1000)),
        redirect_uri: Some(redirect_uri.to_owned()),
        secret_in_body: match method.as_deref() {
            Some("client_secret_post") => true,
            Some("client_secret_basic") => false,
            _ => found.secret_in_body,
        },
    })
}

fn not_registered(found: &Found, answer: &Answer) -> AuthorizationError {
    match answer.status {
        StatusCode::UNAUTHORIZED
        | StatusCode::FORBIDDEN
        | StatusCode::NOT_FOUND
        | StatusCode::METHOD_NOT_ALLOWED => {
            AuthorizationError::NeedsClientRegistration(unregistered(found))
        }
        status => {
            let code = refusal_code(answer);
            let reason = match code.as_deref() {
                Some(code) => shown_code(code).to_owned(),
                None => format!("status {status}"),
            };
            let shown = shown(&found.token_endpoint);
            let message = format!("{shown} did not register this host as a client: {reason}");
            AuthorizationError::Failed(message)
        }
    }
}

/// Returns the advice for a server without registration.
pub(super) fn unregistered(found: &Found) -> String {
    let shown = shown(&found.token_endpoint);
    format!("{shown} registers no clients; register one there and set `oauth.client_id`")
}
