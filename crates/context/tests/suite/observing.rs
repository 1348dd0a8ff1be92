//! Tests of the observation of sources, including sources that break their contract.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::lock::Mutex;
use opencode_context::{
    CombineError, LOAD_TIMEOUT, MAX_VALUE_BYTES, Observation, Reconciled, Source, SystemContext,
    Unavailable,
};
use serde_json::{Value, json};

use crate::support::{Fixed, known, observe, observed};

#[test]
fn keys_are_checked_and_unique() {
    let make = |key: &str| SystemContext::make(Fixed::absent(key));
    let wrong = make("core").err().unwrap();
    assert_eq!(wrong, CombineError::Key("core".to_owned()));
    let all = ["core/b", "core/a", "core/b"].map(|key| make(key).unwrap());
    let twice = SystemContext::combine(all).err().unwrap();
    assert_eq!(twice, CombineError::Duplicate("core/b".to_owned()));
    assert_eq!(twice.to_string(), "two Context Sources have the key core/b");
}

#[test]
fn a_source_is_loaded_once_per_observation() {
    let source = Fixed::present("core/a", 1);
    let loads = Arc::clone(&source.loads);
    let observed = observed([source.clone()]);
    let told = known(&[source]);
    observed.initialize().unwrap();
    observed.reconcile(&told);
    observed.replace(&told);
    assert_eq!(loads.load(Ordering::Relaxed), 1);
}

/// A source that answers after a signal, and then signals the next source.
struct Chained {
    key: &'static str,
    turn: Mutex<Option<oneshot::Receiver<()>>>,
    next: Mutex<Option<oneshot::Sender<()>>>,
}

impl Source for Chained {
    fn key(&self) -> &str {
        self.key
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        async {
            if let Some(turn) = self.turn.lock().await.take() {
                turn.await.unwrap();
            }
            if let Some(next) = self.next.lock().await.take() {
                next.send(()).unwrap();
            }
            Observation::Present(json!(self.key))
        }
        .boxed()
    }

    fn is_valid(&self, _value: &Value) -> bool {
        true
    }

    fn baseline(&self, value: &Value) -> String {
        value.to_string()
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        current.to_string()
    }
}

/// The first source waits for the last one, so a sequential observation would never end.
#[test]
fn sources_are_loaded_in_parallel_and_reported_in_order() {
    let (tell_b, b) = oneshot::channel();
    let (tell_a, a) = oneshot::channel();
    let chained = |key, turn, next| {
        let source = Chained {
            key,
            turn: Mutex::new(turn),
            next: Mutex::new(next),
        };
        SystemContext::make(source).unwrap()
    };
    let context = SystemContext::combine([
        chained("core/a", Some(a), None),
        chained("core/b", Some(b), Some(tell_a)),
        chained("core/c", None, Some(tell_b)),
    ]);
    let baseline = observe(&context.unwrap()).initialize().unwrap();
    assert_eq!(baseline.text, "\"core/a\"\n\n\"core/b\"\n\n\"core/c\"");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_does_not_respond_is_unavailable() {
    let (_never, turn) = oneshot::channel();
    let source = Chained {
        key: "core/a",
        turn: Mutex::new(Some(turn)),
        next: Mutex::new(None),
    };
    let began = tokio::time::Instant::now();
    let observed = SystemContext::make(source).unwrap().observe().await;
    assert_eq!(began.elapsed(), LOAD_TIMEOUT);
    assert_eq!(
        observed.initialize().unwrap_err().unavailable,
        [Unavailable {
            key: "core/a".to_owned(),
            reason: "it was not observed within 10 seconds".to_owned(),
        }]
    );
}

/// A source with texts that a test chooses.
struct Says {
    value: Value,
    baseline: &'static str,
    update: &'static str,
    removed: Option<&'static str>,
}

impl Source for Says {
    fn key(&self) -> &str {
        "acme/says"
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        futures::future::ready(Observation::Present(self.value.clone())).boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        !value.is_null()
    }

    fn baseline(&self, _value: &Value) -> String {
        self.baseline.to_owned()
    }

    fn update(&self, _previous: &Value, _current: &Value) -> String {
        self.update.to_owned()
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        self.removed.map(str::to_owned)
    }
}

#[test]
fn a_source_that_violates_its_contract_is_unavailable() {
    let says = |value, baseline, removed| Says {
        value,
        baseline,
        update: "update",
        removed,
    };
    let large = Value::from("x".repeat(MAX_VALUE_BYTES - 1));
    for (source, reason) in [
        (
            says(json!(1), " \n", Some("gone")),
            "its text is empty; a source with nothing to tell has to be absent",
        ),
        (
            says(json!(1), "text", Some("")),
            "its text for the case of its removal is empty",
        ),
        (
            says(Value::Null, "text", None),
            "it observed something that it does not accept as its value",
        ),
        (
            says(large, "text", None),
            "what it has to tell is larger than 2097152 bytes",
        ),
    ] {
        let observed = observe(&SystemContext::make(source).unwrap());
        assert_eq!(
            observed.initialize().unwrap_err().unavailable,
            [Unavailable {
                key: "acme/says".to_owned(),
                reason: reason.to_owned(),
            }]
        );
    }
}

#[test]
fn the_baseline_replaces_an_empty_update() {
    let says = |value: i32, update| {
        let source = Says {
            value: value.into(),
            baseline: "everything",
            update,
            removed: None,
        };
        observe(&SystemContext::make(source).unwrap())
    };
    let told = says(1, "").initialize().unwrap().snapshot;
    for (update, expected) in [("", "everything"), ("  ", "everything"), ("new", "new")] {
        let now = says(2, update);
        assert_eq!(
            now.reconcile(&told),
            Reconciled::Updated {
                text: expected.to_owned(),
                snapshot: now.initialize().unwrap().snapshot,
            }
        );
    }
}
