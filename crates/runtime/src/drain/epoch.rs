//! The effect of an observation of the System Context on the Context Epoch of a session. This module
//! neither observes nor writes.

use opencode_context::{Baseline, Observed, Reconciled, Replaced, Snapshot, Unavailable};
use opencode_store::{Epoch, Sequence};

use crate::error::DrainError;
use crate::metrics::Change;

/// The Context Epoch of a session at the start of a boundary.
pub(super) struct Known {
    pub(super) epoch: Epoch,
    /// Entry number of the newest checkpoint of the session.
    pub(super) checkpoint: Option<Sequence>,
}

impl Known {
    /// Returns the checkpoint if the session was compacted since the epoch began.
    fn compacted(&self) -> Option<Sequence> {
        let newer = |checkpoint: &Sequence| *checkpoint > self.epoch.baseline_seq;
        self.checkpoint.filter(newer)
    }
}

/// The effect of a boundary on the Context Epoch.
#[derive(Debug, PartialEq)]
pub(super) enum EpochChange {
    /// The model knows the current state, or cannot be told now.
    Keep,
    /// A Mid-Conversation System Message tells the model the changes.
    Update {
        text: String,
        /// The Context Snapshot after the message, in its stored form.
        snapshot: String,
    },
    /// A new epoch begins.
    Begin {
        baseline: String,
        snapshot: String,
        begins: EpochStart,
    },
}

/// Kind and size of the change that a boundary makes to the System Context of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EpochStart {
    /// Before any promotion: the first epoch of the session in its Location.
    First,
    /// After all existing entries.
    Now,
    /// At the checkpoint of a compaction.
    At(Sequence),
}

impl EpochChange {
    /// Returns the kind and size of the change.
    pub(super) fn size(&self) -> Change {
        match self {
            Self::Keep => Change::Nothing,
            Self::Update { text, .. } => Change::Updated {
                bytes: text.len() as u64,
            },
            Self::Begin { baseline, .. } => Change::Begun {
                bytes: baseline.len() as u64,
            },
        }
    }

    /// True if it begins the first epoch, which contains all promoted inputs.
    pub(super) fn begins_first(&self) -> bool {
        matches!(
            self,
            Self::Begin {
                begins: EpochStart::First,
                ..
            }
        )
    }

    /// Returns the effect of an observation on a session with this epoch, or without one.
    ///
    /// # Errors
    ///
    /// Fails if there is no epoch, and none can begin because a source could not be observed.
    pub(super) fn of(observed: &Observed, known: Option<&Known>) -> Result<Self, DrainError> {
        let Some(known) = known else {
            let baseline = observed.initialize();
            let baseline = baseline.map_err(|error| DrainError::Context(error.to_string()))?;
            return begin(baseline, EpochStart::First);
        };
        let begins = known.compacted().map_or(EpochStart::Now, EpochStart::At);
        let snapshot: Snapshot = match serde_json::from_str(&known.epoch.snapshot) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                tracing::warn!(%error, "the Context Snapshot is not readable and is replaced");
                // The model's knowledge is unknown, so the new baseline must be complete.
                let whole = observed.initialize();
                return whole.map_or(Ok(Self::Keep), |baseline| begin(baseline, begins));
            }
        };
        if begins != EpochStart::Now {
            return match observed.replace(&snapshot) {
                Replaced::Ready(baseline) => begin(baseline, begins),
                Replaced::Blocked { unavailable } => Ok(blocked(&unavailable)),
            };
        }
        match observed.reconcile(&snapshot) {
            Reconciled::Unchanged => Ok(Self::Keep),
            Reconciled::Updated { text, snapshot } => Ok(Self::Update {
                text,
                snapshot: stored(&snapshot)?,
            }),
            Reconciled::ReplacementReady(baseline) => begin(baseline, begins),
            Reconciled::ReplacementBlocked { unavailable } => Ok(blocked(&unavailable)),
        }
    }
}

fn begin(baseline: Baseline, begins: EpochStart) -> Result<EpochChange, DrainError> {
    Ok(EpochChange::Begin {
        snapshot: stored(&baseline.snapshot)?,
        baseline: baseline.text,
        begins,
    })
}

/// The epoch stays as it is, and the next boundary tries again.
fn blocked(unavailable: &[Unavailable]) -> EpochChange {
    let keys: Vec<_> = unavailable.iter().map(|it| it.key.as_str()).collect();
    tracing::warn!(?keys, "the Context Epoch cannot be replaced yet");
    EpochChange::Keep
}

fn stored(snapshot: &Snapshot) -> Result<String, DrainError> {
    serde_json::to_string(snapshot).map_err(|error| {
        DrainError::Internal(format!("the Context Snapshot cannot be written: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::{BoxFuture, ready};
    use opencode_context::{Observation, Source, SystemContext};
    use serde_json::{Value, json};

    use super::*;

    /// A source of a number. It can be removed.
    struct Number(&'static str, Observation);

    impl Source for Number {
        fn key(&self) -> &str {
            self.0
        }
        fn load(&self) -> BoxFuture<'_, Observation> {
            ready(self.1.clone()).boxed()
        }
        fn is_valid(&self, value: &Value) -> bool {
            value.is_number()
        }
        fn baseline(&self, value: &Value) -> String {
            format!("{} is {value}", self.0)
        }
        fn update(&self, _: &Value, current: &Value) -> String {
            format!("{} is now {current}", self.0)
        }
        fn removed(&self, _: &Value) -> Option<String> {
            Some(format!("{} is gone", self.0))
        }
    }

    /// Observes one source per key: a number, `null` for an absent value, any other value for an unavailable one.
    async fn observed(sources: &[(&'static str, Value)]) -> Observed {
        let sources = sources.iter().map(|(key, value)| {
            let observation = match value {
                Value::Number(_) => Observation::Present(value.clone()),
                Value::Null => Observation::Absent,
                _ => Observation::Unavailable("lost".to_owned()),
            };
            SystemContext::make(Number(key, observation)).unwrap()
        });
        let context = SystemContext::combine(sources).unwrap();
        context.observe().await
    }

    fn known(snapshot: &Value, checkpoint: Option<Sequence>) -> Known {
        // A string stands for a stored snapshot that may be invalid JSON.
        let snapshot = match snapshot {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Known {
            epoch: Epoch {
                baseline: "before".to_owned(),
                snapshot,
                baseline_seq: 10.into(),
            },
            checkpoint,
        }
    }

    fn begins(baseline: &str, snapshot: &Value, begins: EpochStart) -> EpochChange {
        EpochChange::Begin {
            baseline: baseline.to_owned(),
            snapshot: snapshot.to_string(),
            begins,
        }
    }

    fn updates(text: &str, snapshot: &Value) -> EpochChange {
        EpochChange::Update {
            text: text.to_owned(),
            snapshot: snapshot.to_string(),
        }
    }

    fn admitted(number: u32) -> Value {
        json!({"value": number, "removed": "a/a is gone"})
    }

    #[tokio::test]
    async fn an_observation_keeps_updates_or_replaces_an_epoch() {
        let one = json!({"a/a": admitted(1)});
        let two = json!({"a/a": admitted(2)});
        let both = json!({"a/a": admitted(1), "a/b": {"value": 1, "removed": "a/b is gone"}});
        let foreign = json!({"a/a": {"value": "x"}});
        let bound = json!({"a/a": admitted(1), "a/z": {"value": 1}});
        let lost = || json!("lost");
        let now = |text: &str, snapshot| begins(text, snapshot, EpochStart::Now);
        let at = |text: &str, snapshot| begins(text, snapshot, EpochStart::At(11.into()));
        for (snapshot, checkpoint, sources, expected) in [
            (&one, None, vec![("a/a", json!(1))], EpochChange::Keep),
            (
                &one,
                None,
                vec![("a/a", json!(2))],
                updates("a/a is now 2", &two),
            ),
            (
                &one,
                None,
                vec![("a/a", Value::Null)],
                updates("a/a is gone", &json!({})),
            ),
            (&one, None, vec![("a/a", lost())], EpochChange::Keep),
            (
                &one,
                None,
                vec![("a/a", json!(1)), ("a/b", json!(1))],
                updates("a/b is 1", &both),
            ),
            (
                &one,
                None,
                vec![("a/a", json!(1)), ("a/b", lost())],
                EpochChange::Keep,
            ),
            // No message can lead from the stored value to the current one.
            (
                &foreign,
                None,
                vec![("a/a", json!(2))],
                now("a/a is 2", &two),
            ),
            (&bound, None, vec![("a/a", json!(2))], now("a/a is 2", &two)),
            (&bound, None, vec![("a/a", lost())], EpochChange::Keep),
            // A checkpoint that is older than the epoch, and one that is newer.
            (
                &one,
                Some(10),
                vec![("a/a", json!(2))],
                updates("a/a is now 2", &two),
            ),
            (
                &one,
                Some(11),
                vec![("a/a", json!(1))],
                at("a/a is 1", &one),
            ),
            (&one, Some(11), vec![("a/a", lost())], EpochChange::Keep),
            (
                &one,
                Some(11),
                vec![("a/a", json!(2)), ("a/b", lost())],
                at("a/a is 2", &two),
            ),
            // The stored snapshot is unreadable.
            (
                &json!("{"),
                None,
                vec![("a/a", json!(2))],
                now("a/a is 2", &two),
            ),
            (
                &json!([]),
                Some(11),
                vec![("a/a", json!(2))],
                at("a/a is 2", &two),
            ),
            (
                &json!("{"),
                None,
                vec![("a/a", json!(2)), ("a/b", lost())],
                EpochChange::Keep,
            ),
        ] {
            let known = known(snapshot, checkpoint.map(Sequence::from));
            let change = EpochChange::of(&observed(&sources).await, Some(&known)).unwrap();
            assert_eq!(change, expected, "{snapshot} {checkpoint:?} {sources:?}");
        }
    }

    #[tokio::test]
    async fn a_first_epoch_needs_all_sources() {
        let change = EpochChange::of(&observed(&[("a/a", json!(1))]).await, None);
        let first = begins("a/a is 1", &json!({"a/a": admitted(1)}), EpochStart::First);
        assert_eq!(change.unwrap(), first);
        assert!(first.begins_first());
        let blocked = EpochChange::of(&observed(&[("a/a", json!("lost"))]).await, None);
        let message = blocked.unwrap_err().to_string();
        assert_eq!(
            message,
            "the System Context is not available yet: a/a: lost"
        );
    }
}
