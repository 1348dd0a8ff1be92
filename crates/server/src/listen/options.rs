//! Options of a listener.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use opencode_protocol::failure::Failure;
use serde::Deserialize;

use super::password::{Login, Password};
use crate::listen::authorization::Credentials;
use crate::listen::network::Network;
use crate::wire::cors::is_origin;

/// Options of a listener.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ListenOptions {
    /// The port. 0 selects any free port.
    pub port: u16,
    /// A name or an address of this machine.
    pub hostname: String,
    /// The password of clients. While it is off, the listener accepts only addresses of this machine.
    pub password: Password,
    /// The name that belongs to the password. Default: `opencode`.
    pub username: Option<String>,
    /// Origins whose pages may read answers, beside those of this machine.
    pub cors: Vec<String>,
    /// Maximum number of bytes of the body of a request.
    pub max_body_bytes: u64,
}

/// Default of the name that clients give with the password.
const USERNAME: &str = "opencode";
/// Default of the maximum number of bytes of a body.
const MAX_BODY_BYTES: u64 = 64 * 1024 * 1024;

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            port: 0,
            hostname: "127.0.0.1".into(),
            password: Password::default(),
            username: None,
            cors: Vec::new(),
            max_body_bytes: MAX_BODY_BYTES,
        }
    }
}

impl ListenOptions {
    /// Returns the addresses to bind. The first available one is used.
    pub(super) async fn check(&self) -> Result<Vec<SocketAddr>, Failure> {
        let is_off = self.password == Password::Off;
        if self.password == Password::Given(String::new()) {
            return Err(invalid("password", "The password is empty"));
        }
        if is_off && self.username.is_some() {
            return Err(invalid("username", "A username needs a password beside it"));
        }
        if let Some(text) = self.cors.iter().find(|text| !is_origin(text)) {
            let message = format!(
                "{text:?} is no origin; one looks like https://app.example, without a path"
            );
            return Err(invalid("cors", message));
        }
        let found = tokio::net::lookup_host((&*self.hostname, self.port)).await;
        let found: Vec<_> = found.map_err(|error| self.unavailable(&error))?.collect();
        let reachable = found
            .iter()
            .find(|it| !it.ip().to_canonical().is_loopback());
        match reachable {
            Some(address) if is_off => {
                let message = format!(
                    "Other machines reach {}: to listen there, leave the password on",
                    address.ip()
                );
                Err(invalid("password", message))
            }
            _ => Ok(found),
        }
    }

    /// Returns the failure of an address that cannot be bound.
    pub(super) fn unavailable(&self, error: &io::Error) -> Failure {
        let address = format!("{}:{}", self.hostname, self.port);
        let message = match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!(
                    "Another program listens on {address} already; choose another port, or 0 for any"
                )
            }
            _ => format!("Cannot listen on {address}: {error}"),
        };
        Failure::AddressUnavailable { address, message }
    }

    /// Returns the credentials of clients. `None` if the password is off.
    pub(super) fn login(&self) -> Result<Option<Login>, Failure> {
        let password = self.password.clone().into_text()?;
        Ok(password.map(|password| Login {
            username: self.username.clone().unwrap_or_else(|| USERNAME.into()),
            password,
        }))
    }

    pub(super) fn into_network(self, login: Option<Login>, body_timeout: Duration) -> Network {
        Network::new(
            login.map(|login| Credentials::new(&login.username, &login.password)),
            &self.hostname,
            self.cors,
            self.max_body_bytes,
            body_timeout,
        )
    }
}

fn invalid(option: &str, message: impl Into<String>) -> Failure {
    Failure::InvalidOption {
        option: option.into(),
        message: message.into(),
    }
}
