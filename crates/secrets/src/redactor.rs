//! Removal of secrets from all data that is stored, logged or shown.
//!
//! [`Secrets`](super::secrets::Secrets) holds the secret strings of the configuration and the environment. A [`Redactor`]
//! removes them from texts, all in one pass.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};
use url::Url;

use super::names::{is_harmless_header, is_secret_name, is_secret_query};
use super::secret::REDACTED;
use super::written::{redact_members, redact_pairs};

/// `Debug` of headers or parameters. Shows only the values of harmless headers.
pub struct Fields<'a>(pub &'a [(String, String)]);

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(name, value)| {
            let shown = is_harmless_header(name);
            (name, if shown { value.as_str() } else { REDACTED })
        });
        formatter.debug_map().entries(shown).finish()
    }
}

/// Returns an address with a replacement for each segment of its path that is a secret.
#[must_use]
pub fn without_segments(url: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let host = url.find("://").map_or(0, |at| at + 3);
    let begin = url[host..].find(['/', '?', '#']);
    let begin = begin.map_or(url.len(), |at| host + at);
    let end = url[begin..]
        .find(['?', '#'])
        .map_or(url.len(), |at| begin + at);
    let segments = url[begin..end]
        .split('/')
        .map(|segment| match is_secret(segment) {
            true => REDACTED,
            false => segment,
        });
    let path = segments.collect::<Vec<_>>().join("/");
    format!("{}{path}{}", &url[..begin], &url[end..])
}

/// Removes secrets from texts. Clones share the search automaton.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Every spelling of every secret.
    spellings: Arc<[String]>,
    /// Built at the first search, because most requests do not fail.
    search: Arc<OnceLock<Option<AhoCorasick>>>,
}

/// Shows the number of spellings.
impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Redactor")
            .field(&self.spellings.len())
            .finish()
    }
}

impl Redactor {
    pub(super) fn new(spellings: Vec<String>) -> Self {
        Self {
            spellings: spellings.into(),
            search: Arc::default(),
        }
    }

    fn search(&self) -> Option<&AhoCorasick> {
        if self.spellings.is_empty() {
            return None;
        }
        let build = || {
            // Of several matches at one position, the longest wins, so that no part of a secret remains.
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&*self.spellings)
                .inspect_err(
                    |error| tracing::error!(%error, "there are too many secrets to look for"),
                )
                .ok()
        };
        self.search.get_or_init(build).as_ref()
    }

    /// True if no secret is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    /// True if a text contains a secret.
    #[must_use]
    pub fn finds(&self, text: &str) -> bool {
        self.search().is_some_and(|search| search.is_match(text))
    }

    /// Returns the text without the secrets that it contains verbatim.
    #[must_use]
    pub fn verbatim<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.search() {
            Some(search) if search.is_match(text) => {
                let replaced = vec![REDACTED; self.spellings.len()];
                Cow::Owned(search.replace_all(text, &replaced))
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// Removes the secrets that a text contains verbatim.
    pub fn clean(&self, text: &mut String) {
        if let Cow::Owned(cleaned) = self.verbatim(text) {
            *text = cleaned;
        }
    }

    /// Removes secrets from every string of a value, including the names of members.
    pub fn clean_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.clean(text),
            Value::Array(elements) => elements.iter_mut().for_each(|it| self.clean_value(it)),
            Value::Object(members) => self.clean_members(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Removes secrets from every string of an object, including the names of members.
    pub fn clean_members(&self, members: &mut Map<String, Value>) {
        members
            .values_mut()
            .for_each(|value| self.clean_value(value));
        if members.keys().any(|name| self.finds(name)) {
            let named = std::mem::take(members).into_iter();
            let renamed = named.map(|(name, value)| (self.verbatim(&name).into_owned(), value));
            *members = renamed.collect();
        }
    }

    /// Returns the text without known secrets and without values that have a secret name.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        redact_pairs(&redact_members(&self.verbatim(text)))
    }

    /// Returns the headers without secrets.
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

    /// Returns the address without secrets and without user information.
    #[must_use]
    pub fn url(&self, url: &str) -> String {
        let Ok(mut parsed) = Url::parse(url) else {
            return self.text(url);
        };
        // Both calls succeed for an address with a host. An address without a host has no user information.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::is_secret_segment;
    use crate::secrets::Secrets;

    fn owned(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in [
            ("authorization", "Bearer sk-a b+c/d"),
            ("x-api-key", "key-1234"),
            ("x-session-affinity", "ses_1"),
            ("cookie", "abc"),
            ("Ocp-Apim-Subscription-Key", "0123abcdef"),
            ("helicone-auth", "Bearer he\"licone1"),
            ("x-crumbs", "a=1; id=crumb-1234, \"quoted-1234\""),
            ("x-short", "seven77"),
            ("x-stage", "production"),
            ("Content-Type", "application/json"),
        ] {
            secrets.learn_header(name, value);
        }
        secrets
            .learn_url("https://us%40er123:hunter22@model.test/v1?key=AIza99&sig=xyz9&api-version=v1&place=north-4711");
        secrets
    }

    fn redactor() -> Redactor {
        secrets().of_failures()
    }

    #[test]
    fn secret_names_are_recognised() {
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
            "db_password",
            "passphrase",
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
    fn segments_of_paths_that_may_be_secrets_are_recognised() {
        for segment in [
            "sk-live-1234",
            "0a1b2c3d4e5f",
            "Zm9vYmFyYmF6",
            "my-secret-token",
            "123e4567-e89b-12d3-a456-426614174000",
            "key%2F1234",
        ] {
            assert!(is_secret_segment(segment), "{segment}");
        }
        for segment in [
            "",
            "v1",
            "v1beta1",
            "openai",
            "chat-completions",
            "us-central1",
            "europe-west12",
            "compatible-mode",
        ] {
            assert!(!is_secret_segment(segment), "{segment}");
        }
        let mut secrets = Secrets::default();
        secrets.learn_path(
            "https://g.test/v1/key%2D0a1b2c3d/openai/models/gemini-2.5-pro:stream?a=b",
            "google/gemini-2.5-pro",
        );
        let text = "key-0a1b2c3d key%2D0a1b2c3d gemini-2.5-pro:stream openai";
        let expected = "<redacted> <redacted> gemini-2.5-pro:stream openai";
        assert_eq!(secrets.of_texts().verbatim(text), expected);
    }

    #[test]
    fn segments_of_paths_are_replaced_in_their_places() {
        for (url, expected) in [
            (
                "https://h.test/v1/key-1234/x?key-1234#key-1234",
                "https://h.test/v1/<redacted>/x?key-1234#key-1234",
            ),
            ("https://h.test", "https://h.test"),
            ("https://h.test?a=/key-1234", "https://h.test?a=/key-1234"),
            ("no address", "no address"),
        ] {
            assert_eq!(without_segments(url, is_secret_segment), expected);
        }
    }

    #[test]
    fn every_spelling_of_a_secret_is_redacted() {
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
            (
                "0123abcdef he\"licone1 he\\\"licone1",
                "<redacted> <redacted> <redacted>",
            ),
            (
                "crumb-1234 quoted-1234 us@er123 us%40er123",
                "<redacted> <redacted> <redacted> <redacted>",
            ),
            (
                "dXNAZXIxMjM6aHVudGVyMjI= north-4711",
                "<redacted> <redacted>",
            ),
            (
                "seven77 production application/json",
                "seven77 production application/json",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(redactor().text(text), expected);
        }
    }

    #[test]
    fn texts_of_users_keep_short_credentials_and_words() {
        let redactor = secrets().of_texts();
        for (text, expected) in [
            (
                "key-1234 hunter22 0123abcdef",
                "<redacted> <redacted> <redacted>",
            ),
            (
                "AIza99 xyz9 production token=abc",
                "AIza99 xyz9 production token=abc",
            ),
        ] {
            assert_eq!(redactor.verbatim(text), expected);
            assert_eq!(redactor.finds(text), text != expected);
        }
        assert!(matches!(redactor.verbatim("nothing"), Cow::Borrowed(_)));
        assert_eq!(Redactor::default().verbatim("key-1234"), "key-1234");
    }

    #[test]
    fn every_string_of_a_value_is_cleaned() {
        let mut value = serde_json::json!({"a": ["see key-1234", 1], "key-1234": {"b": "ok"}});
        secrets().of_texts().clean_value(&mut value);
        let expected = serde_json::json!({"a": ["see <redacted>", 1], "<redacted>": {"b": "ok"}});
        assert_eq!(value, expected);
    }

    #[test]
    fn a_secret_that_is_a_prefix_of_another_leaves_no_rest() {
        let mut secrets = Secrets::default();
        for secret in ["key-12345", "key-12345-and-more", "more-and-key-12345"] {
            secrets.learn_credential(secret);
        }
        let text = secrets
            .of_texts()
            .verbatim("key-12345-and-more more-and-key-12345")
            .into_owned();
        assert_eq!(text, "<redacted> <redacted>");
    }

    #[test]
    fn strings_under_secret_names_are_learned_from_members() {
        let mut secrets = Secrets::default();
        let members = serde_json::json!({
            "apiKey": "key-1", "pin_secret": 12345, "user": "somebody-1",
            "credentials": {"id": "ident-1", "list": ["list-1"]}, "nested": [{"token": "token-1"}],
        });
        secrets.learn_members(members.as_object().unwrap());
        let known = [
            "key-1",
            "12345",
            "ident-1",
            "list-1",
            "token-1",
            "somebody-1",
        ];
        let found = known.map(|value| secrets.contains(value));
        assert_eq!(found, [true, true, true, true, true, false]);
    }

    #[test]
    fn values_with_secret_names_are_redacted_in_texts() {
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
