//! Requests to servers that are no models, with the certificates and on the ways that requests to models
//! take.

use std::time::Duration;

use http::header::{ACCEPT, HeaderValue, LOCATION};
use http::{HeaderMap, StatusCode};
use reqwest::Response;
use url::Url;

use super::call::root_cause;
use super::connect::Clients;
use super::proxies::Proxies;

/// How long a connection may take to come up.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Gets documents over HTTP. Connections and TLS are set up by the first one that needs them.
pub struct HttpDownloads {
    clients: Clients,
}

/// A request. It has no `Debug`, because a credential may be in its headers and its address.
pub struct HttpRequest {
    /// Where to, by `http` or `https`.
    pub address: Url,
    /// Its headers, besides those of the connection and of the body's length and compression.
    pub headers: HeaderMap,
    /// What is posted; a request without it is a GET.
    pub post: Option<Vec<u8>>,
    /// Bytes of an answer's body, decompressed, beyond which it is an error.
    pub limit: usize,
}

/// An answer.
pub struct HttpResponse {
    /// What became of the request.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, decompressed. That of anything but success is not read, and empty.
    pub body: Vec<u8>,
}

/// Why there is no answer: a part of a sentence, without what may be secret in the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DownloadError(String);

impl HttpDownloads {
    /// Downloads with connections of their own.
    #[must_use]
    pub fn new(proxies: Proxies) -> Self {
        Self {
            clients: Clients::new(Some(CONNECT_TIMEOUT), proxies),
        }
    }

    /// The body behind an `http` or `https` address, decompressed. It may take as long as the caller
    /// waits; dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), and when the server answers with anything but success.
    pub async fn get(&self, address: &Url, limit: usize) -> Result<Vec<u8>, DownloadError> {
        let accepted = HeaderValue::from_static("text/markdown, text/plain, */*;q=0.5");
        let request = HttpRequest {
            address: address.clone(),
            headers: HeaderMap::from_iter([(ACCEPT, accepted)]),
            post: None,
            limit,
        };
        let response = self.send(request).await?;
        match refusal(&response) {
            Some(refusal) => Err(refusal),
            None => Ok(response.body),
        }
    }

    /// One request and its answer, whatever status this has. Redirects are not followed. It may take
    /// as long as the caller waits; dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, breaks off, or sends more than `limit` bytes, whether or not it
    /// announces them.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, DownloadError> {
        let client = self.clients.get(&request.address).await;
        let client = client.map_err(DownloadError)?;
        let builder = match request.post {
            Some(body) => client.post(request.address).body(body),
            None => client.get(request.address),
        };
        let sending = builder.headers(request.headers).send();
        let mut response = sending.await.map_err(|error| broken(&error))?;
        let status = response.status();
        let headers = std::mem::take(response.headers_mut());
        let body = if status.is_success() {
            body(response, request.limit).await?
        } else {
            Vec::new()
        };
        Ok(HttpResponse {
            status,
            headers,
            body,
        })
    }
}

fn refusal(response: &HttpResponse) -> Option<DownloadError> {
    let status = response.status;
    if status.is_success() {
        return None;
    }
    let target = response
        .headers
        .get(LOCATION)
        .filter(|_| status.is_redirection());
    Some(DownloadError(match target {
        // Nobody has configured where it leads.
        Some(_) => "the server redirects to another address, which is not followed; name the \
                    final address instead"
            .to_owned(),
        None => format!("the server answers {status}"),
    }))
}

async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, DownloadError> {
    let too_large = || DownloadError(format!("the answer is larger than {limit} bytes"));
    if response
        .content_length()
        .is_some_and(|length| length > limit as u64)
    {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        if body.len() + chunk.len() > limit {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn broken(error: &reqwest::Error) -> DownloadError {
    DownloadError(format!("the request failed: {}", root_cause(error)))
}
