//! The stored form of a credential of an MCP server.

use opencode_oauth::{Grant, TokenEndpoint};
use opencode_schema::clock::Millis;
use opencode_secrets::{Secret, optional_secret};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

/// A credential of an MCP server: its client, and its tokens once the user has given consent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(rename = "methodID")]
    method_id: Kind,
    /// The MCP server. The credential is sent to no other server.
    pub(super) server_url: String,
    /// The authorization server.
    pub(super) issuer: String,
    /// The address that renews tokens.
    #[serde(with = "address")]
    pub(super) token_endpoint: Url,
    /// The resource of the tokens.
    pub(super) resource: String,
    /// The client of this host.
    pub(super) client: Client,
    /// The tokens; absent before the consent of the user, and after the server refused to renew them.
    #[serde(flatten)]
    pub(super) tokens: Option<Grant>,
}

/// The type of a credential, and its method.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Oauth,
}

/// A client of an authorization server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Client {
    pub(super) id: String,
    /// The secret of a registered client. The secret of a configured client stays in the configuration.
    #[serde(
        with = "optional_secret",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub(super) secret: Option<Secret>,
    /// The time at which the secret ends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) secret_expires: Option<Millis>,
    /// The redirect address of a registered client; `None` for a configured client.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) redirect_uri: Option<String>,
    /// True if the server expects the secret in the body.
    #[serde(default)]
    pub(super) secret_in_body: bool,
}

impl Record {
    /// Creates the record of a client without tokens.
    pub(super) fn new(
        server_url: &Url,
        issuer: String,
        token_endpoint: Url,
        resource: String,
        client: Client,
    ) -> Self {
        Self {
            kind: Kind::Oauth,
            method_id: Kind::Oauth,
            server_url: server_url.to_string(),
            issuer,
            token_endpoint,
            resource,
            client,
            tokens: None,
        }
    }

    /// Reads a stored value; `None` if it has another format.
    pub(super) fn read(value: &Secret) -> Option<Self> {
        serde_json::from_str(value.expose()).ok()
    }

    /// Returns the endpoint that gives the tokens of this record. `secret` is that of the client.
    pub(super) fn endpoint<'a>(&'a self, secret: Option<&'a Secret>) -> TokenEndpoint<'a> {
        TokenEndpoint {
            address: &self.token_endpoint,
            client_id: &self.client.id,
            client_secret: secret,
            secret_in_body: self.client.secret_in_body,
            resource: Some(&self.resource),
        }
    }

    /// Returns the value to store.
    pub(super) fn stored(&self) -> Result<Secret, String> {
        let text = serde_json::to_string(self).map_err(|error| error.to_string())?;
        Ok(Secret::new(text))
    }
}

/// An address as text.
mod address {
    use serde::de::Error as _;

    use super::{Deserialize, Deserializer, Serializer, Url};

    pub(super) fn serialize<S: Serializer>(address: &Url, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(address.as_str())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Url, D::Error> {
        Url::parse(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}
