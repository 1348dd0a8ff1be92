//! A Context Source that the test controls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_runtime::{Observation, Source};
use serde_json::Value;

use crate::gate::Gate;

/// A source of texts. It is absent until the test sets a value. Clones share one source.
#[derive(Clone)]
pub struct ScriptedSource {
    key: String,
    script: Arc<Mutex<Script>>,
}

struct Script {
    observation: Observation,
    gate: Option<Gate>,
    is_removable: bool,
    /// Prefix of the stored values that the source accepts.
    accepts: String,
    loads: usize,
}

impl ScriptedSource {
    /// An absent source with this key. Its value can be removed.
    #[must_use]
    pub fn new(key: &str) -> Self {
        let script = Script {
            observation: Observation::Absent,
            gate: None,
            is_removable: true,
            accepts: String::new(),
            loads: 0,
        };
        Self {
            key: key.to_owned(),
            script: Arc::new(Mutex::new(script)),
        }
    }

    /// A source with this key and value.
    #[must_use]
    pub fn telling(key: &str, value: &str) -> Self {
        let source = Self::new(key);
        source.set(value);
        source
    }

    /// Sets the value that the source reports from now on.
    pub fn set(&self, value: &str) -> &Self {
        self.observe(Observation::Present(value.into()))
    }

    /// Makes the source absent from now on.
    pub fn hide(&self) -> &Self {
        self.observe(Observation::Absent)
    }

    /// Makes the source unavailable from now on.
    pub fn fail(&self) -> &Self {
        self.observe(Observation::Unavailable("the test says so".to_owned()))
    }

    /// Makes the value irrevocable from now on.
    pub fn bind(&self) -> &Self {
        self.script().is_removable = false;
        self
    }

    /// Accepts only stored values with this prefix from now on.
    pub fn accept(&self, begins: &str) -> &Self {
        self.script().accepts = begins.to_owned();
        self
    }

    /// Holds each observation of the source at the gate from now on.
    pub fn hold(&self, gate: &Gate) -> &Self {
        self.script().gate = Some(gate.clone());
        self
    }

    /// Number of observations so far.
    pub fn loads(&self) -> usize {
        self.script().loads
    }

    fn observe(&self, observation: Observation) -> &Self {
        self.script().observation = observation;
        self
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for ScriptedSource {
    fn key(&self) -> &str {
        &self.key
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        let (gate, observation) = {
            let mut script = self.script();
            script.loads += 1;
            (script.gate.clone(), script.observation.clone())
        };
        async move {
            if let Some(gate) = gate {
                gate.pass().await;
            }
            observation
        }
        .boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        let accepts = self.script().accepts.clone();
        value
            .as_str()
            .is_some_and(|text| text.starts_with(&accepts))
    }

    fn baseline(&self, value: &Value) -> String {
        format!("{} is {}", self.key, value.as_str().unwrap_or_default())
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        format!(
            "{} is now {}",
            self.key,
            current.as_str().unwrap_or_default()
        )
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        let is_removable = self.script().is_removable;
        is_removable.then(|| format!("{} is gone", self.key))
    }
}
