//! One example per rule.

use opencode_context::{Admitted, Baseline, Reconciled, Replaced, Snapshot, Unavailable};
use serde_json::json;

use crate::support::{Fixed, known, observed};

fn unavailable_source(key: &str) -> Vec<Unavailable> {
    vec![Unavailable {
        key: key.to_owned(),
        reason: "it rains".to_owned(),
    }]
}

#[test]
fn a_baseline_contains_every_present_source_in_order() {
    let [b, a, c] = [
        Fixed::present("core/b", 2),
        Fixed::present("core/a", json!(["x"])).forever(),
        Fixed::absent("core/c"),
    ];
    let baseline = observed([b, a, c]).initialize().unwrap();
    assert_eq!(baseline.text, "core/b is 2\n\ncore/a is [\"x\"]");
    assert_eq!(
        serde_json::to_value(&baseline.snapshot).unwrap(),
        json!({
            "core/a": { "value": ["x"] },
            "core/b": { "value": 2, "removed": "core/b is gone" },
        })
    );
}

#[test]
fn a_context_without_sources_has_an_empty_baseline() {
    assert_eq!(observed([]).initialize(), Ok(Baseline::default()));
}

#[test]
fn every_unavailable_source_blocks_the_first_epoch() {
    let blocked = observed([
        Fixed::unavailable("core/b"),
        Fixed::present("core/a", 1),
        Fixed::unavailable("core/c"),
    ])
    .initialize()
    .unwrap_err();
    assert_eq!(
        blocked.unavailable,
        [unavailable_source("core/b"), unavailable_source("core/c")].concat()
    );
    assert_eq!(
        blocked.to_string(),
        "the System Context is not available yet: core/b: it rains; core/c: it rains"
    );
}

#[test]
fn an_optional_source_is_omitted_until_its_first_observation_and_kept_afterwards() {
    let dark = || Fixed::unavailable("core/b").optional();
    let a = || Fixed::present("core/a", 1);
    let baseline = observed([a(), dark()]).initialize().unwrap();
    assert_eq!(baseline.snapshot, known(&[a()]));
    let bright = Fixed::present("core/b", 1).optional();
    let both = known(&[a(), bright.clone()]);
    let told = Reconciled::Updated {
        text: "core/b is 1".to_owned(),
        snapshot: both.clone(),
    };
    assert_eq!(observed([a(), bright]).reconcile(&baseline.snapshot), told);
    let later = observed([a(), dark()]);
    assert_eq!(later.reconcile(&both), Reconciled::Unchanged);
    let unavailable = unavailable_source("core/b");
    assert_eq!(later.replace(&both), Replaced::Blocked { unavailable });
}

#[test]
fn one_message_contains_changes_in_order_and_then_removals_by_key() {
    let before = known(&[
        Fixed::present("core/same", 1),
        Fixed::present("core/changed", 1),
        Fixed::present("core/z-gone", 1),
        Fixed::present("core/a-gone", 1),
        Fixed::present("core/dark", 1),
    ]);
    let after = observed([
        Fixed::present("core/new", 2),
        Fixed::present("core/same", 1),
        Fixed::present("core/changed", 2),
        Fixed::unavailable("core/dark"),
        Fixed::unavailable("core/never-seen"),
        Fixed::absent("core/z-gone"),
    ]);
    let text =
        "core/new is 2\n\ncore/changed is now 2\n\ncore/a-gone is gone\n\ncore/z-gone is gone";
    let snapshot = known(&[
        Fixed::present("core/changed", 2),
        Fixed::present("core/dark", 1),
        Fixed::present("core/new", 2),
        Fixed::present("core/same", 1),
    ]);
    let text = text.to_owned();
    assert_eq!(
        after.reconcile(&before),
        Reconciled::Updated { text, snapshot }
    );
}

#[test]
fn a_removed_source_that_returns_is_new() {
    let source = || Fixed::present("core/a", 1);
    let told = known(&[source()]);
    let gone = Reconciled::Updated {
        text: "core/a is gone".to_owned(),
        snapshot: Snapshot::new(),
    };
    assert_eq!(observed([]).reconcile(&told), gone);
    let back = Reconciled::Updated {
        text: "core/a is 1".to_owned(),
        snapshot: told,
    };
    assert_eq!(observed([source()]).reconcile(&Snapshot::new()), back);
}

#[test]
fn a_change_without_a_message_replaces_the_baseline() {
    let foreign = Admitted {
        value: json!("a string"),
        removed: Some("gone".to_owned()),
    };
    let irrevocable = known(&[Fixed::present("core/a", 1).forever()]);
    let blank = Admitted {
        value: json!(1),
        removed: Some(" ".to_owned()),
    };
    for (case, told, now) in [
        (
            "a value that is none any more",
            Snapshot::from([("core/a".to_owned(), foreign)]),
            vec![Fixed::present("core/a", 1), Fixed::unavailable("core/b")],
        ),
        (
            "a source that cannot go and takes no part",
            irrevocable.clone(),
            vec![Fixed::present("core/c", 1), Fixed::unavailable("core/b")],
        ),
        (
            "a source that cannot go and is absent",
            irrevocable,
            vec![Fixed::absent("core/a"), Fixed::present("core/c", 1)],
        ),
        (
            "a removal text that says nothing",
            Snapshot::from([("core/a".to_owned(), blank)]),
            vec![Fixed::present("core/c", 1)],
        ),
    ] {
        let present = now.iter().find_map(|it| Some((it, it.admitted()?)));
        let (source, _) = present.unwrap();
        let baseline = Baseline {
            text: format!("{} is 1", source.key),
            snapshot: known(&now),
        };
        let ready = Reconciled::ReplacementReady(baseline);
        assert_eq!(observed(now).reconcile(&told), ready, "{case}");
    }
}

#[test]
fn a_replacement_waits_for_unavailable_sources_of_the_snapshot() {
    let now = observed([Fixed::unavailable("core/b"), Fixed::unavailable("core/c")]);
    let told = known(&[
        Fixed::present("core/a", 1).forever(),
        Fixed::present("core/b", 1),
    ]);
    let unavailable = unavailable_source("core/b");
    assert_eq!(
        now.reconcile(&told),
        Reconciled::ReplacementBlocked {
            unavailable: unavailable.clone()
        }
    );
    assert_eq!(now.replace(&told), Replaced::Blocked { unavailable });
}

#[test]
fn an_unavailable_source_does_not_compare_its_stored_value() {
    let told = Snapshot::from([(
        "core/a".to_owned(),
        Admitted {
            value: json!("a string"),
            removed: None,
        },
    )]);
    assert_eq!(
        observed([Fixed::unavailable("core/a")]).reconcile(&told),
        Reconciled::Unchanged
    );
}

#[test]
fn a_replacement_is_a_complete_baseline() {
    let now = observed([
        Fixed::present("core/b", 1),
        Fixed::unavailable("core/new"),
        Fixed::present("core/a", 2),
        Fixed::absent("core/gone"),
    ]);
    let told = known(&[Fixed::present("core/a", 2), Fixed::present("core/gone", 1)]);
    assert_eq!(
        now.replace(&told),
        Replaced::Ready(Baseline {
            text: "core/b is 1\n\ncore/a is 2".to_owned(),
            snapshot: known(&[Fixed::present("core/a", 2), Fixed::present("core/b", 1)]),
        })
    );
}
