//! Signatures of requests to Amazon Web Services (Signature Version 4).
//!
//! This crate reads no environment and no file: its owner gives it the keys. Libraries of AWS compute the signature.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::fmt;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_llm::error::AuthenticationKind;
use opencode_llm::{Authorizer, LlmError, LlmErrorReason, OutgoingRequest, Secret};

/// The name of Bedrock in signatures.
const SERVICE: &str = "bedrock";

/// Access keys.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessKeys {
    /// The id of the key.
    pub id: String,
    /// The secret key.
    pub secret: Secret,
    /// The token of a session, for temporary keys.
    pub session_token: Option<Secret>,
}

impl fmt::Debug for AccessKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessKeys").finish_non_exhaustive()
    }
}

/// Signs requests to Bedrock in one region.
pub struct BedrockSigner {
    keys: AccessKeys,
    region: String,
}

impl BedrockSigner {
    /// Creates a signer.
    #[must_use]
    pub fn new(keys: AccessKeys, region: impl Into<String>) -> Self {
        Self {
            keys,
            region: region.into(),
        }
    }

    fn signed(&self, request: OutgoingRequest<'_>) -> Result<Vec<(String, Secret)>, String> {
        let token = self.keys.session_token.as_ref();
        let credentials = Credentials::new(
            &self.keys.id,
            self.keys.secret.expose(),
            token.map(|token| token.expose().to_owned()),
            None,
            "opencode",
        );
        let identity = credentials.into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(SERVICE)
            .time(request.now)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| error.to_string())?;
        // Proxies may change other headers.
        let kind = request.headers.get("content-type");
        let kind = kind.and_then(|value| value.to_str().ok());
        let headers = kind.map(|value| ("content-type", value)).into_iter();
        let body = SignableBody::Bytes(request.body);
        let signable = SignableRequest::new("POST", request.url.as_str(), headers, body)
            .map_err(|error| error.to_string())?;
        let output = sign(signable, &params.into()).map_err(|error| error.to_string())?;
        let (instructions, _) = output.into_parts();
        let headers = instructions.headers();
        Ok(headers
            .map(|(name, value)| (name.to_owned(), Secret::new(value)))
            .collect())
    }
}

impl Authorizer for BedrockSigner {
    fn authorize<'a>(
        &'a self,
        request: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, LlmError>> {
        let signed = self.signed(request).map_err(|problem| {
            let kind = AuthenticationKind::Invalid;
            let message = format!("The request cannot be signed for AWS: {problem}");
            LlmError::new(LlmErrorReason::Authentication { kind }, message)
        });
        std::future::ready(signed).boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use http::{HeaderMap, HeaderValue};
    use opencode_llm::{HttpClients, Proxies};
    use url::Url;

    use super::*;

    fn keys(session_token: Option<&str>) -> AccessKeys {
        AccessKeys {
            id: "AKIDEXAMPLE".into(),
            secret: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: session_token.map(Secret::new),
        }
    }

    async fn signed(keys: AccessKeys, body: &str) -> Vec<(String, String)> {
        let url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse-stream";
        let url = Url::parse(url).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("x-title", HeaderValue::from_static("not signed"));
        let clients = HttpClients::new(None, Proxies::default());
        let request = OutgoingRequest {
            url: &url,
            headers: &headers,
            body: body.as_bytes(),
            // 2015-08-30T12:36:00Z, the time of the published examples.
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160),
            clients: &clients,
        };
        let signer = BedrockSigner::new(keys, "us-east-1");
        let headers = signer.authorize(request).await.unwrap().into_iter();
        headers
            .map(|(name, value)| (name, value.expose().to_owned()))
            .collect()
    }

    fn header<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
        let found = headers.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("{name} is missing")).1
    }

    #[tokio::test]
    async fn a_signature_covers_the_address_the_time_and_the_body() {
        let headers = signed(keys(None), "{}").await;
        assert_eq!(header(&headers, "x-amz-date"), "20150830T123600Z");
        let authorization = header(&headers, "authorization");
        let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=";
        let signature = authorization
            .strip_prefix(scope)
            .unwrap_or_else(|| panic!("{authorization}"));
        // Computed by another implementation of the algorithm.
        let expected = "260f9f4059322f69af45a44f87359d2ddd53df87913c591d614069b85cd83fc0";
        assert_eq!(signature, expected);
        let other = signed(keys(None), "{ }").await;
        assert_ne!(header(&other, "authorization"), authorization);
    }

    #[tokio::test]
    async fn temporary_keys_send_their_token_and_nothing_shows_a_secret() {
        let headers = signed(keys(Some("session-token")), "{}").await;
        assert_eq!(header(&headers, "x-amz-security-token"), "session-token");
        assert!(headers.iter().all(|(_, value)| !value.contains("wJalr")));
        assert_eq!(
            format!("{:?}", keys(Some("session-token"))),
            "AccessKeys { .. }"
        );
    }
}
