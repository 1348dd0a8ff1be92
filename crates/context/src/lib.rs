//! System Context: what the model is told about its surroundings, made of independent sources.
//!
//! A [`Source`] observes one thing and renders it. A [`SystemContext`] combines sources in order.
//! [`SystemContext::initialize`] turns one observation into the Baseline System Context, the exact
//! text that is sent, and the Context Snapshot, what that text was made from.
//!
//! This crate knows no session, no database and no model.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One observed value of a source, or nothing when it cannot be observed now.
pub type Observation = Option<Value>;

/// One thing worth telling the model.
pub trait Source: Send + Sync {
    /// Its stable name, `<namespace>/<name>`.
    fn key(&self) -> &str;

    /// Observes it, once per call. `None` means that it cannot be observed now, which is not the
    /// same as being absent.
    fn load(&self) -> BoxFuture<'_, Observation>;

    /// The complete text for a value, never empty.
    fn baseline(&self, value: &Value) -> String;
}

/// What a baseline was made from, by source key.
pub type Snapshot = BTreeMap<String, Admitted>;

/// A source's value at the time it was told to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    /// The value.
    pub value: Value,
}

/// The beginning of a Context Epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Baseline System Context: the exact text sent.
    pub text: String,
    /// Context Snapshot.
    pub snapshot: Snapshot,
}

/// Why two sources cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CombineError {
    /// Both have the same key.
    #[error("two Context Sources have the key {0}")]
    Duplicate(String),
    /// The key does not have the form `<namespace>/<name>`.
    #[error("{0:?} is no Context Source key: it must look like namespace/name")]
    Key(String),
}

/// Some sources could not be observed, so there is no baseline yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the System Context is not available yet: {} cannot be read", keys.join(", "))]
pub struct InitializationBlocked {
    /// Their keys.
    pub keys: Vec<String>,
}

/// Sources in the order in which they are told.
#[derive(Clone, Default)]
pub struct SystemContext {
    sources: Vec<Arc<dyn Source>>,
}

impl SystemContext {
    /// Combines sources. Their order is kept.
    ///
    /// # Errors
    ///
    /// Names the source that cannot take part.
    pub fn combine(
        sources: impl IntoIterator<Item = Arc<dyn Source>>,
    ) -> Result<Self, CombineError> {
        let mut combined: Vec<Arc<dyn Source>> = Vec::new();
        for source in sources {
            let key = source.key();
            if !is_key(key) {
                return Err(CombineError::Key(key.to_owned()));
            }
            if combined.iter().any(|other| other.key() == key) {
                return Err(CombineError::Duplicate(key.to_owned()));
            }
            combined.push(source);
        }
        Ok(Self { sources: combined })
    }

    /// Observes every source once, concurrently, and renders the baseline.
    ///
    /// # Errors
    ///
    /// Names the sources that could not be observed.
    pub async fn initialize(&self) -> Result<Baseline, InitializationBlocked> {
        let observed = join_all(self.sources.iter().map(|source| source.load())).await;
        let mut texts = Vec::with_capacity(self.sources.len());
        let mut snapshot = Snapshot::new();
        let mut blocked = Vec::new();
        for (source, value) in self.sources.iter().zip(observed) {
            match value {
                Some(value) => {
                    texts.push(source.baseline(&value));
                    snapshot.insert(source.key().to_owned(), Admitted { value });
                }
                None => blocked.push(source.key().to_owned()),
            }
        }
        if blocked.is_empty() {
            Ok(Baseline {
                text: texts.join("\n\n"),
                snapshot,
            })
        } else {
            Err(InitializationBlocked { keys: blocked })
        }
    }
}

fn is_key(key: &str) -> bool {
    let begins_well =
        |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    key.split_once('/').is_some_and(|(namespace, name)| {
        begins_well(namespace)
            && namespace.chars().all(allowed)
            && begins_well(name)
            && name.chars().all(|c| allowed(c) || c == '/')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use serde_json::json;

    struct Fixed(&'static str, Observation);

    impl Source for Fixed {
        fn key(&self) -> &str {
            self.0
        }
        fn load(&self) -> BoxFuture<'_, Observation> {
            futures::future::ready(self.1.clone()).boxed()
        }
        fn baseline(&self, value: &Value) -> String {
            format!("{} is {value}", self.0)
        }
    }

    fn sources(list: Vec<Fixed>) -> Vec<Arc<dyn Source>> {
        list.into_iter()
            .map(|source| Arc::new(source) as Arc<dyn Source>)
            .collect()
    }

    #[test]
    fn a_baseline_holds_every_source_in_order() {
        let context = SystemContext::combine(sources(vec![
            Fixed("core/b", Some(json!(2))),
            Fixed("core/a", Some(json!("x"))),
        ]))
        .unwrap();
        let baseline = context.initialize().now_or_never().unwrap().unwrap();
        assert_eq!(baseline.text, "core/b is 2\n\ncore/a is \"x\"");
        assert_eq!(
            serde_json::to_value(&baseline.snapshot).unwrap(),
            json!({"core/a": {"value": "x"}, "core/b": {"value": 2}})
        );
    }

    #[test]
    fn an_unavailable_source_blocks_the_beginning() {
        let context = SystemContext::combine(sources(vec![
            Fixed("core/a", None),
            Fixed("core/b", Some(json!(2))),
        ]))
        .unwrap();
        let blocked = context.initialize().now_or_never().unwrap().unwrap_err();
        assert_eq!(blocked.keys, ["core/a"]);
    }

    #[test]
    fn keys_are_checked_and_unique() {
        for (key, ok) in [
            ("core/a", true),
            ("core/nested/a.b-c_d", true),
            ("core", false),
            ("Core/a", false),
            ("core/", false),
            ("/a", false),
            ("core/A", false),
        ] {
            assert_eq!(
                SystemContext::combine(sources(vec![Fixed(key, None)])).is_ok(),
                ok,
                "{key}"
            );
        }
        let twice = SystemContext::combine(sources(vec![Fixed("c/a", None), Fixed("c/a", None)]));
        assert_eq!(twice.err(), Some(CombineError::Duplicate("c/a".into())));
    }
}
