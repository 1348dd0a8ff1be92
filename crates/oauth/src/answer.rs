//! The answer of an authorization server to the browser.

use url::Url;
use url::form_urlencoded::parse;

use crate::error::{AuthorizationError, shown_code};
use opencode_secrets::Secret;

/// Maximum length of an answer.
pub(crate) const MAX_ANSWER_BYTES: usize = 8 * 1024;

/// The answer of an authorization server to the browser: the parameters of the redirect address.
#[derive(Clone, Debug, Default)]
pub struct BrowserAnswer {
    pub(crate) state: Option<Secret>,
    code: Option<Secret>,
    issuer: Option<String>,
    error: Option<&'static str>,
}

/// The values that an answer must have (RFC 9207).
pub struct Expected<'a> {
    /// The issuer of the authorization server.
    pub issuer: &'a str,
    /// True if each answer names the issuer.
    pub names_issuer: bool,
}

impl BrowserAnswer {
    /// Reads the query of a redirect address.
    pub(crate) fn read(query: &str) -> Self {
        let mut answer = Self::default();
        for (name, value) in parse(query.as_bytes()) {
            match &*name {
                "state" => answer.state = Some(Secret::new(value)),
                "code" => answer.code = Some(Secret::new(value)),
                "iss" => answer.issuer = Some(value.into_owned()),
                "error" => answer.error = Some(shown_code(&value)),
                _ => {}
            }
        }
        answer
    }

    /// Reads the input of a user: a code, or the whole address to which the browser was redirected. An address must
    /// contain the right state. A code alone has none; the proof key binds it to this authorization.
    pub(crate) fn pasted(input: &str, state: &Secret) -> Result<Self, AuthorizationError> {
        let refused = |message: &str| Err(AuthorizationError::Answer(message.into()));
        let input = input.trim();
        if input.is_empty() || input.len() > MAX_ANSWER_BYTES {
            return refused("enter the code, or the address to which the browser was redirected");
        }
        let Some(address) = address(input) else {
            return Ok(Self {
                code: Some(Secret::new(input)),
                ..Self::default()
            });
        };
        let answer = Self::read(address.query().unwrap_or_default());
        let found = answer.state.as_ref();
        match found.is_some_and(|found| state.is(found.expose())) {
            true => Ok(answer),
            false => refused("the address does not belong to this authorization"),
        }
    }

    /// Returns the code. `expected` is `None` if the issuer of the server is unknown.
    ///
    /// # Errors
    ///
    /// Fails if another server answered, or if the server refused.
    pub fn code(&self, expected: Option<&Expected<'_>>) -> Result<Secret, AuthorizationError> {
        let is_right = expected.is_none_or(|expected| match &self.issuer {
            Some(issuer) => issuer == expected.issuer,
            None => !expected.names_issuer || self.state.is_none(),
        });
        if !is_right {
            let message = "another authorization server answered".into();
            return Err(AuthorizationError::Answer(message));
        }
        if let Some(error) = self.error {
            return Err(AuthorizationError::Refused(error.into()));
        }
        let code = self.code.clone().filter(|code| !code.expose().is_empty());
        code.ok_or_else(|| AuthorizationError::Answer("the answer has no code".into()))
    }
}

fn address(input: &str) -> Option<Url> {
    let url = Url::parse(input).ok()?;
    (url.has_host() || url.query().is_some()).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expected<'_> = Expected {
        issuer: "https://as",
        names_issuer: true,
    };

    fn code(answer: &BrowserAnswer) -> Result<String, AuthorizationError> {
        Ok(answer.code(Some(&EXPECTED))?.expose().to_owned())
    }

    #[test]
    fn a_code_counts_only_from_the_right_server() {
        let of = |query: &str| code(&BrowserAnswer::read(query));
        assert_eq!(of("code=1&state=s&iss=https://as").as_deref(), Ok("1"));
        assert!(of("code=1&state=s&iss=https://as.evil").is_err());
        assert!(of("code=1&state=s").is_err());
        assert!(of("state=s&iss=https://as").is_err());
        assert!(of("code=&state=s&iss=https://as").is_err());
        assert_eq!(
            of("error=access_denied&state=s&iss=https://as"),
            Err(AuthorizationError::Refused("access_denied".into()))
        );
    }

    #[test]
    fn users_paste_a_code_or_the_redirect_address() {
        let state = Secret::new("s");
        let pasted = |input: &str| code(&BrowserAnswer::pasted(input, &state)?);
        assert_eq!(pasted(" 4/abc~:x \n").as_deref(), Ok("4/abc~:x"));
        let address = "http://127.0.0.1:1/cb?code=1&state=s&iss=https%3A%2F%2Fas";
        assert_eq!(pasted(address).as_deref(), Ok("1"));
        assert!(pasted("http://127.0.0.1:1/cb?code=1&state=other&iss=https://as").is_err());
        assert!(pasted("http://127.0.0.1:1/cb?code=1&iss=https://as").is_err());
        assert!(pasted("").is_err());
        assert!(pasted(&"x".repeat(MAX_ANSWER_BYTES + 1)).is_err());
    }
}
