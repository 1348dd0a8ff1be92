//! Classification of values by their names.

/// Headers with values that are not secret: formats, versions and programs, and the identifiers by
/// which servers group the requests of one session.
const HARMLESS_HEADERS: [&str; 15] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "anthropic-beta",
    "anthropic-version",
    "content-length",
    "content-type",
    "http-referer",
    "openai-beta",
    "referer",
    "user-agent",
    "x-parent-session-id",
    "x-session-affinity",
    "x-session-id",
    "x-title",
];

/// True if a header with this name may be shown with its value. Every other header may hold a secret.
#[must_use]
pub fn is_harmless_header(name: &str) -> bool {
    HARMLESS_HEADERS
        .iter()
        .any(|harmless| name.eq_ignore_ascii_case(harmless))
}

/// True if a header, parameter or member with this name holds a secret.
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
        "password",
        "passphrase",
    ]
    .iter()
    .any(|word| name.contains(word));
    // `token` names a credential, `tokens` names a count.
    secret
        || name
            .match_indices("token")
            .any(|(at, word)| !name[at + word.len()..].starts_with('s'))
}

/// Minimum length of a segment of a path that may be a secret, in bytes.
const SHORTEST_SEGMENT: usize = 8;

/// True if a segment of the path of an address may be a secret: it is long and no plain name, such as `chat-completions`
/// or `us-central1`, or it says that it is one.
#[must_use]
pub fn is_secret_segment(segment: &str) -> bool {
    let ends_with_digit = |it: &str| it.ends_with(|last: char| last.is_ascii_digit());
    let mut name = segment;
    // Names may end with a number of two digits.
    for _ in 0..2 {
        if ends_with_digit(name) {
            name = &name[..name.len() - 1];
        }
    }
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || b"-_.".contains(&byte);
    let is_name = name.bytes().all(is_plain) && !is_secret_name(segment);
    segment.len() >= SHORTEST_SEGMENT && !is_name
}

pub(super) fn is_secret_query(name: &str) -> bool {
    is_secret_name(name) || matches!(name, "key" | "sig")
}
