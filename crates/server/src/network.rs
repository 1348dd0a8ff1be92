//! What stands between the network and the routes: who may read, smaller answers, credentials, and
//! bounds for bodies, in this order. In memory there is none of it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;

use crate::authorization::{Credentials, authorize};
use crate::bodies::{Bodies, bound};
use crate::compression;
use crate::cors::{Origins, share};

/// What a listener was told about its clients.
pub(crate) struct Network {
    credentials: Option<Credentials>,
    origins: Origins,
    bodies: Bodies,
}

impl Network {
    pub(crate) fn new(
        credentials: Option<(&str, String)>,
        origins: Vec<String>,
        max_body_bytes: u64,
        body_patience: Duration,
    ) -> Self {
        Self {
            credentials: credentials.map(|(name, password)| Credentials::new(name, &password)),
            origins: Origins::new(origins),
            bodies: Bodies::new(max_body_bytes, body_patience),
        }
    }

    /// These routes as the network sees them. What is added last is passed first.
    pub(crate) fn around(self, routes: Router) -> Router {
        let mut routes = routes.layer(from_fn_with_state(Arc::new(self.bodies), bound));
        if let Some(credentials) = self.credentials {
            routes = routes.layer(from_fn_with_state(Arc::new(credentials), authorize));
        }
        routes
            .layer(compression::layer())
            .layer(from_fn_with_state(Arc::new(self.origins), share))
    }
}
