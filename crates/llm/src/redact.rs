//! Keeping secrets out of everything that is stored, logged or shown.

use std::fmt;

use url::{Url, form_urlencoded};

/// What stands in a secret's place.
pub const REDACTED: &str = "<redacted>";

/// Shorter values occur by chance in any text; replacing them would only garble it.
const SHORTEST_SECRET: usize = 4;
/// The longest member or parameter name that is looked at.
const LONGEST_NAME: usize = 64;

/// Whether a header, parameter or member of that name holds a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let secret = [
        "authorization",
        "apikey",
        "secret",
        "credential",
        "signature",
        "cookie",
    ]
    .iter()
    .any(|word| name.contains(word));
    // `token` names a credential, `tokens` counts them.
    secret
        || name
            .match_indices("token")
            .any(|(at, word)| !name[at + word.len()..].starts_with('s'))
}

fn is_secret_query(name: &str) -> bool {
    is_secret_name(name) || matches!(name, "key" | "sig")
}

/// `Debug` of headers or parameters that hides the secret ones.
pub(crate) struct Fields<'a>(pub(crate) &'a [(String, String)]);

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(name, value)| {
            let hidden = is_secret_query(name);
            (name, if hidden { REDACTED } else { value.as_str() })
        });
        formatter.debug_map().entries(shown).finish()
    }
}

/// Removes the secrets of one request from texts about it.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret inside another does not leave half of it behind.
    secrets: Vec<String>,
}

impl Redactor {
    /// Learns the secrets of a request from its headers and its address.
    #[must_use]
    pub fn new(headers: &[(String, String)], url: &str) -> Self {
        let mut redactor = Self::default();
        for (_, value) in headers.iter().filter(|(name, _)| is_secret_name(name)) {
            redactor.learn(value);
            // A server may echo the credential without the scheme in front of it.
            if let Some((_, credential)) = value.split_once(' ') {
                redactor.learn(credential.trim());
            }
        }
        if let Ok(url) = Url::parse(url) {
            for (name, value) in url.query_pairs() {
                if is_secret_query(&name) {
                    redactor.learn(&value);
                }
            }
            if let Some(password) = url.password() {
                redactor.learn(password);
            }
        }
        redactor
            .secrets
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        redactor
    }

    fn learn(&mut self, secret: &str) {
        if secret.len() < SHORTEST_SECRET {
            return;
        }
        let form: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        let percent = form.replace('+', "%20");
        for spelling in [secret.to_owned(), form, percent] {
            if !self.secrets.contains(&spelling) {
                self.secrets.push(spelling);
            }
        }
    }

    /// A text without secrets: the request's own, and whatever is named like one.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REDACTED);
            }
        }
        redact_pairs(&redact_members(&text))
    }

    /// Headers without secrets.
    #[must_use]
    pub fn headers(&self, headers: &[(String, String)]) -> Vec<(String, String)> {
        let value_of = |(name, value): &(String, String)| {
            if is_secret_name(name) {
                REDACTED.to_owned()
            } else {
                self.text(value)
            }
        };
        headers
            .iter()
            .map(|header| (header.0.clone(), value_of(header)))
            .collect()
    }

    /// An address without secrets and without user information.
    #[must_use]
    pub fn url(&self, url: &str) -> String {
        let Ok(mut parsed) = Url::parse(url) else {
            return self.text(url);
        };
        // Neither call can fail on an address with a host; without one there is no user
        // information.
        let _ = parsed.set_username("");
        let _ = parsed.set_password(None);
        let query: Vec<String> = parsed
            .query()
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| match pair.split_once('=') {
                Some((name, _)) if is_secret_query(name) => format!("{name}={REDACTED}"),
                _ => pair.to_owned(),
            })
            .collect();
        parsed.set_query(None);
        let mut text = parsed.to_string();
        if !query.is_empty() {
            text = format!("{text}?{}", query.join("&"));
        }
        self.text(&text)
    }
}

/// Replaces the values of JSON string members with secret names, in any text that contains such
/// members.
fn redact_members(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        let (before, quoted) = rest.split_at(open);
        out.push_str(before);
        match secret_member(quoted) {
            Some((head, tail)) => {
                out.push_str(head);
                out.push_str(REDACTED);
                rest = tail;
            }
            None => {
                out.push('"');
                rest = &quoted[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Splits `"name": "value"…` around the value if the name is secret. An unfinished value is all
/// value.
fn secret_member(quoted: &str) -> Option<(&str, &str)> {
    let name_end = 1 + quoted[1..].find('"')?;
    let name = &quoted[1..name_end];
    if name.len() > LONGEST_NAME || !is_secret_name(name) {
        return None;
    }
    let after_name = quoted[name_end + 1..].trim_start();
    let value = after_name
        .strip_prefix(':')?
        .trim_start()
        .strip_prefix('"')?;
    let head = &quoted[..quoted.len() - value.len()];
    let mut escaped = false;
    let end = value.find(|c| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    Some((head, &value[end.unwrap_or(value.len())..]))
}

/// Replaces the values of `name=value` pairs with secret names.
fn redact_pairs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(equals) = rest.find('=') {
        let (before, after) = (&rest[..equals], &rest[equals + 1..]);
        out.push_str(before);
        out.push('=');
        rest = after;
        let name_start = before
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
            .map_or(0, |at| {
                at + before[at..].chars().next().map_or(1, char::len_utf8)
            });
        if is_secret_name(&before[name_start..]) {
            let end = after
                .find(|c: char| c.is_whitespace() || "&\"'<>,;)}\\".contains(c))
                .unwrap_or(after.len());
            if end > 0 {
                out.push_str(REDACTED);
                rest = &after[end..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn redactor() -> Redactor {
        Redactor::new(
            &[
                owned("authorization", "Bearer sk-a b+c/d"),
                owned("x-api-key", "key-1234"),
                owned("x-session-affinity", "ses_1"),
                owned("cookie", "abc"),
            ],
            "https://user:hunter22@model.test/v1?key=AIza99&sig=xyz9&api-version=v1",
        )
    }

    #[test]
    fn names_of_secrets() {
        let secret = [
            "Authorization",
            "proxy-authorization",
            "api_key",
            "API-Key",
            "apikey",
            "x-api-key",
            "access_token",
            "refreshToken",
            "id-token",
            "token",
            "client_secret",
            "credentials",
            "X-Amz-Signature",
            "x-amz-security-token",
            "set-cookie",
        ];
        for name in secret {
            assert!(is_secret_name(name), "{name}");
        }
        let plain = [
            "max_tokens",
            "prompt_tokens",
            "x-ratelimit-remaining-tokens",
            "content-type",
            "key",
            "user-agent",
            "",
        ];
        for name in plain {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn every_spelling_of_a_secret_goes() {
        let rows = [
            ("you sent Bearer sk-a b+c/d", "you sent <redacted>"),
            ("you sent sk-a b+c/d.", "you sent <redacted>."),
            ("q sk-a+b%2Bc%2Fd", "q <redacted>"),
            ("q sk-a%20b%2Bc%2Fd", "q <redacted>"),
            (
                "key-1234 AIza99 xyz9 hunter22",
                "<redacted> <redacted> <redacted> <redacted>",
            ),
            (
                "abc is too short to be replaced",
                "abc is too short to be replaced",
            ),
            ("ses_1 is no secret", "ses_1 is no secret"),
        ];
        for (text, expected) in rows {
            assert_eq!(redactor().text(text), expected);
        }
    }

    #[test]
    fn members_and_pairs_with_secret_names_go() {
        let rows = [
            (
                r#"{"api_key": "sk-\"other", "max_tokens": "5", "a":{"accessToken":"t"}}"#,
                r#"{"api_key": "<redacted>", "max_tokens": "5", "a":{"accessToken":"<redacted>"}}"#,
            ),
            (r#"it"s "token" : "cut of"#, r#"it"s "token" : "<redacted>"#),
            (
                r#"{"token": 5, "secret": null}"#,
                r#"{"token": 5, "secret": null}"#,
            ),
            (
                "?api_key=1&x=2 token=abc, max_tokens=9",
                "?api_key=<redacted>&x=2 token=<redacted>, max_tokens=9",
            ),
            ("ü=1 tokenü=2 a==b =", "ü=1 tokenü=2 a==b ="),
        ];
        for (text, expected) in rows {
            assert_eq!(Redactor::default().text(text), expected);
        }
    }

    #[test]
    fn addresses_and_headers_lose_their_secrets() {
        assert_eq!(
            redactor()
                .url("https://user:hunter22@model.test/v1?key=AIza99&sig=xyz9&api-version=v1"),
            "https://model.test/v1?key=<redacted>&sig=<redacted>&api-version=v1"
        );
        assert_eq!(
            redactor().url("not an address key-1234"),
            "not an address <redacted>"
        );
        assert_eq!(
            redactor().headers(&[owned("x-api-key", "key-1234"), owned("echo", "v key-1234")]),
            [
                owned("x-api-key", "<redacted>"),
                owned("echo", "v <redacted>")
            ]
        );
    }
}
