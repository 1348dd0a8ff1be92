//! Properties of every context, every observation and every stored snapshot.

use std::collections::BTreeMap;

use opencode_context::{
    Admitted, CombineError, Observation, Observed, Reconciled, Replaced, Snapshot, SystemContext,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Fixed, context, known, observe, observed};

const KEYS: [&str; 5] = ["core/a", "core/b", "core/c", "z/d", "0/e"];

/// A value of a source. Some values are numbers that need many decimal digits.
fn value() -> impl Strategy<Value = Value> {
    let number = any::<f64>().prop_filter("JSON has no such number", |it| it.is_finite());
    prop_oneof![
        (0..3).prop_map(Value::from),
        number.prop_map(Value::from),
        Just(Value::from(vec![1, 2])),
    ]
}

fn observation() -> impl Strategy<Value = Observation> {
    prop_oneof![
        3 => value().prop_map(Observation::Present),
        1 => Just(Observation::Absent),
        1 => Just(Observation::Unavailable("it rains".to_owned())),
    ]
}

fn source(key: &'static str) -> impl Strategy<Value = Fixed> {
    let kind = (observation(), any::<bool>(), any::<bool>());
    kind.prop_map(move |(observation, removable, required)| Fixed {
        removable,
        required,
        ..Fixed::new(key, observation)
    })
}

/// A subset of the keys, in any order.
fn sources() -> impl Strategy<Value = Vec<Fixed>> {
    let some = proptest::sample::subsequence(KEYS.to_vec(), 0..=KEYS.len()).prop_shuffle();
    some.prop_flat_map(|keys| keys.into_iter().map(source).collect::<Vec<_>>())
}

/// Sources without unavailable ones.
fn available() -> impl Strategy<Value = Vec<Fixed>> {
    sources().prop_map(|mut sources| {
        sources.retain(|it| !matches!(it.observation, Observation::Unavailable(_)));
        sources
    })
}

/// A snapshot that may be stored, including values of older versions.
fn snapshot() -> impl Strategy<Value = Snapshot> {
    let admitted = prop_oneof![
        8 => value(),
        1 => Just(Value::from("a string, which is no value")),
    ];
    let removed = proptest::option::weighted(0.9, Just("gone".to_owned()));
    let admitted = (admitted, removed).prop_map(|(value, removed)| Admitted { value, removed });
    let keys = proptest::sample::select(KEYS.to_vec()).prop_map(str::to_owned);
    proptest::collection::btree_map(keys, admitted, 0..=KEYS.len())
}

/// The information that the model has after the result.
fn after(reconciled: Reconciled, before: &Snapshot) -> Snapshot {
    match reconciled {
        Reconciled::Unchanged | Reconciled::ReplacementBlocked { .. } => before.clone(),
        Reconciled::Updated { snapshot, .. } => snapshot,
        Reconciled::ReplacementReady(baseline) => baseline.snapshot,
    }
}

/// The snapshot after it was written as JSON and read again.
fn stored(snapshot: &Snapshot) -> Snapshot {
    serde_json::from_str(&serde_json::to_string(snapshot).unwrap()).unwrap()
}

fn settled(observed: &Observed, snapshot: &Snapshot) -> bool {
    matches!(
        observed.reconcile(snapshot),
        Reconciled::Unchanged | Reconciled::ReplacementBlocked { .. }
    )
}

proptest! {
    #[test]
    fn an_observation_is_unchanged_after_its_message(sources in available()) {
        let observed = observed(sources);
        let baseline = observed.initialize().unwrap();
        let known = stored(&baseline.snapshot);
        prop_assert_eq!(observed.reconcile(&known), Reconciled::Unchanged);
        prop_assert_eq!(observed.replace(&known), Replaced::Ready(baseline));
    }

    #[test]
    fn a_second_reconciliation_has_no_message(now in sources(), before in snapshot()) {
        let observed = observed(now);
        let told = stored(&after(observed.reconcile(&before), &before));
        prop_assert!(settled(&observed, &told));
    }

    #[test]
    fn an_epoch_starts_with_all_required_and_present_sources(now in sources()) {
        let told = known(&now);
        let is_dark = |it: &&Fixed| matches!(it.observation, Observation::Unavailable(_));
        let missed = now.iter().filter(is_dark).filter(|it| it.required);
        let missed: Vec<_> = missed.map(|it| it.key.clone()).collect();
        match observed(now).initialize() {
            Ok(baseline) => {
                prop_assert_eq!(missed, Vec::<String>::new());
                prop_assert_eq!(baseline.snapshot, told);
            }
            Err(blocked) => {
                let blocking: Vec<_> = blocked.unavailable.into_iter().map(|it| it.key).collect();
                prop_assert!(!blocking.is_empty());
                prop_assert_eq!(blocking, missed);
            }
        }
    }

    /// Afterwards, the snapshot has the new value of every present source and the old value of
    /// every unavailable source.
    #[test]
    fn a_snapshot_contains_the_sources_of_the_messages(now in sources(), before in snapshot()) {
        let present: BTreeMap<_, _> = now
            .iter()
            .filter_map(|it| Some((it.key.clone(), it.admitted()?.value)))
            .collect();
        let dark: Vec<_> = now
            .iter()
            .filter(|it| matches!(it.observation, Observation::Unavailable(_)))
            .map(|it| it.key.clone())
            .collect();
        match observed(now).reconcile(&before) {
            Reconciled::ReplacementBlocked { unavailable } => {
                prop_assert!(unavailable.iter().all(|it| before.contains_key(&it.key)));
            }
            Reconciled::ReplacementReady(baseline) => {
                prop_assert!(!dark.iter().any(|key| before.contains_key(key)));
                prop_assert_eq!(values(&baseline.snapshot), present);
            }
            other => {
                let mut expected = present;
                let kept = before.iter().filter(|(key, _)| dark.contains(key));
                expected.extend(kept.map(|(key, it)| (key.clone(), it.value.clone())));
                prop_assert_eq!(values(&after(other, &before)), expected);
            }
        }
    }

    /// There is one text per difference, and the text names its source.
    #[test]
    fn a_message_contains_only_differences(now in sources(), before in snapshot()) {
        let mut expected = Vec::new();
        for source in &now {
            let Observation::Present(value) = &source.observation else { continue };
            match before.get(&source.key) {
                Some(admitted) if admitted.value == *value => {}
                Some(_) => expected.push(format!("{} is now {value}", source.key)),
                None => expected.push(format!("{} is {value}", source.key)),
            }
        }
        for (key, admitted) in &before {
            let source = now.iter().find(|source| source.key == *key);
            if source.is_none_or(|source| source.observation == Observation::Absent) {
                expected.extend(admitted.removed.clone());
            }
        }
        match observed(now).reconcile(&before) {
            Reconciled::Unchanged => prop_assert_eq!(expected, Vec::<String>::new()),
            Reconciled::Updated { text, .. } => prop_assert_eq!(text, expected.join("\n\n")),
            Reconciled::ReplacementReady(_) | Reconciled::ReplacementBlocked { .. } => {}
        }
    }

    #[test]
    fn an_absent_source_equals_no_source(now in sources(), before in snapshot()) {
        let mut without = now.clone();
        without.retain(|source| source.observation != Observation::Absent);
        let (with, without) = (observed(now), observed(without));
        prop_assert_eq!(with.initialize(), without.initialize());
        prop_assert_eq!(with.reconcile(&before), without.reconcile(&before));
        prop_assert_eq!(with.replace(&before), without.replace(&before));
    }

    #[test]
    fn combining_is_associative_and_has_an_identity(
        now in sources(),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let mut cuts = [cut.0.index(now.len() + 1), cut.1.index(now.len() + 1)];
        cuts.sort_unstable();
        let part = |from: usize, to: usize| context(now[from..to].to_vec());
        let [a, b, c] = [part(0, cuts[0]), part(cuts[0], cuts[1]), part(cuts[1], now.len())];
        let combine = |contexts: [&SystemContext; 2]| {
            SystemContext::combine(contexts.map(Clone::clone)).unwrap()
        };
        let whole = context(now.clone());
        let nothing = SystemContext::default();
        let expected = observe(&whole).replace(&Snapshot::new());
        for same in [
            combine([&combine([&a, &b]), &c]),
            combine([&a, &combine([&b, &c])]),
            combine([&whole, &nothing]),
            combine([&nothing, &whole]),
        ] {
            prop_assert!(same.keys().eq(whole.keys()));
            prop_assert_eq!(observe(&same).replace(&Snapshot::new()), expected.clone());
        }
    }

    #[test]
    fn a_duplicate_key_is_refused(now in sources(), extra in 0..KEYS.len()) {
        let taken = now.iter().any(|source| source.key == KEYS[extra]);
        let extra = context([Fixed::absent(KEYS[extra])]);
        let refused = CombineError::Duplicate(extra.keys().next().unwrap().to_owned());
        let combined = SystemContext::combine([context(now), extra]);
        prop_assert_eq!(combined.err(), taken.then_some(refused));
    }

    /// The removal of a source is sent once. When the source is present again, its full text is sent.
    #[test]
    fn a_removed_and_restored_source_has_a_message(value in value()) {
        let source = Fixed::present("core/a", value.clone());
        let told = known([&source]);
        let gone = observed([Fixed::absent("core/a")]).reconcile(&told);
        let revoked = Reconciled::Updated {
            text: "core/a is gone".to_owned(),
            snapshot: Snapshot::new(),
        };
        prop_assert_eq!(gone, revoked);
        let back = observed([source]).reconcile(&Snapshot::new());
        let text = format!("core/a is {value}");
        prop_assert_eq!(back, Reconciled::Updated { text, snapshot: told });
    }
}

fn values(snapshot: &Snapshot) -> BTreeMap<String, Value> {
    let each = snapshot.iter();
    each.map(|(key, it)| (key.clone(), it.value.clone()))
        .collect()
}
