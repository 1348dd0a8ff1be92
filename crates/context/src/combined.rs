//! Sources in the order in which they are told.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use crate::observed::{Observed, Seen, State};
use crate::source::{Observation, Source, Told, is_key};

/// How long a source may take to be observed.
pub const LOAD_PATIENCE: Duration = Duration::from_secs(10);

/// Why sources cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CombineError {
    /// Two have the same key.
    #[error("two Context Sources have the key {0}")]
    Duplicate(String),
    /// A key does not have the form `<namespace>/<name>`.
    #[error(
        "{0:?} is no Context Source key: it must look like namespace/name, in lower-case letters, digits and ._-"
    )]
    Key(String),
}

/// Sources in the order in which they are told. The default has none.
#[derive(Clone, Default)]
pub struct SystemContext {
    sources: Vec<Arc<dyn Source>>,
}

impl SystemContext {
    /// The context of one source.
    ///
    /// # Errors
    ///
    /// Its key has not the form of one.
    pub fn make(source: impl Source + 'static) -> Result<Self, CombineError> {
        if !is_key(source.key()) {
            return Err(CombineError::Key(source.key().to_owned()));
        }
        Ok(Self {
            sources: vec![Arc::new(source)],
        })
    }

    /// One context of several, in their order.
    ///
    /// # Errors
    ///
    /// Names the first key that occurs twice.
    pub fn combine(contexts: impl IntoIterator<Item = Self>) -> Result<Self, CombineError> {
        let sources: Vec<_> = contexts.into_iter().flat_map(|it| it.sources).collect();
        let mut seen = HashSet::with_capacity(sources.len());
        match sources.iter().find(|source| !seen.insert(source.key())) {
            Some(twice) => Err(CombineError::Duplicate(twice.key().to_owned())),
            None => Ok(Self { sources }),
        }
    }

    /// The keys of its sources, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.key())
    }

    /// Observes every source once, all of them concurrently. Which answers first makes no
    /// difference.
    pub async fn observe(&self) -> Observed {
        Observed::new(join_all(self.sources.iter().map(see)).await)
    }
}

async fn see(source: &Arc<dyn Source>) -> Seen {
    let state = match tokio::time::timeout(LOAD_PATIENCE, source.load()).await {
        Ok(Observation::Present(value)) => match Told::by(&**source, value) {
            Ok(told) => State::Present(told),
            Err(reason) => State::Unavailable(reason),
        },
        Ok(Observation::Absent) => State::Absent,
        Ok(Observation::Unavailable(reason)) => State::Unavailable(reason),
        Err(_) => State::Unavailable(format!(
            "it was not observed within {} seconds",
            LOAD_PATIENCE.as_secs()
        )),
    };
    if let State::Unavailable(reason) = &state {
        let key = source.key();
        // Nobody waits for the others, and they may be unavailable boundary after boundary.
        match source.is_required() {
            true => tracing::warn!(key, "Context Source unavailable: {reason}"),
            false => tracing::debug!(key, "Context Source unavailable: {reason}"),
        }
    }
    Seen {
        source: Arc::clone(source),
        state,
    }
}
