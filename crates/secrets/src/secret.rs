//! A text that authenticates a client or a user.

use std::fmt;
use std::sync::Arc;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The replacement of a secret.
pub const REDACTED: &str = "<redacted>";

/// A secret text. `Debug` hides it, it has no `Display`, and its memory is overwritten at the end.
#[derive(Clone)]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Wraps a text.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(Arc::new(Zeroizing::new(value.into())))
    }

    /// Returns the text. Only code that sends or stores it may call this.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Compares with another text. The time does not reveal the place of a difference.
    #[must_use]
    pub fn is(&self, other: &str) -> bool {
        self.expose().as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.is(other.expose())
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// A secret as plain JSON, for values that are stored.
pub mod plain_secret {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::secret::Secret;

    /// Writes the text of the secret.
    ///
    /// # Errors
    ///
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(secret.expose())
    }

    /// Reads the text of a secret.
    ///
    /// # Errors
    ///
    /// Fails if the value is no text.
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Secret, D::Error> {
        String::deserialize(from).map(Secret::new)
    }
}

/// An optional secret as plain JSON, for values that are stored.
pub mod optional_secret {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::secret::Secret;

    /// Writes the text of the secret.
    ///
    /// # Errors
    ///
    /// Fails if the serializer fails.
    pub fn serialize<S: Serializer>(secret: &Option<Secret>, to: S) -> Result<S::Ok, S::Error> {
        match secret {
            Some(secret) => to.serialize_some(secret.expose()),
            None => to.serialize_none(),
        }
    }

    /// Reads the text of a secret.
    ///
    /// # Errors
    ///
    /// Fails if the value is no text.
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Option<Secret>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Secret::new))
    }
}
