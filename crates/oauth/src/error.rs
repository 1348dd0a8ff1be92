//! The reasons why an authorization fails.

/// The reason why an authorization failed. Contains no secrets and no free texts of servers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthorizationError {
    /// The authorization server does not register clients.
    #[error("{0}")]
    NeedsClientRegistration(String),
    /// The user, or the authorization server for the user, refused.
    #[error("the authorization was refused: {0}")]
    Refused(String),
    /// The answer of the browser or of the user does not belong to this authorization.
    #[error("{0}")]
    Answer(String),
    /// The authorization server cannot be used.
    #[error("{0}")]
    Failed(String),
}

/// The codes that messages repeat. A server could put a token in the place of any other code.
const CODES: [&str; 18] = [
    "access_denied",
    "account_selection_required",
    "consent_required",
    "expired_token",
    "interaction_required",
    "invalid_client",
    "invalid_client_metadata",
    "invalid_grant",
    "invalid_redirect_uri",
    "invalid_request",
    "invalid_scope",
    "invalid_target",
    "login_required",
    "server_error",
    "temporarily_unavailable",
    "unauthorized_client",
    "unsupported_grant_type",
    "unsupported_response_type",
];

/// Returns the code of an error as a message may contain it.
#[must_use]
pub fn shown_code(code: &str) -> &'static str {
    let known = CODES.iter().find(|known| **known == code);
    known.copied().unwrap_or("an unknown error")
}
