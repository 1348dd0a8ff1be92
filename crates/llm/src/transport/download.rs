//! Getting a document, with the certificates and on the ways that requests to models take.

use std::time::Duration;

use http::header::{ACCEPT, LOCATION};
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

/// Why a document cannot be had: a part of a sentence, without what may be secret in the address.
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
    /// The server cannot be reached, answers with anything but success, redirects, breaks off, or
    /// sends more than `limit` bytes. What it announces of the length is not relied on.
    pub async fn get(&self, address: &Url, limit: usize) -> Result<Vec<u8>, DownloadError> {
        let client = self.clients.get(address).await.map_err(DownloadError)?;
        let request = client
            .get(address.clone())
            .header(ACCEPT, "text/markdown, text/plain, */*;q=0.5");
        let response = request.send().await.map_err(|error| broken(&error))?;
        if let Some(refusal) = refusal(&response) {
            return Err(refusal);
        }
        body(response, limit).await
    }
}

fn refusal(response: &Response) -> Option<DownloadError> {
    let status = response.status();
    if status.is_success() {
        return None;
    }
    let target = response
        .headers()
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
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        if body.len() + chunk.len() > limit {
            return Err(DownloadError(format!(
                "the answer is larger than {limit} bytes"
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn broken(error: &reqwest::Error) -> DownloadError {
    DownloadError(format!("the request failed: {}", root_cause(error)))
}
