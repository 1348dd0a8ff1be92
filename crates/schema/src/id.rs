//! Identifiers: `<prefix>_` + 12 hex digits of time and counter + 14 random characters.
//!
//! The time part wraps and clocks can step back, so identifiers never define an order. Sequence
//! numbers do.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;

/// Maximum length of an identifier from a caller, in bytes.
pub const MAX_ID_BYTES: usize = 256;

/// The error for a text that is not an identifier of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text does not begin with the prefix of its kind.
    #[error("Expected a string starting with {prefix:?}, got {got:?}")]
    Prefix {
        /// Expected prefix.
        prefix: &'static str,
        /// The rejected text, cut to 64 characters.
        got: String,
    },
    /// The text is longer than [`MAX_ID_BYTES`].
    #[error("Expected an identifier of at most {MAX_ID_BYTES} bytes, got {0}")]
    Length(usize),
}

macro_rules! id_kind {
    ($(#[$doc:meta])* $name:ident, $accepted:literal, $generated:literal, $descending:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "Arc<str>")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Prefix that a text needs to be accepted as this kind.
            pub const PREFIX: &'static str = $accepted;

            /// Parses an identifier. Checks only the prefix and the length, because callers can
            /// supply their own identifiers.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                check(text, $accepted)?;
                Ok(Self(text.into()))
            }

            /// Generates a new identifier of this kind.
            pub fn generate(source: &IdSource) -> Self {
                Self(source.next($generated, $descending).into())
            }

            /// Returns the text of the identifier on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                check(&text, $accepted)?;
                Ok(Self(text.into()))
            }
        }

        impl From<$name> for Arc<str> {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": concat!("^", $accepted) })
            }
        }
    };
}

id_kind!(
    /// Identifies a session. Generated identifiers of newer sessions sort first.
    SessionID, "ses", "ses", true
);
id_kind!(
    /// Identifies a projected message and, before its promotion, an Admitted Prompt.
    MessageID, "msg_", "msg", false
);
id_kind!(
    /// Identifies an event.
    EventID, "evt_", "evt", false
);
id_kind!(
    /// Identifies a workspace. Reserved for future placement: the host validates it, stores it and
    /// returns it unchanged.
    WorkspaceID, "wrk", "wrk", false
);
id_kind!(
    /// Identifies a permission request.
    PermissionID, "per", "per", false
);
id_kind!(
    /// Identifies a request with questions.
    QuestionID, "que", "que", false
);
id_kind!(
    /// Identifies a terminal.
    PtyID, "pty", "pty", false
);

fn check(text: &str, prefix: &'static str) -> Result<(), IdError> {
    if text.len() > MAX_ID_BYTES {
        return Err(IdError::Length(text.len()));
    }
    if !text.starts_with(prefix) {
        return Err(IdError::Prefix {
            prefix,
            got: text.chars().take(64).collect(),
        });
    }
    Ok(())
}

/// Fills the random part of an identifier.
type Random = Box<dyn Fn(&mut [u8; 14]) + Send + Sync>;

/// The only source of generated identifiers in a process or in a test.
pub struct IdSource {
    clock: Arc<dyn Clock>,
    random: Random,
    /// Last millisecond, and the number of identifiers generated in it. All kinds share one pair,
    /// so identifiers generated one after another sort in that order. The lock is held for a few
    /// instructions.
    last: Mutex<(i64, u64)>,
}

impl IdSource {
    /// Creates a source with cryptographically random tails.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with_random(clock, |bytes| {
            getrandom::fill(bytes).expect("the operating system gives random bytes");
        })
    }

    /// Creates a source with tails from the caller, for tests that need reproducible identifiers.
    pub fn with_random(
        clock: Arc<dyn Clock>,
        random: impl Fn(&mut [u8; 14]) + Send + Sync + 'static,
    ) -> Self {
        Self {
            clock,
            random: Box::new(random),
            last: Mutex::new((i64::MIN, 0)),
        }
    }

    /// Generates the next identifier with this prefix. A descending identifier sorts before the
    /// earlier ones.
    pub fn next(&self, prefix: &str, descending: bool) -> String {
        const ALPHABET: &[u8; 62] =
            b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let number = self.tick() & 0xffff_ffff_ffff;
        let number = if descending {
            !number & 0xffff_ffff_ffff
        } else {
            number
        };
        let mut bytes = [0; 14];
        (self.random)(&mut bytes);
        let tail: String = bytes
            .iter()
            .map(|b| ALPHABET[usize::from(b % 62)] as char)
            .collect();
        format!("{prefix}_{number:012x}{tail}")
    }

    fn tick(&self) -> u64 {
        let now = self.clock.now();
        let mut last = self.last.lock();
        if last.0 != now {
            *last = (now, 0);
        }
        last.1 += 1;
        (now as u64).wrapping_mul(4096).wrapping_add(last.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct At(i64);
    impl Clock for At {
        fn now(&self) -> i64 {
            self.0
        }
    }

    fn source(time: i64) -> IdSource {
        IdSource::with_random(Arc::new(At(time)), |bytes| *bytes = [61; 14])
    }

    #[test]
    fn an_identifier_consists_of_time_counter_and_tail() {
        let ids = source(1);
        assert_eq!(
            MessageID::generate(&ids).as_str(),
            "msg_000000001001zzzzzzzzzzzzzz"
        );
        assert_eq!(
            EventID::generate(&ids).as_str(),
            "evt_000000001002zzzzzzzzzzzzzz"
        );
        assert_eq!(
            SessionID::generate(&ids).as_str(),
            "ses_ffffffffeffczzzzzzzzzzzzzz"
        );
    }

    #[test]
    fn the_time_of_an_identifier_is_cut_to_48_bits() {
        assert_eq!(
            &source((1 << 36) + 5).next("evt", false)[..16],
            "evt_000000005001"
        );
    }

    #[test]
    fn only_prefix_and_length_are_checked() {
        assert!(SessionID::parse("sesX").is_ok());
        assert!(MessageID::parse("msg_").is_ok());
        assert_eq!(
            MessageID::parse("foo").unwrap_err().to_string(),
            r#"Expected a string starting with "msg_", got "foo""#
        );
        assert_eq!(
            MessageID::parse(&format!("msg_{}", "x".repeat(300))),
            Err(IdError::Length(304))
        );
    }
}
