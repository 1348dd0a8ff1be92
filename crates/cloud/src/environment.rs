//! The machine as the libraries of credentials see it: variables, files and services.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use opencode_handles::read_file;
use opencode_net::HttpClients;
use reqsign_core::{Context, Env, Error, FileRead, HttpSend, Result};
use url::Url;

/// Maximum size in bytes of a file with credentials and of the answer of a service.
const MAX_BYTES: u64 = 1024 * 1024;

/// Maximum time for one request to a service of credentials.
const SERVICE_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time for one request to an unencrypted service. Such a service runs on the machine itself, and on other
/// machines nothing answers at its address.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(2);

/// The variables and the home directory that the host gives. Files and services are reached through them alone.
#[derive(Clone, PartialEq, Eq)]
pub struct HostEnvironment {
    variables: Arc<BTreeMap<String, String>>,
    home: PathBuf,
}

impl HostEnvironment {
    /// Creates an environment. An empty variable counts as absent.
    #[must_use]
    pub fn new(variables: BTreeMap<String, String>, home: PathBuf) -> Self {
        let variables = variables.into_iter().filter(|(_, value)| !value.is_empty());
        Self {
            variables: Arc::new(variables.collect()),
            home,
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The context in which a library looks for credentials. It runs no programs.
    pub(crate) fn context(&self, clients: &HttpClients) -> Context {
        Context::new()
            .with_env(self.clone())
            .with_file_read(Files)
            .with_http_send(Services(clients.clone()))
    }
}

/// Shows no values, because they may be secrets.
impl fmt::Debug for HostEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostEnvironment").finish_non_exhaustive()
    }
}

impl Env for HostEnvironment {
    fn var(&self, key: &str) -> Option<String> {
        match self.variable(key) {
            // The library of Google finds its files below this variable.
            None if key == "HOME" => self.home.to_str().map(str::to_owned),
            value => value.map(str::to_owned),
        }
    }

    fn vars(&self) -> HashMap<String, String> {
        self.variables.as_ref().clone().into_iter().collect()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        Some(self.home.clone())
    }
}

#[derive(Debug)]
struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> Result<Vec<u8>> {
        let owned = PathBuf::from(path);
        let read = opencode_log::spawn_blocking(move || read_absolute(&owned));
        let read = read.await.unwrap_or_else(|error| Err(error.to_string()));
        read.map_err(|problem| Error::config_invalid(format!("{path} cannot be read: {problem}")))
    }
}

fn read_absolute(path: &Path) -> std::result::Result<Vec<u8>, String> {
    // A relative path would depend on the directory of the process.
    if !path.is_absolute() {
        return Err("the path is relative".to_owned());
    }
    let read = read_file(path, MAX_BYTES).map_err(|error| error.to_string())?;
    read.ok_or_else(|| "the file does not exist".to_owned())
}

struct Services(HttpClients);

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

impl HttpSend for Services {
    async fn http_send(&self, request: Request<Bytes>) -> Result<Response<Bytes>> {
        let (parts, body) = request.into_parts();
        let failed = |problem: String| {
            let host = parts.uri.host().unwrap_or("a service");
            Error::unexpected(format!("{host} cannot be asked: {problem}")).set_retryable(true)
        };
        let url = parts.uri.to_string();
        let url = Url::parse(&url).map_err(|error| failed(error.to_string()))?;
        let client = self.0.get(&url).await.map_err(failed)?;
        let limit = match url.scheme() {
            "http" => LOCAL_TIMEOUT,
            _ => SERVICE_TIMEOUT,
        };
        let sent = client
            .request(parts.method.clone(), url)
            .headers(parts.headers.clone())
            .body(body)
            .timeout(limit)
            .send()
            .await;
        // The address may contain a secret.
        let mut answer = sent.map_err(|error| failed(error.without_url().to_string()))?;
        let status = answer.status();
        let mut bytes = Vec::new();
        loop {
            let chunk = answer.chunk().await;
            match chunk.map_err(|error| failed(error.without_url().to_string()))? {
                Some(chunk) if bytes.len() as u64 + chunk.len() as u64 <= MAX_BYTES => {
                    bytes.extend_from_slice(&chunk);
                }
                Some(_) => return Err(failed("its answer is too large".to_owned())),
                None => break,
            }
        }
        let response = Response::builder().status(status).body(Bytes::from(bytes));
        response.map_err(|error| failed(error.to_string()))
    }
}
