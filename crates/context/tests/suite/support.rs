//! Sources with an observation that a test chooses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Admitted, Observation, Observed, Snapshot, Source, SystemContext};
use serde_json::Value;

/// A source with a fixed observation. It accepts every value that is not a string.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub(crate) key: String,
    pub(crate) observation: Observation,
    pub(crate) removable: bool,
    pub(crate) required: bool,
    pub(crate) loads: Arc<AtomicUsize>,
}

impl Fixed {
    pub(crate) fn new(key: &str, observation: Observation) -> Self {
        Self {
            key: key.to_owned(),
            observation,
            removable: true,
            required: true,
            loads: Arc::default(),
        }
    }

    pub(crate) fn present(key: &str, value: impl Into<Value>) -> Self {
        Self::new(key, Observation::Present(value.into()))
    }

    pub(crate) fn absent(key: &str) -> Self {
        Self::new(key, Observation::Absent)
    }

    pub(crate) fn unavailable(key: &str) -> Self {
        Self::new(key, Observation::Unavailable("it rains".to_owned()))
    }

    pub(crate) fn forever(self) -> Self {
        Self {
            removable: false,
            ..self
        }
    }

    pub(crate) fn optional(self) -> Self {
        Self {
            required: false,
            ..self
        }
    }

    /// The stored form of the source after the model received it.
    pub(crate) fn admitted(&self) -> Option<Admitted> {
        match &self.observation {
            Observation::Present(value) => Some(Admitted {
                value: value.clone(),
                removed: self.removed(value),
            }),
            Observation::Absent | Observation::Unavailable(_) => None,
        }
    }
}

impl Source for Fixed {
    fn key(&self) -> &str {
        &self.key
    }

    fn is_required(&self) -> bool {
        self.required
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        futures::future::ready(self.observation.clone()).boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        !value.is_string()
    }

    fn baseline(&self, value: &Value) -> String {
        format!("{} is {value}", self.key)
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        format!("{} is now {current}", self.key)
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        self.removable.then(|| format!("{} is gone", self.key))
    }
}

pub(crate) fn context(sources: impl IntoIterator<Item = Fixed>) -> SystemContext {
    let each = sources
        .into_iter()
        .map(|it| SystemContext::make(it).unwrap());
    SystemContext::combine(each).unwrap()
}

/// Observes a context with sources that answer immediately.
pub(crate) fn observe(context: &SystemContext) -> Observed {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(context.observe())
}

pub(crate) fn observed(sources: impl IntoIterator<Item = Fixed>) -> Observed {
    observe(&context(sources))
}

/// The snapshot after the model received these sources.
pub(crate) fn known<'a>(sources: impl IntoIterator<Item = &'a Fixed>) -> Snapshot {
    let told = sources
        .into_iter()
        .filter_map(|it| Some((it.key.clone(), it.admitted()?)));
    told.collect()
}
