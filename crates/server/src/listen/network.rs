//! The layers between the network and the routes, in this order: CORS, compression, credentials or the protection
//! without them, and limits of bodies. Requests in memory do not pass them.

use std::sync::Arc;
use std::time::Duration;

use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};

use crate::listen::authorization::{Credentials, authorize};
use crate::listen::bodies::{Bodies, bound};
use crate::listen::compression;
use crate::listen::pages::{Pages, refuse_foreign_changes, refuse_foreign_pages};
use crate::wire::cors::{Origins, share};
use crate::wire::peer::Peer;

/// The options of a listener for its clients.
pub(crate) struct Network {
    credentials: Option<Credentials>,
    pages: Pages,
    origins: Arc<Origins>,
    bodies: Bodies,
}

impl Network {
    pub(crate) fn new(
        credentials: Option<Credentials>,
        hostname: &str,
        origins: Vec<String>,
        max_body_bytes: u64,
        body_timeout: Duration,
    ) -> Self {
        let origins = Arc::new(Origins::new(origins));
        Self {
            credentials,
            pages: Pages::new(hostname, Arc::clone(&origins)),
            origins,
            bodies: Bodies::new(max_body_bytes, body_timeout),
        }
    }

    /// Wraps the routes in the layers for network clients. A request passes the last added layer first.
    pub(crate) fn around(self, routes: Router) -> Router {
        let peer = Peer {
            origins: Arc::clone(&self.origins),
            locked: self.credentials.is_some(),
        };
        let routes = routes
            .layer(Extension(peer))
            .layer(from_fn_with_state(Arc::new(self.bodies), bound));
        let routes = match self.credentials {
            Some(it) => routes
                .layer(from_fn_with_state(
                    Arc::clone(&self.origins),
                    refuse_foreign_changes,
                ))
                .layer(from_fn_with_state(Arc::new(it), authorize)),
            None => routes.layer(from_fn_with_state(
                Arc::new(self.pages),
                refuse_foreign_pages,
            )),
        };
        routes
            .layer(compression::layer())
            .layer(from_fn_with_state(self.origins, share))
    }
}
