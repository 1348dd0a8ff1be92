//! The collection of secret strings.

use std::collections::BTreeSet;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

use super::names::{is_harmless_header, is_secret_name, is_secret_query, is_secret_segment};
use super::redactor::Redactor;

/// Minimum length of a credential, in bytes. Shorter ones occur by chance in any failure, and
/// replacing them would only make the text unreadable.
const SHORTEST_CREDENTIAL: usize = 4;

/// Minimum length of a secret, in bytes, for texts of models and tools. In failures it applies only
/// to values that are not credentials.
const SHORTEST: usize = 8;

/// Up to this length, a value that consists of lower-case letters, hyphens and underscores counts
/// as a word, for example `production` or `lm-studio`.
const LONGEST_WORD: usize = 12;

/// Maximum size of all spellings of a redactor, in bytes. Real configurations need a thousandth of it.
const MAX_BYTES: usize = 1024 * 1024;

/// The secret strings: keys, headers and parts of addresses.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Keys, passwords and values with similar names.
    credentials: BTreeSet<String>,
    /// All other configured values that may be secret.
    others: BTreeSet<String>,
}

/// Shows the number of secrets.
impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.credentials.len() + self.others.len();
        formatter.debug_tuple("Secrets").field(&known).finish()
    }
}

impl Secrets {
    /// Adds a key or a password.
    pub fn learn_credential(&mut self, secret: &str) {
        if !secret.is_empty() {
            self.credentials.insert(secret.to_owned());
        }
    }

    /// Adds all secrets of another collection. Returns true if one of them is new.
    pub fn learn_all(&mut self, others: &Self) -> bool {
        let count = |it: &Self| it.credentials.len() + it.others.len();
        let before = count(self);
        self.credentials.extend(others.credentials.iter().cloned());
        self.others.extend(others.others.iter().cloned());
        count(self) > before
    }

    /// Adds the value of a header and its parts. A server may repeat a credential without its
    /// scheme, or only one of several cookies.
    pub fn learn_header(&mut self, name: &str, value: &str) {
        if is_harmless_header(name) {
            return;
        }
        let known = if is_secret_name(name) {
            &mut self.credentials
        } else {
            &mut self.others
        };
        known.insert(value.trim().to_owned());
        if let Some((_, credential)) = value.trim().split_once(' ') {
            known.insert(credential.trim().to_owned());
        }
        for part in value.split([' ', ';', ',', '"']) {
            let given = part.split_once('=').map_or(part, |(_, given)| given);
            self.others.extend([part.to_owned(), given.to_owned()]);
        }
    }

    /// Adds the user information of an address and the values of its query.
    pub fn learn_url(&mut self, url: &str) {
        let Ok(url) = Url::parse(url) else {
            return;
        };
        for (name, value) in url.query_pairs() {
            if is_secret_query(&name) {
                self.learn_credential(&value);
            } else {
                self.others.insert(value.into_owned());
            }
        }
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        if user.is_empty() && password.is_empty() {
            return;
        }
        let [user, password] = [user, password].map(decoded);
        // The form in which a request sends both.
        self.learn_credential(&STANDARD.encode(format!("{user}:{password}")));
        self.learn_credential(&password);
        self.others.insert(user);
    }

    /// Adds the segments of the path of an address that may be secrets. Gateways take keys there. `model` names the model
    /// that the address may have, which is none.
    pub fn learn_path(&mut self, url: &str, model: &str) {
        let Ok(url) = Url::parse(url) else {
            return;
        };
        for segment in url.path_segments().into_iter().flatten() {
            let (plain, name) = (decoded(segment), segment.split(':').next());
            let is_model = name.is_some_and(|name| model.contains(name) || model.contains(&plain));
            if is_secret_segment(&plain) && !is_model {
                self.others.extend([segment.to_owned(), plain]);
            }
        }
    }

    /// Adds the strings and numbers with secret names in options and settings.
    pub fn learn_members(&mut self, members: &Map<String, Value>) {
        for (name, value) in members {
            self.learn_member(is_secret_name(name), value);
        }
    }

    fn learn_member(&mut self, is_secret: bool, value: &Value) {
        match value {
            Value::String(text) if is_secret => self.learn_credential(text),
            Value::Number(number) if is_secret => self.learn_credential(&number.to_string()),
            Value::Array(elements) => {
                for element in elements {
                    self.learn_member(is_secret, element);
                }
            }
            Value::Object(members) => {
                for (name, value) in members {
                    self.learn_member(is_secret || is_secret_name(name), value);
                }
            }
            _ => {}
        }
    }

    /// True if a whole value is one of the secrets.
    #[must_use]
    pub fn contains(&self, value: &str) -> bool {
        let is_credential = value.len() >= SHORTEST_CREDENTIAL && self.credentials.contains(value);
        is_credential || is_distinctive(value) && self.others.contains(value)
    }

    /// Returns the redactor for messages of a provider about a failed request.
    #[must_use]
    pub fn of_failures(&self) -> Redactor {
        let credentials = self.credentials.iter();
        let credentials = credentials.filter(|it| it.len() >= SHORTEST_CREDENTIAL);
        let others = self.others.iter().filter(|it| is_distinctive(it));
        redactor(credentials.chain(others))
    }

    /// Returns the redactor for texts of models and tools. It does not replace short words.
    #[must_use]
    pub fn of_texts(&self) -> Redactor {
        let all = self.credentials.iter().chain(&self.others);
        redactor(all.filter(|it| is_distinctive(it)))
    }
}

/// True if a value is too distinctive to occur in a text by chance.
fn is_distinctive(value: &str) -> bool {
    let is_word = |value: &str| {
        value.len() <= LONGEST_WORD
            && value
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_'))
    };
    value.len() >= SHORTEST && !is_word(value)
}

fn redactor<'a>(secrets: impl Iterator<Item = &'a String>) -> Redactor {
    let spellings: BTreeSet<String> = secrets.flat_map(|secret| spellings(secret)).collect();
    let mut bytes = 0;
    let (known, excess): (Vec<_>, Vec<_>) = spellings.into_iter().partition(|spelling| {
        bytes += spelling.len();
        bytes <= MAX_BYTES
    });
    if !excess.is_empty() {
        let left_out = excess.len();
        tracing::error!(
            left_out,
            "the configured headers and keys are too long to be looked for in texts"
        );
    }
    Redactor::new(known)
}

/// Returns the spellings of a secret: plain, form-encoded, percent-encoded and inside JSON.
fn spellings(secret: &str) -> [String; 4] {
    let form: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let percent = form.replace('+', "%20");
    let json = Value::from(secret).to_string();
    let within = json[1..json.len() - 1].to_owned();
    [secret.to_owned(), form, percent, within]
}

/// Removes percent-encoding. Invalid UTF-8 is replaced.
fn decoded(text: &str) -> String {
    let pair = format!("={}", text.replace('+', "%2B"));
    let value = form_urlencoded::parse(pair.as_bytes()).next();
    value.map_or_else(|| text.to_owned(), |(_, value)| value.into_owned())
}
