//! HTTP clients, set up when they are first needed.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::sync::OnceCell;
use url::Url;

use super::proxies::Proxies;

/// One client for plain addresses and one for encrypted ones. Reading the certificates of the
/// platform takes longer than all other preparation of a request, and a local server needs none. Copies share them.
#[derive(Clone)]
pub struct HttpClients {
    shared: Arc<Shared>,
}

struct Shared {
    plain: OnceCell<reqwest::Client>,
    encrypted: OnceCell<reqwest::Client>,
    connect_timeout: Option<Duration>,
    proxies: Proxies,
}

impl HttpClients {
    /// Creates clients that reach servers through these proxies. `connect_timeout` is the maximum time to connect.
    #[must_use]
    pub fn new(connect_timeout: Option<Duration>, proxies: Proxies) -> Self {
        let shared = Shared {
            plain: OnceCell::new(),
            encrypted: OnceCell::new(),
            connect_timeout,
            proxies,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns the client for an address. It follows no redirects.
    ///
    /// # Errors
    ///
    /// Returns the reason why the client cannot be set up. The next call tries again.
    pub async fn get(&self, address: &Url) -> Result<reqwest::Client, String> {
        let shared = &self.shared;
        let timeout = shared.connect_timeout;
        let client = if address.scheme() == "http" {
            let build = || async move { build(tls_without_roots()?, timeout, &shared.proxies) };
            shared.plain.get_or_try_init(build).await
        } else {
            let proxies = shared.proxies.clone();
            let build = || async move {
                // Certificates are read from disk, which must not block the runtime.
                opencode_log::spawn_blocking(move || build(tls()?, timeout, &proxies))
                    .await
                    .map_err(|error| error.to_string())?
            };
            shared.encrypted.get_or_try_init(build).await
        };
        client.cloned()
    }
}

fn build(
    tls: ClientConfig,
    connect_timeout: Option<Duration>,
    proxies: &Proxies,
) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        // A redirect could send the credential to a host that is not configured.
        .redirect(reqwest::redirect::Policy::none());
    builder = proxies.apply(builder).map_err(|error| error.to_string())?;
    if let Some(limit) = connect_timeout {
        builder = builder.connect_timeout(limit);
    }
    builder.build().map_err(|error| error.to_string())
}

/// Passes the crypto provider explicitly. Installing it for the process would affect the program
/// that embeds this crate.
fn tls() -> Result<ClientConfig, String> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| error.to_string())?;
    Ok(with_alpn(config.with_no_client_auth()))
}

fn tls_without_roots() -> Result<ClientConfig, String> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(RootCertStore::empty());
    Ok(config.with_no_client_auth())
}

fn with_alpn(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clients_can_be_built_without_a_process_wide_provider() {
        assert!(build(tls_without_roots().unwrap(), None, &Proxies::default()).is_ok());
        // On a machine without certificates, this is a reported failure, not a panic.
        if let Ok(config) = tls() {
            assert!(build(config, Some(Duration::from_secs(1)), &Proxies::default()).is_ok());
        }
        assert!(rustls::crypto::CryptoProvider::get_default().is_none());
    }
}
