//! Values that may contain secrets. `Debug` does not show them.

use std::fmt;
use std::ops::{Deref, DerefMut};

pub use opencode_secrets::Redactor;
use opencode_secrets::{is_secret_segment, without_segments};
use serde_json::{Map, Value};
use url::Url;

/// Members of a JSON object that the provider defines. `Debug` shows only their names, because a key can have any name.
#[derive(Clone, Default, PartialEq)]
pub struct Members(pub Map<String, Value>);

impl Deref for Members {
    type Target = Map<String, Value>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Members {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// HTTP headers in the order of their first insertion. `Debug` shows only their names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// Sets the value of a header. Replaces the value of a header with the same name in any case.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.0.iter_mut().find(|(known, _)| same(known, name)) {
            Some((_, known)) => value.clone_into(known),
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
    }

    /// Sets every header of `other`.
    pub fn extend(&mut self, other: &Self) {
        for (name, value) in &other.0 {
            self.set(name, value);
        }
    }

    /// The headers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the value of a header. The name matches in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(known, _)| same(known, name))
            .map(|(_, value)| value)
    }
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

/// Returns the URL without the parts that may be secret: user, password, query and fragment. In HTTP URLs, a token is
/// often in the place of the user. In other URLs, such as `ssh://git@host`, the user is part of the address and stays.
pub fn shown_address(address: &Url) -> String {
    let mut shown = address.clone();
    // These calls fail for URLs that cannot have a user or a password.
    if matches!(shown.scheme(), "http" | "https") {
        let _ = shown.set_username("");
    }
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.into()
}

/// The base URL of a provider as configured. `Debug` shows it without user, password, query and fragment, and
/// without the segments of its path that may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(pub String);

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Url::parse(&self.0) {
            Ok(url) => f.write_str(&without_segments(&shown_address(&url), is_secret_segment)),
            Err(_) => f.write_str("<not a URL>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn debug_shows_no_values() {
        let Value::Object(members) = json!({"apiKey": "sk-1", "nested": {"token": "sk-1"}}) else {
            unreachable!()
        };
        let mut headers = Headers::default();
        headers.set("X-Custom", "sk-1");
        let url = BaseUrl("https://user:sk-1@host:8443/sk-12345/v1?key=sk-1".into());
        assert_eq!(
            format!("{:?} {headers:?} {url:?}", Members(members)),
            r#"{"apiKey", "nested"} {"X-Custom"} https://host:8443/<redacted>/v1"#
        );
        assert_eq!(format!("{:?}", BaseUrl("sk-1".into())), "<not a URL>");
    }

    #[test]
    fn header_names_ignore_case() {
        let mut headers = Headers::default();
        headers.set("A", "1");
        headers.set("B", "2");
        let mut other = Headers::default();
        other.set("a", "3");
        headers.extend(&other);
        assert_eq!(headers.iter().collect::<Vec<_>>(), [("A", "3"), ("B", "2")]);
        assert_eq!(headers.get("b"), Some("2"));
    }
}
