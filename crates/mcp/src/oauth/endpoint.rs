//! The token endpoint and the registration endpoint of an authorization server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, StatusCode};
use opencode_schema::clock::Millis;
use serde::Deserialize;
use serde_json::json;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::challenge::scopes;
use super::discovery::Found;
use super::error::{AuthorizationError, shown_code};
use super::http::{Answer, Http, shown};
use super::record::{Client, Grant, Record};
use super::secret::Secret;

/// Maximum length of a token, an id or a secret of a client.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// The name of this host at authorization servers.
const CLIENT_NAME: &str = "opencode";

/// The reason why there are no tokens.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TokenRefusal {
    /// The server refused the code or the refresh token.
    Grant,
    /// The server refused the client.
    Client,
    /// The server refused for another reason, or cannot be used.
    Other(String),
}

/// The answer of a token endpoint.
#[derive(Deserialize)]
struct Tokens {
    access_token: String,
    token_type: String,
    expires_in: Option<Number>,
    refresh_token: Option<String>,
    scope: Option<String>,
}

/// A number that some servers send as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Number(f64),
    Text(String),
}

impl Number {
    fn seconds(&self) -> Option<u64> {
        let number = match self {
            Self::Number(number) => *number,
            Self::Text(text) => text.parse().ok()?,
        };
        (number >= 0.0).then_some(number as u64)
    }
}

/// The answer of a refusing endpoint.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// The answer of a registration endpoint.
#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<Number>,
    token_endpoint_auth_method: Option<String>,
}

/// Exchanges a code for tokens.
pub(super) async fn exchange(
    http: &Http,
    record: &Record,
    secret: Option<&Secret>,
    code: (&Secret, &Secret, &str),
    requested: &[String],
    now: Millis,
) -> Result<Grant, TokenRefusal> {
    let (code, verifier, redirect_uri) = code;
    let parameters = [
        ("grant_type", "authorization_code"),
        ("code", code.expose()),
        ("redirect_uri", redirect_uri),
        ("code_verifier", verifier.expose()),
    ];
    let mut grant = request(http, record, secret, &parameters, now).await?;
    // Without a list, the server granted all requested scopes (RFC 6749).
    if grant.scopes.is_empty() {
        requested.clone_into(&mut grant.scopes);
    }
    Ok(grant)
}

/// Renews tokens. Values that the answer omits stay the same.
pub(super) async fn renew(
    http: &Http,
    record: &Record,
    secret: Option<&Secret>,
    old: (&Secret, &[String]),
    now: Millis,
) -> Result<Grant, TokenRefusal> {
    let (refresh, scopes) = old;
    let parameters = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.expose()),
    ];
    let mut grant = request(http, record, secret, &parameters, now).await?;
    grant.refresh.get_or_insert_with(|| refresh.clone());
    if grant.scopes.is_empty() {
        scopes.clone_into(&mut grant.scopes);
    }
    Ok(grant)
}

async fn request(
    http: &Http,
    record: &Record,
    secret: Option<&Secret>,
    parameters: &[(&str, &str)],
    now: Millis,
) -> Result<Grant, TokenRefusal> {
    let (form, authorization) = form(record, secret, parameters)?;
    let address = &record.token_endpoint;
    let content_type = "application/x-www-form-urlencoded";
    let answer = http.post(address, content_type, authorization, form).await;
    granted(address, &answer.map_err(TokenRefusal::Other)?, now)
}

/// Returns the body of a request for tokens, and the header that authenticates the client.
fn form(
    record: &Record,
    secret: Option<&Secret>,
    parameters: &[(&str, &str)],
) -> Result<(Vec<u8>, Option<HeaderValue>), TokenRefusal> {
    let client = &record.client;
    let mut form = Serializer::new(String::new());
    form.extend_pairs(parameters);
    form.append_pair("resource", &record.resource);
    let header = secret.filter(|_| !client.secret_in_body);
    if header.is_none() {
        form.append_pair("client_id", &client.id);
        if let Some(secret) = secret {
            form.append_pair("client_secret", secret.expose());
        }
    }
    let authorization = header.map(|secret| basic(&client.id, secret)).transpose()?;
    Ok((form.finish().into_bytes(), authorization))
}

/// Returns the header that authenticates a client.
fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, TokenRefusal> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret.expose()));
    let header = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)));
    let mut header = header.map_err(|error| TokenRefusal::Other(error.to_string()))?;
    header.set_sensitive(true);
    Ok(header)
}

/// Reads the answer of a token endpoint.
fn granted(address: &Url, answer: &Answer, now: Millis) -> Result<Grant, TokenRefusal> {
    let shown = shown(address);
    if !answer.status.is_success() {
        let code = refusal(answer);
        return Err(match code.as_deref() {
            Some("invalid_grant") => TokenRefusal::Grant,
            Some("invalid_client" | "unauthorized_client") => TokenRefusal::Client,
            Some(code) => {
                TokenRefusal::Other(format!("{shown} gives no token: {}", shown_code(code)))
            }
            None => TokenRefusal::Other(format!("{shown} answers with status {}", answer.status)),
        });
    }
    let other = || TokenRefusal::Other(format!("{shown} answers in another format"));
    let tokens: Tokens = serde_json::from_slice(&answer.body).map_err(|_| other())?;
    let is_bearer = tokens.token_type.eq_ignore_ascii_case("bearer");
    let refresh = tokens.refresh_token.filter(|token| !token.is_empty());
    if !is_bearer || !is_token(&tokens.access_token) || !refresh.as_deref().is_none_or(is_token) {
        return Err(other());
    }
    let mut grant = Grant {
        access: Secret::new(tokens.access_token),
        refresh: refresh.map(Secret::new),
        expires: None,
        renew: None,
        scopes: scopes(tokens.scope.as_deref().unwrap_or_default()),
    };
    let seconds = tokens.expires_in.as_ref().and_then(Number::seconds);
    grant.expire(now, seconds);
    Ok(grant)
}

fn refusal(answer: &Answer) -> Option<String> {
    let refusal: Refusal = serde_json::from_slice(&answer.body).ok()?;
    Some(refusal.error)
}

/// True for a text that a header can contain.
fn is_token(text: &str) -> bool {
    let is_shown = |byte: u8| byte.is_ascii_graphic();
    !text.is_empty() && text.len() <= MAX_TEXT_BYTES && text.bytes().all(is_shown)
}

/// Registers this host as a client (RFC 7591).
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
            let code = refusal(answer);
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
