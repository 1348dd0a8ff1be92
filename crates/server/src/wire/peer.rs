//! The listener that a request came through, if it came through one.

use std::sync::Arc;

use axum::http::request::Parts;

use super::cors::Origins;

/// Properties of a listener for handlers. The listener attaches them to each request.
#[derive(Clone)]
pub(crate) struct Peer {
    /// The origins whose pages may read answers.
    pub(crate) origins: Arc<Origins>,
    /// True if clients must know a password.
    pub(crate) locked: bool,
}

/// Returns true if a request comes from no page, or from a page that may read the answers of the listener.
///
/// A request in memory has no listener, and a program may forward a request that it received. Then only pages of
/// this machine, or of the host that the request names, are admitted.
pub(crate) fn admits_page(head: &Parts) -> bool {
    match head.extensions.get::<Peer>() {
        Some(peer) => peer.origins.admit(&head.headers),
        None => Origins::default().admit(&head.headers),
    }
}
