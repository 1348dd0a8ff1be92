//! The servers, as a configuration describes them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

/// The default of both time limits.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A server of a Location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// The way to reach the server.
    pub connection: Connection,
    /// False if the server must not be started.
    pub enabled: bool,
    /// Its time limits.
    pub timeouts: Timeouts,
}

/// The way to reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A child process of the host, over its standard input and output.
    Local(LocalServer),
    /// Streamable HTTP.
    Remote(RemoteServer),
}

/// A server that is a child process of the host.
#[derive(Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The program and its arguments. Never empty.
    pub command: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// All of its environment variables.
    pub environment: BTreeMap<String, String>,
}

/// Shows no values, because they may be secrets.
impl fmt::Debug for LocalServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalServer")
            .field("program", &self.command.first())
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A server behind an address.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteServer {
    /// The name of the server in its configuration.
    pub name: String,
    /// The address of its endpoint.
    pub url: Url,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// Settings of OAuth; `None` if the server must not use it.
    pub oauth: Option<OAuthOptions>,
}

/// Shows no headers and no user information, because they may be secrets.
impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteServer")
            .field("name", &self.name)
            .field("host", &self.url.host_str())
            .finish_non_exhaustive()
    }
}

/// Settings of OAuth for one server.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OAuthOptions {
    /// The id of a client that is registered already. Without it the host registers one (RFC 7591).
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<String>,
    /// The scopes to request, separated by spaces. Default: those that the server names.
    pub scope: Option<String>,
    /// The port of the redirect address on this machine. Default: 19876.
    pub callback_port: Option<u16>,
    /// The whole redirect address. Default: `http://127.0.0.1:<port>/mcp/oauth/callback`.
    pub redirect_uri: Option<String>,
}

/// Shows no secret.
impl fmt::Debug for OAuthOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthOptions")
            .field("client_id", &self.client_id)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Time limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection, the initialisation and the first listing.
    pub startup: Duration,
    /// For each request. A progress notification of the request starts it again.
    pub request: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            startup: DEFAULT_TIMEOUT,
            request: DEFAULT_TIMEOUT,
        }
    }
}
