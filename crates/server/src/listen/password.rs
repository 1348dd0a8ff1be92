//! The credentials of clients of a listener.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use opencode_protocol::failure::Failure;
use serde::Deserialize;

/// Number of random bytes of a generated password.
const MINTED_BYTES: usize = 24;

/// The source of the password of a listener.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "Form")]
pub enum Password {
    /// The listener generates a random one.
    #[default]
    Minted,
    /// The caller, or the environment, provides it.
    Given(String),
    /// The caller turned it off explicitly. Clients need none.
    Off,
}

/// The forms of the option.
#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Switch(bool),
}

impl TryFrom<Form> for Password {
    type Error = &'static str;

    fn try_from(form: Form) -> Result<Self, Self::Error> {
        match form {
            Form::Text(text) => Ok(Self::Given(text)),
            Form::Switch(false) => Ok(Self::Off),
            Form::Switch(true) => Err("a password is a text or false"),
        }
    }
}

impl Password {
    /// Returns the text that clients give, or `None` if the password is off.
    pub(super) fn into_text(self) -> Result<Option<String>, Failure> {
        match self {
            Self::Minted => mint().map(Some),
            Self::Given(text) => Ok(Some(text)),
            Self::Off => Ok(None),
        }
    }
}

fn mint() -> Result<String, Failure> {
    let mut bytes = [0; MINTED_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| Failure::ServiceUnavailable {
        message: format!("The system gives no random bytes for a password: {error}"),
        service: None,
    })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// A name and its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
}

/// Omits the password, so that no log contains it.
impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Login");
        shown
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minted_password_is_long_and_new_and_fits_an_address() {
        let texts = [(); 2].map(|()| Password::Minted.into_text().unwrap().unwrap());
        assert_ne!(texts[0], texts[1]);
        for text in texts {
            assert_eq!(text.len(), MINTED_BYTES * 4 / 3);
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            assert!(text.chars().all(fits), "{text}");
        }
    }

    #[test]
    fn only_false_turns_it_off() {
        let read = |text: &str| serde_json::from_str::<Password>(text).ok();
        assert!(read("\"s3cret\"") == Some(Password::Given("s3cret".into())));
        assert!(read("false") == Some(Password::Off));
        for wrong in ["true", "null", "0", "{}"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_login_is_shown_without_its_password() {
        let login = Login {
            username: "me".into(),
            password: "s3cret".into(),
        };
        assert_eq!(format!("{login:?}"), "Login { username: \"me\", .. }");
    }
}
