//! The stored form of a credential of an MCP server.

use opencode_schema::clock::Millis;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use super::secret::Secret;

/// The time before its end at which a token is renewed.
const EARLY: Millis = 5 * 60 * 1000;

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
    #[serde(with = "optional", skip_serializing_if = "Option::is_none", default)]
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

/// The tokens that an authorization server granted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Grant {
    #[serde(with = "plain")]
    pub(super) access: Secret,
    #[serde(with = "optional", skip_serializing_if = "Option::is_none", default)]
    pub(super) refresh: Option<Secret>,
    /// The end of the access token.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) expires: Option<Millis>,
    /// The time at which the access token is renewed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) renew: Option<Millis>,
    /// The granted scopes.
    #[serde(default)]
    pub(super) scopes: Vec<String>,
}

impl Grant {
    /// Sets the end of the access token. A token that lives shorter than ten minutes is renewed after half of its life.
    pub(super) fn expire(&mut self, now: Millis, seconds: Option<u64>) {
        let most = 10 * 365 * 24 * 60 * 60;
        let life = seconds.map(|seconds| seconds.min(most) as Millis * 1000);
        self.expires = life.map(|life| now.saturating_add(life));
        self.renew = life.map(|life| now.saturating_add(life - EARLY.min(life / 2)));
    }
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

/// A secret as plain JSON.
mod plain {
    use super::{Deserialize, Deserializer, Secret, Serializer};

    pub(super) fn serialize<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(secret.expose())
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Secret, D::Error> {
        String::deserialize(from).map(Secret::new)
    }
}

/// An optional secret as plain JSON.
mod optional {
    use super::{Deserialize, Deserializer, Secret, Serializer};

    pub(super) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match secret {
            Some(secret) => to.serialize_some(secret.expose()),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        from: D,
    ) -> Result<Option<Secret>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Secret::new))
    }
}
