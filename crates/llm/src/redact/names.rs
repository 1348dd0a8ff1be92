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

pub(super) fn is_secret_query(name: &str) -> bool {
    is_secret_name(name) || matches!(name, "key" | "sig")
}
