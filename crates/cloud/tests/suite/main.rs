//! Credentials of cloud platforms, with real files and real services on loopback.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod aws;
mod google;
mod service;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderValue};
use opencode_cloud::HostEnvironment;
use opencode_llm::{Authorizer, LlmError, OutgoingRequest};
use opencode_net::{HttpClients, Proxies};
use url::Url;

fn environment(home: &Path, variables: &[(&str, &str)]) -> HostEnvironment {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let variables: BTreeMap<_, _> = variables.iter().map(own).collect();
    HostEnvironment::new(variables, home.to_path_buf())
}

/// Returns the headers that an authorizer adds to a request with this body.
async fn headers(
    authorizer: &dyn Authorizer,
    body: &str,
) -> Result<Vec<(String, String)>, LlmError> {
    headers_through(authorizer, body, Proxies::default()).await
}

async fn headers_through(
    authorizer: &dyn Authorizer,
    body: &str,
    proxies: Proxies,
) -> Result<Vec<(String, String)>, LlmError> {
    let url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse-stream";
    let url = Url::parse(url).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("x-title", HeaderValue::from_static("not signed"));
    let clients = HttpClients::new(None, proxies);
    let request = OutgoingRequest {
        url: &url,
        headers: &headers,
        body: body.as_bytes(),
        // 2015-08-30T12:36:00Z, the time of the published examples.
        now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160),
        clients: &clients,
    };
    let headers = authorizer.authorize(request).await?.into_iter();
    Ok(headers
        .map(|(name, value)| (name, value.expose().to_owned()))
        .collect())
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    let found = headers.iter().find(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("{name} is missing")).1
}
