//! An ordered list of Context Sources.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use crate::observed::{Observed, ObservedSource, State};
use crate::source::{Observation, RenderedSource, Source, is_key};

/// Maximum time that the observation of one source may take.
pub const LOAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Reasons why sources cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CombineError {
    /// Two sources have the same key.
    #[error("two Context Sources have the key {0}")]
    Duplicate(String),
    /// A key does not have the form `<namespace>/<name>`.
    #[error(
        "{0:?} is no Context Source key: it must look like namespace/name, in lower-case letters, digits and ._-"
    )]
    Key(String),
}

/// Context Sources in the order of their texts. The default has no sources.
#[derive(Clone, Default)]
pub struct SystemContext {
    sources: Vec<Arc<dyn Source>>,
}

impl SystemContext {
    /// Creates a context of one source.
    ///
    /// # Errors
    ///
    /// Fails if the key of the source does not have the form of a key.
    pub fn make(source: impl Source + 'static) -> Result<Self, CombineError> {
        if !is_key(source.key()) {
            return Err(CombineError::Key(source.key().to_owned()));
        }
        Ok(Self {
            sources: vec![Arc::new(source)],
        })
    }

    /// Combines several contexts into one, in their order.
    ///
    /// # Errors
    ///
    /// Fails with the first key that occurs twice.
    pub fn combine(contexts: impl IntoIterator<Item = Self>) -> Result<Self, CombineError> {
        let sources: Vec<_> = contexts.into_iter().flat_map(|it| it.sources).collect();
        let mut seen = HashSet::with_capacity(sources.len());
        match sources.iter().find(|source| !seen.insert(source.key())) {
            Some(twice) => Err(CombineError::Duplicate(twice.key().to_owned())),
            None => Ok(Self { sources }),
        }
    }

    /// Returns the keys of the sources, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.key())
    }

    /// Observes every source once, all of them concurrently. The order in which they answer has no effect.
    pub async fn observe(&self) -> Observed {
        Observed::new(join_all(self.sources.iter().map(observe_source)).await)
    }
}

async fn observe_source(source: &Arc<dyn Source>) -> ObservedSource {
    let state = match tokio::time::timeout(LOAD_TIMEOUT, source.load()).await {
        Ok(Observation::Present(value)) => match RenderedSource::by(&**source, value) {
            Ok(rendered) => State::Present(rendered),
            Err(reason) => State::Unavailable(reason),
        },
        Ok(Observation::Absent) => State::Absent,
        Ok(Observation::Unavailable(reason)) => State::Unavailable(reason),
        Err(_) => State::Unavailable(format!(
            "it was not observed within {} seconds",
            LOAD_TIMEOUT.as_secs()
        )),
    };
    if let State::Unavailable(reason) = &state {
        let key = source.key();
        // The other sources do not block an epoch, and they may be unavailable at every boundary.
        match source.is_required() {
            true => tracing::warn!(key, "Context Source unavailable: {reason}"),
            false => tracing::debug!(key, "Context Source unavailable: {reason}"),
        }
    }
    ObservedSource {
        source: Arc::clone(source),
        state,
    }
}
