//! The strings that must not be repeated.

use std::collections::BTreeSet;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

use super::Redactor;
use super::names::{is_harmless_header, is_secret_name, is_secret_query};

/// Shorter credentials occur by chance in any failure; replacing them would only garble it.
const SHORTEST_CREDENTIAL: usize = 4;

/// What is shorter is looked for in no text of a model or a tool, nor, unless it is named like a
/// credential, in failures.
const SHORTEST: usize = 8;

/// Up to this length a value of nothing but lower-case letters, hyphens and underscores is a word,
/// such as `production` or `lm-studio`.
const LONGEST_WORD: usize = 12;

/// Bytes of all spellings that are looked for. Real configurations have a thousandth of it.
const MAX_BYTES: usize = 1024 * 1024;

/// The strings that must not be repeated: keys, headers, and what addresses hold.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Keys, passwords, and what is named like them.
    credentials: BTreeSet<String>,
    /// Everything else that was configured and may be a secret.
    others: BTreeSet<String>,
}

/// Shows how many there are.
impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.credentials.len() + self.others.len();
        formatter.debug_tuple("Secrets").field(&known).finish()
    }
}

impl Secrets {
    /// Learns a key or a password.
    pub fn learn_credential(&mut self, secret: &str) {
        if !secret.is_empty() {
            self.credentials.insert(secret.to_owned());
        }
    }

    /// Learns what others know. Returns whether any of it is new.
    pub fn learn_all(&mut self, others: &Self) -> bool {
        let count = |it: &Self| it.credentials.len() + it.others.len();
        let before = count(self);
        self.credentials.extend(others.credentials.iter().cloned());
        self.others.extend(others.others.iter().cloned());
        count(self) > before
    }

    /// Learns the value of a header, whole and in its parts: a server may repeat a credential without
    /// the scheme before it, or one cookie of several.
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

    /// Learns the user information of an address and the values of its query.
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
        // What a request says of both.
        self.learn_credential(&STANDARD.encode(format!("{user}:{password}")));
        self.learn_credential(&password);
        self.others.insert(user);
    }

    /// Learns the strings under secret names among options and settings.
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

    /// Whether a value is one of them, as a whole.
    #[must_use]
    pub fn contains(&self, value: &str) -> bool {
        let is_credential = value.len() >= SHORTEST_CREDENTIAL && self.credentials.contains(value);
        is_credential || is_telling(value) && self.others.contains(value)
    }

    /// For what a provider says of a failed request.
    #[must_use]
    pub fn of_failures(&self) -> Redactor {
        let credentials = self.credentials.iter();
        let credentials = credentials.filter(|it| it.len() >= SHORTEST_CREDENTIAL);
        let others = self.others.iter().filter(|it| is_telling(it));
        redactor(credentials.chain(others))
    }

    /// For texts of models and tools, in which short words stand for themselves.
    #[must_use]
    pub fn of_texts(&self) -> Redactor {
        let all = self.credentials.iter().chain(&self.others);
        redactor(all.filter(|it| is_telling(it)))
    }
}

/// Whether a value can be told from what anybody might write.
fn is_telling(value: &str) -> bool {
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

/// A secret as it stands in a text, in an address, in a form and within JSON.
fn spellings(secret: &str) -> [String; 4] {
    let form: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let percent = form.replace('+', "%20");
    let json = Value::from(secret).to_string();
    let within = json[1..json.len() - 1].to_owned();
    [secret.to_owned(), form, percent, within]
}

/// Without percent-encoding, as far as that is text.
fn decoded(text: &str) -> String {
    let pair = format!("={}", text.replace('+', "%2B"));
    let value = form_urlencoded::parse(pair.as_bytes()).next();
    value.map_or_else(|| text.to_owned(), |(_, value)| value.into_owned())
}
