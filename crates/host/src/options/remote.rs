//! The option `remoteConfig`: servers of organisations.

use std::collections::BTreeMap;

use opencode_protocol::failure::Failure;
use serde::Deserialize;

use super::invalid;
use crate::remote::RemoteServer;

/// A server of an organisation.
#[derive(Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum RemoteOption {
    /// Its address.
    Address(String),
    /// Its address, and headers of the requests to it.
    Server {
        /// The address before `/.well-known/opencode`.
        url: String,
        /// The headers.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// Checks the servers.
pub(super) fn servers(options: &[RemoteOption]) -> Result<Vec<RemoteServer>, Failure> {
    let none = BTreeMap::new();
    let servers = options.iter().enumerate();
    let servers = servers.map(|(place, option)| {
        let (url, headers) = match option {
            RemoteOption::Address(url) => (url, &none),
            RemoteOption::Server { url, headers } => (url, headers),
        };
        let place = format!("remoteConfig[{place}]");
        RemoteServer::new(url, headers)
            .map_err(|problem| invalid(&place, format!("{place} {problem}")))
    });
    servers.collect()
}
