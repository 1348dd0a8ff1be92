//! The service of the embedding program that keeps shared copies.

use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_schema::session::SessionInfo;

/// Maximum size of an address in bytes.
const MAX_URL: usize = 2_048;
/// Maximum number of characters of the reason for a failure.
const MAX_REASON: usize = 1_000;

/// Keeps copies of sessions that others can read. Dropping a future ends the call.
pub trait ShareSessions: Send + Sync {
    /// Publishes a copy, or replaces the one of `session.share`. Returns its address.
    fn publish(&self, session: &SessionInfo) -> BoxFuture<'static, Result<String, String>>;
    /// Removes the copy of `session.share`.
    fn remove(&self, session: &SessionInfo) -> BoxFuture<'static, Result<(), String>>;
}

/// The service of a host, and its mode.
#[derive(Clone)]
pub struct ShareService {
    /// The service.
    pub sessions: Arc<dyn ShareSessions>,
    /// True if each session that no other session creates is shared at its creation.
    pub is_automatic: bool,
}

/// Returns the address if clients can show it as a link.
pub(super) fn checked(url: String) -> Result<String, String> {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    if url.len() > MAX_URL {
        return Err(format!(
            "the service gave an address of more than {MAX_URL} bytes"
        ));
    }
    if !is_web || url.chars().any(|it| it.is_whitespace() || it.is_control()) {
        return Err("the service gave no address that begins with https:// or http://".into());
    }
    Ok(url)
}

/// Cuts the reason of a failure.
pub(super) fn shortened(reason: &str) -> String {
    reason.chars().take(MAX_REASON).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_accepted() {
        for (url, is_accepted) in [
            ("https://share.example/s/1", true),
            ("http://localhost:4096/1", true),
            ("", false),
            ("share.example", false),
            ("javascript:alert(1)", false),
            ("https://a b", false),
            ("https://a\n", false),
            (" https://a", false),
        ] {
            assert_eq!(checked(url.to_owned()).is_ok(), is_accepted, "{url:?}");
        }
        assert!(checked(format!("https://{}", "a".repeat(3_000))).is_err());
    }
}
