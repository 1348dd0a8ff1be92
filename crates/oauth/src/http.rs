//! Requests to authorization servers. Their answers are hostile input: they are bounded in size and time, and redirects
//! are not followed.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use http::{HeaderValue, StatusCode};
use opencode_net::HttpClients;
use reqwest::RequestBuilder;
use url::Url;

use crate::network::Network;

/// The usual time limit of a request to an authorization server.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Maximum length of an address of a server.
pub const MAX_ADDRESS_BYTES: usize = 4096;

/// The addresses that requests may go to: public addresses over `https`, addresses of a private network if the server
/// itself is in one, and this machine if the server itself is on this machine. Otherwise a server could make the host
/// call local services, or send tokens unencrypted.
///
/// A name counts by its form: the host does not look up where a public name leads, because the names of an organisation
/// may lead to its own network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    server: Network,
}

impl Reach {
    /// Returns the reach of a server.
    #[must_use]
    pub fn of(server: &Url) -> Self {
        Self {
            server: Network::of(server),
        }
    }

    /// True if requests may go to this address.
    #[must_use]
    pub fn allows(self, address: &Url) -> bool {
        let is_plain = address.username().is_empty() && address.password().is_none();
        let is_short = address.as_str().len() <= MAX_ADDRESS_BYTES;
        let is_safe = match (address.scheme(), Network::of(address)) {
            ("https", Network::Public) => true,
            ("https", Network::Private) => {
                matches!(self.server, Network::Private | Network::Loopback)
            }
            ("http" | "https", Network::Loopback) => self.server == Network::Loopback,
            _ => false,
        };
        is_plain && is_short && is_safe && address.host().is_some()
    }

    /// Parses an address that a server gives.
    ///
    /// # Errors
    ///
    /// Fails if requests must not go there.
    pub fn parse(self, address: &str, name: &str) -> Result<Url, String> {
        let url = Url::parse(address).ok().filter(|url| self.allows(url));
        url.ok_or_else(|| {
            format!(
                "its {name} is not an https address, or is an address of this machine or of a private network"
            )
        })
    }
}

/// True for an address of this machine.
#[must_use]
pub fn is_loopback(address: &Url) -> bool {
    Network::of(address) == Network::Loopback
}

/// An answer.
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body; empty for a probe.
    pub body: Bytes,
}

/// Sends requests within a reach.
#[derive(Clone)]
pub struct Http {
    /// The clients of the host.
    pub clients: HttpClients,
    /// The addresses that are allowed.
    pub reach: Reach,
    /// Maximum time of a request, with its answer.
    pub limit: Duration,
}

impl Http {
    /// Fetches a document.
    ///
    /// # Errors
    ///
    /// Fails with a text for users. It contains no secret.
    pub async fn document(&self, address: &Url) -> Result<Answer, String> {
        let request = |client: reqwest::Client| {
            let json = HeaderValue::from_static("application/json");
            client.get(address.clone()).header(ACCEPT, json)
        };
        self.send(address, request, true).await
    }

    /// Calls the endpoint of a server without a token, and returns the head of its refusal.
    ///
    /// # Errors
    ///
    /// Fails with a text for users. It contains no secret.
    pub async fn probe(
        &self,
        address: &Url,
        headers: &[(String, String)],
    ) -> Result<Answer, String> {
        let request = |client: reqwest::Client| {
            let accepted = HeaderValue::from_static("application/json, text/event-stream");
            let request = client.get(address.clone()).header(ACCEPT, accepted);
            let add = |request: RequestBuilder, (name, value): &(String, String)| {
                request.header(name.as_str(), value.as_str())
            };
            headers.iter().fold(request, add)
        };
        self.send(address, request, false).await
    }

    /// Posts a body.
    ///
    /// # Errors
    ///
    /// Fails with a text for users. It contains no secret.
    pub async fn post(
        &self,
        address: &Url,
        content_type: &'static str,
        authorization: Option<HeaderValue>,
        body: Vec<u8>,
    ) -> Result<Answer, String> {
        let request = |client: reqwest::Client| {
            let json = HeaderValue::from_static("application/json");
            let request = client.post(address.clone()).header(ACCEPT, json);
            let request = request.header(CONTENT_TYPE, content_type).body(body);
            match authorization {
                Some(value) => request.header(http::header::AUTHORIZATION, value),
                None => request,
            }
        };
        self.send(address, request, true).await
    }

    async fn send(
        &self,
        address: &Url,
        request: impl FnOnce(reqwest::Client) -> RequestBuilder,
        has_body: bool,
    ) -> Result<Answer, String> {
        if !self.reach.allows(address) {
            return Err(format!("{} must not be called", shown(address)));
        }
        let call = async {
            let client = self.clients.get(address).await?;
            let failed = |error: reqwest::Error| format!("{}: {}", shown(address), cause(&error));
            let mut response = request(client).send().await.map_err(failed)?;
            let mut body = Vec::new();
            while has_body && let Some(chunk) = response.chunk().await.map_err(failed)? {
                if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                    let shown = shown(address);
                    return Err(format!("{shown} answers with too many bytes"));
                }
                body.extend_from_slice(&chunk);
            }
            Ok(Answer {
                status: response.status(),
                headers: std::mem::take(response.headers_mut()),
                body: body.into(),
            })
        };
        let answer = tokio::time::timeout(self.limit, call).await;
        answer.unwrap_or_else(|_| Err(format!("{} does not answer in time", shown(address))))
    }
}

/// The part of an address that a message may contain.
#[must_use]
pub fn shown(address: &Url) -> String {
    address.origin().ascii_serialization()
}

/// Returns the innermost cause of a failed request. The outer texts repeat the address.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match std::ptr::addr_eq(cause, error) {
        true => "the request failed".into(),
        false => cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_of_this_machine_names_addresses_of_this_machine() {
        let reach = |server: &str| Reach::of(&Url::parse(server).unwrap());
        let (public, local) = (reach("https://mcp.example/"), reach("http://localhost:1/"));
        for address in [
            "http://127.0.0.1:8080/",
            "http://localhost/",
            "http://a.localhost./",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "https://127.0.0.2/",
        ] {
            let address = Url::parse(address).unwrap();
            assert!(
                !public.allows(&address) && local.allows(&address),
                "{address}"
            );
        }
        for address in [
            "http://mcp.example/",
            "http://10.0.0.1/",
            "ftp://localhost/",
            "https://0.0.0.0/",
            "http://0.0.0.0:8080/",
            "https://[::]/",
            "https://169.254.169.254/latest",
            "https://[fe80::1]/",
            "https://[::ffff:169.254.169.254]/",
            "https://[64:ff9b::a9fe:a9fe]/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
        ] {
            let address = Url::parse(address).unwrap();
            assert!(
                !public.allows(&address) && !local.allows(&address),
                "{address}"
            );
        }
        assert!(public.allows(&Url::parse("https://as.example/").unwrap()));
        let private = reach("https://10.0.0.1/");
        for address in [
            "https://10.1.2.3/",
            "https://172.16.0.1/",
            "https://192.168.0.1/",
            "https://100.64.0.1/",
            "https://0x0a000001/",
            "https://[fd00::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[2002:a00:1::]/",
            "https://intranet/",
            "https://as.internal/",
            "https://printer.local./",
            "https://a.home.arpa/",
        ] {
            let address = Url::parse(address).unwrap();
            assert!(
                !public.allows(&address) && private.allows(&address) && local.allows(&address),
                "{address}"
            );
        }
        assert!(private.allows(&Url::parse("https://as.example/").unwrap()));
        assert!(!private.allows(&Url::parse("http://localhost/").unwrap()));
        let of_network = reach("https://mcp.corp.internal/");
        assert!(of_network.allows(&Url::parse("https://sso.corp.internal/").unwrap()));
    }
}
