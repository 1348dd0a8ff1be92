//! The token endpoint of an authorization server (RFC 6749, sections 4.1.3, 5 and 6).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use opencode_schema::clock::Millis;
use serde::Deserialize;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::browser::Code;
use crate::error::shown_code;
use crate::grant::Grant;
use crate::http::{Answer, Http, shown};
use crate::scopes::scopes;
use opencode_secrets::Secret;

/// Maximum length of a token.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// The reason why there are no tokens.
#[derive(Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// The server refused the code or the refresh token.
    Grant,
    /// The server refused the client.
    Client,
    /// The server refused for another reason, or cannot be used.
    Other(String),
}

/// The reason why a request for tokens has no tokens.
pub(crate) enum Refused {
    /// The server refused with a code. It is hostile text.
    Code(String),
    /// The server cannot be reached, or has a problem of its own.
    Unreachable(String),
    /// The server cannot be used.
    Unusable(String),
}

/// A token endpoint, and the client that calls it.
#[derive(Clone, Copy)]
pub struct TokenEndpoint<'a> {
    /// The address of the endpoint.
    pub address: &'a Url,
    /// The id of the client.
    pub client_id: &'a str,
    /// Its secret, if it has one.
    pub client_secret: Option<&'a Secret>,
    /// True if the server expects the secret in the body.
    pub secret_in_body: bool,
    /// The resource of the tokens (RFC 8707).
    pub resource: Option<&'a str>,
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
pub enum Number {
    /// A number.
    Number(f64),
    /// A number as text.
    Text(String),
}

impl Number {
    /// Returns whole seconds; `None` for a negative number and for other texts.
    #[must_use]
    pub fn seconds(&self) -> Option<u64> {
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

/// Returns the code of a refusal. It is hostile text.
#[must_use]
pub fn refusal_code(answer: &Answer) -> Option<String> {
    let refusal: Refusal = serde_json::from_slice(&answer.body).ok()?;
    Some(refusal.error)
}

impl TokenEndpoint<'_> {
    /// Exchanges a code for tokens.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses, or cannot be used.
    pub async fn exchange(
        &self,
        http: &Http,
        code: Code<'_>,
        requested: &[String],
        now: Millis,
    ) -> Result<Grant, TokenRefusal> {
        let Code { code, proof } = code;
        let parameters = [
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", &proof.redirect_uri),
            ("code_verifier", proof.verifier.expose()),
        ];
        let mut grant = self.tokens(http, &parameters, now).await?;
        // Without a list, the server granted all requested scopes (RFC 6749).
        if grant.scopes.is_empty() {
            requested.clone_into(&mut grant.scopes);
        }
        Ok(grant)
    }

    /// Renews tokens. Values that the answer omits stay the same.
    ///
    /// # Errors
    ///
    /// Fails if the server refuses, or cannot be used.
    pub async fn renew(
        &self,
        http: &Http,
        refresh: &Secret,
        scopes: &[String],
        now: Millis,
    ) -> Result<Grant, TokenRefusal> {
        let parameters = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.expose()),
        ];
        let mut grant = self.tokens(http, &parameters, now).await?;
        grant.refresh.get_or_insert_with(|| refresh.clone());
        if grant.scopes.is_empty() {
            scopes.clone_into(&mut grant.scopes);
        }
        Ok(grant)
    }

    async fn tokens(
        &self,
        http: &Http,
        parameters: &[(&str, &str)],
        now: Millis,
    ) -> Result<Grant, TokenRefusal> {
        let granted = self.request(http, parameters, now).await;
        granted.map_err(|refused| match refused {
            Refused::Unreachable(reason) | Refused::Unusable(reason) => TokenRefusal::Other(reason),
            Refused::Code(code) => match code.as_str() {
                "invalid_grant" => TokenRefusal::Grant,
                "invalid_client" | "unauthorized_client" => TokenRefusal::Client,
                code => {
                    let (shown, code) = (shown(self.address), shown_code(code));
                    TokenRefusal::Other(format!("{shown} gives no token: {code}"))
                }
            },
        })
    }

    /// Requests tokens.
    pub(crate) async fn request(
        &self,
        http: &Http,
        parameters: &[(&str, &str)],
        now: Millis,
    ) -> Result<Grant, Refused> {
        let answer = self.post(http, self.address, parameters).await;
        granted(self.address, &answer.map_err(Refused::Unreachable)?, now)
    }

    /// Posts a form to an endpoint of the server as its client.
    pub(crate) async fn post(
        &self,
        http: &Http,
        address: &Url,
        parameters: &[(&str, &str)],
    ) -> Result<Answer, String> {
        let (form, authorization) = self.form(parameters)?;
        let content_type = "application/x-www-form-urlencoded";
        http.post(address, content_type, authorization, form).await
    }

    /// Returns the body of a request for tokens, and the header that authenticates the client.
    fn form(&self, parameters: &[(&str, &str)]) -> Result<(Vec<u8>, Option<HeaderValue>), String> {
        let mut form = Serializer::new(String::new());
        form.extend_pairs(parameters);
        if let Some(resource) = self.resource {
            form.append_pair("resource", resource);
        }
        let header = self.client_secret.filter(|_| !self.secret_in_body);
        if header.is_none() {
            form.append_pair("client_id", self.client_id);
            if let Some(secret) = self.client_secret {
                form.append_pair("client_secret", secret.expose());
            }
        }
        let authorization = header
            .map(|secret| basic(self.client_id, secret))
            .transpose()?;
        Ok((form.finish().into_bytes(), authorization))
    }
}

/// Returns the header that authenticates a client.
fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, String> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret.expose()));
    let header = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)));
    let mut header = header.map_err(|error| error.to_string())?;
    header.set_sensitive(true);
    Ok(header)
}

/// Reads the answer of a token endpoint.
fn granted(address: &Url, answer: &Answer, now: Millis) -> Result<Grant, Refused> {
    let shown = shown(address);
    // Some servers refuse with status 200.
    if let Some(code) = refusal_code(answer) {
        return Err(Refused::Code(code));
    }
    if !answer.status.is_success() {
        let reason = format!("{shown} answers with status {}", answer.status);
        return Err(match answer.status.is_server_error() {
            true => Refused::Unreachable(reason),
            false => Refused::Unusable(reason),
        });
    }
    let other = || Refused::Unusable(format!("{shown} answers in another format"));
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

/// True for a text that a header can contain.
pub(crate) fn is_token(text: &str) -> bool {
    let is_shown = |byte: u8| byte.is_ascii_graphic();
    !text.is_empty() && text.len() <= MAX_TOKEN_BYTES && text.bytes().all(is_shown)
}
