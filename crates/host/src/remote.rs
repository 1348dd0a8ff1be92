//! Configuration of organisations: the documents that servers publish, with a copy for times without a network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue};
use opencode_handles::{Directory, create_private_folder, read_file};
use opencode_llm::short_hash;
use opencode_location::config::{LoadRemote, MAX_DOCUMENT_BYTES, RemoteDocument};
use opencode_net::{HttpDownloads, HttpRequest};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::{Host, Url};

/// The path of the document that a server publishes.
const WELL_KNOWN: &str = "/.well-known/opencode";

/// Time limit for the documents of one server. The first Location waits for them.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A server of an organisation.
#[derive(Clone)]
pub(crate) struct RemoteServer {
    /// The address before `/.well-known/opencode`.
    address: Url,
    headers: HeaderMap,
}

/// The document that a server publishes.
#[derive(Deserialize)]
struct WellKnown {
    config: Option<Map<String, Value>>,
    remote_config: Option<Elsewhere>,
}

/// A document at another address.
#[derive(Deserialize)]
struct Elsewhere {
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl RemoteServer {
    /// Checks an address and headers. The error says what is wrong with them.
    pub(crate) fn new(address: &str, headers: &BTreeMap<String, String>) -> Result<Self, String> {
        Ok(Self {
            address: checked(address)?,
            headers: header_map(headers)?,
        })
    }

    /// The address without secrets.
    fn origin(&self) -> String {
        shown(&self.address)
    }

    async fn documents(&self, downloads: &HttpDownloads) -> Result<Vec<RemoteDocument>, String> {
        let path = self.address.path().trim_end_matches('/');
        let mut address = self.address.clone();
        address.set_path(&format!("{path}{WELL_KNOWN}"));
        let published = download(downloads, &address, self.headers.clone()).await?;
        let published: WellKnown = serde_json::from_str(&published)
            .map_err(|error| format!("{WELL_KNOWN} is no document of an organisation: {error}"))?;
        let mut documents = Vec::new();
        if let Some(config) = published.config {
            documents.push(RemoteDocument {
                origin: shown(&address),
                content: Ok(Value::Object(config).to_string()),
            });
        }
        if let Some(Elsewhere { url, headers }) = published.remote_config {
            let address =
                checked(&url).map_err(|problem| format!("remote_config.url {problem}"))?;
            let headers =
                header_map(&headers).map_err(|problem| format!("remote_config {problem}"))?;
            let text = download(downloads, &address, headers).await?;
            documents.push(RemoteDocument {
                origin: shown(&address),
                content: Ok(text),
            });
        }
        if documents.is_empty() {
            return Err(format!("{WELL_KNOWN} has neither config nor remote_config"));
        }
        Ok(documents)
    }

    /// Returns the documents or, if the server does not answer, their copy.
    async fn load(&self, downloads: &HttpDownloads, folder: &Path) -> Vec<RemoteDocument> {
        let file = format!("{}.json", short_hash(self.address.as_str().as_bytes()));
        let loading = tokio::time::timeout(TIMEOUT, self.documents(downloads));
        let loaded = loading
            .await
            .unwrap_or_else(|_| Err("the server did not answer in time".to_owned()));
        let problem = match loaded {
            Ok(documents) => {
                store(folder.to_path_buf(), file, &documents).await;
                return documents;
            }
            Err(problem) => problem,
        };
        let origin = self.origin();
        if let Some(copy) = stored(folder.join(&file)).await {
            tracing::warn!(
                "The configuration at {origin} cannot be read: {problem}; its last copy is used"
            );
            return copy;
        }
        vec![RemoteDocument {
            origin,
            content: Err(format!("The configuration cannot be read: {problem}")),
        }]
    }
}

/// Returns the function that reads the documents of these servers.
pub(crate) fn load(
    servers: Vec<RemoteServer>,
    downloads: HttpDownloads,
    cache: &Path,
) -> LoadRemote {
    let folder: Arc<Path> = cache.join("remote-config").into();
    let (servers, downloads): (Arc<[_]>, _) = (servers.into(), Arc::new(downloads));
    Box::new(move || {
        let (servers, folder) = (Arc::clone(&servers), Arc::clone(&folder));
        let downloads = Arc::clone(&downloads);
        async move {
            let loading = servers.iter().map(|it| it.load(&downloads, &folder));
            join_all(loading).await.into_iter().flatten().collect()
        }
        .boxed()
    })
}

async fn download(
    downloads: &HttpDownloads,
    address: &Url,
    mut headers: HeaderMap,
) -> Result<String, String> {
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let request = HttpRequest {
        address: address.clone(),
        headers,
        post: None,
        limit: usize::try_from(MAX_DOCUMENT_BYTES).unwrap_or(usize::MAX),
    };
    let answer = downloads.request(request).await;
    let answer = answer.map_err(|error| error.to_string())?;
    if !answer.status.is_success() {
        return Err(format!("{} answers {}", shown(address), answer.status));
    }
    let text = String::from_utf8(answer.body).map_err(|_| "it is not UTF-8".to_owned())?;
    // Portals answer with a page.
    if text.trim_start().starts_with('<') {
        return Err(format!("{} answers with a page", shown(address)));
    }
    Ok(text)
}

/// Stores a copy that only the user can read. Without one, the host works only with a network.
async fn store(folder: PathBuf, file: String, documents: &[RemoteDocument]) {
    let texts = documents.iter();
    let texts = texts.map(|it| json!([it.origin, it.content.as_ref().ok()]));
    let content = Value::from_iter(texts).to_string();
    let storing = opencode_log::spawn_blocking(move || {
        create_private_folder(&folder)?;
        Directory::open(&folder)?.put_file(file, content.as_bytes(), false)
    });
    if let Ok(Err(error)) = storing.await {
        tracing::warn!(%error, "The configuration of an organisation is not copied");
    }
}

async fn stored(file: PathBuf) -> Option<Vec<RemoteDocument>> {
    let read = opencode_log::spawn_blocking(move || read_file(&file, 4 * MAX_DOCUMENT_BYTES));
    let bytes = read.await.ok()?.ok()??;
    let texts: Vec<(String, String)> = serde_json::from_slice(&bytes).ok()?;
    let documents = texts.into_iter().map(|(origin, text)| RemoteDocument {
        origin,
        content: Ok(text),
    });
    Some(documents.collect())
}

/// Refuses addresses over which others could change the configuration.
fn checked(address: &str) -> Result<Url, String> {
    let url = Url::parse(address).map_err(|_| "is not an address".to_owned())?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_local => Ok(url),
        _ => Err("must begin with https://, or with http:// for this machine".to_owned()),
    }
}

fn header_map(headers: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        // The value may be a secret.
        let wrong = || format!("has the header {name:?}, which cannot be sent");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        map.insert(key, HeaderValue::from_str(value).map_err(|_| wrong())?);
    }
    Ok(map)
}

/// An address without its parts that may be secret.
fn shown(address: &Url) -> String {
    let mut address = address.clone();
    let _ = address.set_username("");
    let _ = address.set_password(None);
    address.set_query(None);
    address.set_fragment(None);
    address.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_encrypted_or_local() {
        for (address, expected) in [
            ("https://example.com", true),
            ("http://127.0.0.1:1/x", true),
            ("http://localhost:1", true),
            ("http://[::1]:1", true),
            ("http://example.com", false),
            ("file:///etc/opencode.json", false),
            ("example.com", false),
        ] {
            assert_eq!(checked(address).is_ok(), expected, "{address}");
        }
    }

    #[test]
    fn an_address_is_shown_without_secrets() {
        let address = Url::parse("https://u:p@example.com/a?token=t#f").unwrap();
        assert_eq!(shown(&address), "https://example.com/a");
    }
}
