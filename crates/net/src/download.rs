//! Requests to servers that are not model servers, with the same certificates and proxies as requests to models.

use std::time::Duration;

use http::header::{ACCEPT, HeaderValue, LOCATION};
use http::{HeaderMap, StatusCode};
use reqwest::Response;
use url::Url;

use super::cause::root_cause;
use super::clients::HttpClients;
use super::proxies::Proxies;

/// Maximum time to establish a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Downloads documents over HTTP. The first download that needs connections and TLS sets them up.
#[derive(Clone)]
pub struct HttpDownloads {
    clients: HttpClients,
}

/// A request. It has no `Debug`, because its headers and its address may contain a credential.
#[derive(Clone)]
pub struct HttpRequest {
    /// The `http` or `https` address.
    pub address: Url,
    /// The headers, except those of the connection and of the length and compression of the body.
    pub headers: HeaderMap,
    /// The body of a POST request. `None` means a GET request.
    pub post: Option<Vec<u8>>,
    /// Maximum size of the decompressed body of the answer, in bytes. A larger body is an error.
    pub limit: usize,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The decompressed body. Empty if the status is not a success, because the body is then not read.
    pub body: Vec<u8>,
}

/// The reason for a missing answer, as a part of a sentence. Does not contain parts of the address
/// that may be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DownloadError(pub String);

impl HttpDownloads {
    /// Creates downloads with their own connections.
    #[must_use]
    pub fn new(proxies: Proxies) -> Self {
        Self {
            clients: HttpClients::new(Some(CONNECT_TIMEOUT), proxies),
        }
    }

    /// Returns the decompressed body at an `http` or `https` address. There is no time limit;
    /// dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// The same as [`request`](Self::request). Also fails if the status is not a success.
    pub async fn get(&self, address: &Url, limit: usize) -> Result<Vec<u8>, DownloadError> {
        let accepted = HeaderValue::from_static("text/markdown, text/plain, */*;q=0.5");
        let request = HttpRequest {
            address: address.clone(),
            headers: HeaderMap::from_iter([(ACCEPT, accepted)]),
            post: None,
            limit,
        };
        let response = self.request(request).await?;
        match refusal(&response) {
            Some(refusal) => Err(refusal),
            None => Ok(response.body),
        }
    }

    /// Sends one request and returns its answer with any status. Does not follow redirects. There
    /// is no time limit; dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, breaks off, or sends more than `limit` bytes, announced or not.
    pub async fn request(&self, request: HttpRequest) -> Result<HttpResponse, DownloadError> {
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
        // The configuration does not contain the target of the redirect.
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
