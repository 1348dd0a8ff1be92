//! The tokens that an authorization server granted.

use opencode_schema::clock::Millis;
use serde::{Deserialize, Serialize};

use opencode_secrets::{Secret, optional_secret, plain_secret};

/// The time before its end at which a token is renewed.
const EARLY: Millis = 5 * 60 * 1000;

/// The tokens that an authorization server granted. The serialized form contains them as plain text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// The access token.
    #[serde(with = "plain_secret")]
    pub access: Secret,
    /// The refresh token, if there is one.
    #[serde(
        with = "optional_secret",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub refresh: Option<Secret>,
    /// The end of the access token, if it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires: Option<Millis>,
    /// The time at which the access token is renewed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub renew: Option<Millis>,
    /// The granted scopes.
    #[serde(default)]
    pub scopes: Vec<String>,
}

impl Grant {
    /// Sets the end of the access token. A token that lives shorter than ten minutes is renewed after half of its life.
    pub(crate) fn expire(&mut self, now: Millis, seconds: Option<u64>) {
        let most = 10 * 365 * 24 * 60 * 60;
        let life = seconds.map(|seconds| seconds.min(most) as Millis * 1000);
        self.expires = life.map(|life| now.saturating_add(life));
        self.renew = life.map(|life| now.saturating_add(life - EARLY.min(life / 2)));
    }
}
