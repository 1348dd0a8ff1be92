//! A Context Source that says what the test tells it to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_runtime::{Observation, Source};
use serde_json::Value;

use crate::gate::Gate;

/// A source of texts; absent until the test says something else. A clone is the same source.
#[derive(Clone)]
pub struct ScriptedSource {
    key: String,
    script: Arc<Mutex<Script>>,
}

struct Script {
    observation: Observation,
    gate: Option<Gate>,
    is_removable: bool,
    /// What it accepts as its value begins so.
    accepts: String,
    loads: usize,
}

impl ScriptedSource {
    /// A source of that key that has nothing to tell and can be removed.
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

    /// The same, with this to tell.
    #[must_use]
    pub fn telling(key: &str, value: &str) -> Self {
        let source = Self::new(key);
        source.tell(value);
        source
    }

    /// What it is to tell from now on.
    pub fn tell(&self, value: &str) -> &Self {
        self.observe(Observation::Present(value.into()))
    }

    /// It has nothing to tell from now on.
    pub fn hide(&self) -> &Self {
        self.observe(Observation::Absent)
    }

    /// It cannot be observed from now on.
    pub fn fail(&self) -> &Self {
        self.observe(Observation::Unavailable("the test says so".to_owned()))
    }

    /// What it told cannot be revoked from now on.
    pub fn bind(&self) -> &Self {
        self.script().is_removable = false;
        self
    }

    /// From now on its values begin so, and others are none.
    pub fn accept(&self, begins: &str) -> &Self {
        self.script().accepts = begins.to_owned();
        self
    }

    /// Holds whoever observes it from now on.
    pub fn hold(&self, gate: &Gate) -> &Self {
        self.script().gate = Some(gate.clone());
        self
    }

    /// How often it was observed.
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
