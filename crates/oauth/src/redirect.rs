//! The address to which an authorization server redirects the browser.

use url::Url;

use crate::error::AuthorizationError;
use crate::http::is_loopback;

/// A redirect address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub(crate) uri: String,
    /// The port and the path, if it is an address of this machine.
    pub(crate) local: Option<(u16, String)>,
}

impl Redirect {
    /// Parses a redirect address. `setting` is the name of its setting in messages.
    ///
    /// # Errors
    ///
    /// Fails if the text is no address, or has a fragment.
    pub fn parse(uri: String, setting: &str) -> Result<Self, AuthorizationError> {
        let url = Url::parse(&uri).ok().filter(|url| url.fragment().is_none());
        let url = url.ok_or_else(|| {
            AuthorizationError::Failed(format!("`{setting}` is not a redirect address"))
        })?;
        // The listener has an IPv4 address.
        let is_local = url.scheme() == "http" && is_loopback(&url) && !uri.contains("://[");
        let local = url.port_or_known_default().filter(|_| is_local);
        Ok(Self {
            local: local.map(|port| (port, url.path().to_owned())),
            uri,
        })
    }

    /// Returns the address as the authorization server gets it.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }
}
