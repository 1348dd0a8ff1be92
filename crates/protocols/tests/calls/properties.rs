//! No call fails an answer, whatever the model writes.

use proptest::prelude::*;

use super::requests::check_next_request;
use super::wire::{Written, answer};
use super::*;

fn arbitrary_input() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just("{\"path\":\"a.txt\"}".to_owned()),
        2 => "\\{\"a\":(1|\"x\"|\\[1,\\]|null),?\\}?",
        2 => "[\\{\\}\\[\\],:\"'`\\\\a1\n\u{feff} ]{0,12}",
        1 => "(```(json)?\n)?\\{\"a\":\"(\n|\t|x)\"\\}(\n```)?",
        1 => ".{0,12}",
    ]
}

fn arbitrary_call() -> impl Strategy<Value = Written> {
    let id =
        prop::option::of(prop_oneof![4 => "c[12]", 1 => "", 1 => ".{0,6}", 1 => "[a-z:._]{60,70}"]);
    let name = prop::option::of(
        prop_oneof![4 => "(read|bash|re|read_all)", 1 => "", 1 => ".{0,6}", 1 => "x{1100}"],
    );
    (id, name, arbitrary_input(), any::<prop::sample::Index>()).prop_map(
        |(id, name, input, cut)| {
            let at = cut.index(input.chars().count() + 1);
            let head: String = input.chars().take(at).collect();
            let tail: String = input.chars().skip(at).collect();
            // A delta without anything begins no call.
            let is_given = |text: &Option<String>| text.as_ref().is_some_and(|it| !it.is_empty());
            // Without a name, the identifier of a call before continues that call.
            let id = id.filter(|it| is_given(&name) || !matches!(it.as_str(), "c1" | "c2"));
            let is_nothing = !is_given(&id) && !is_given(&name) && input.is_empty();
            let id = if is_nothing {
                Some(format!("c{}", cut.index(1 << 30)))
            } else {
                id
            };
            Written {
                id,
                name,
                pieces: vec![head, tail],
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_call_runs_or_fails_alone(
        written in prop::collection::vec(arbitrary_call(), 1..5),
        is_cut in any::<bool>(),
    ) {
        for wire in ALL {
            let (events, end) = decode(wire, &answer(wire, &written, is_cut));
            prop_assert_eq!(end, Ok(()), "{:?} {:?}", wire, events);
            let made = calls_of(&events);
            prop_assert_eq!(made.len(), written.len(), "{:?} {:?}", wire, events);
            for (at, (id, name, _)) in made.iter().enumerate() {
                prop_assert!(!id.is_empty() && !name.is_empty());
                prop_assert!(made[..at].iter().all(|(other, ..)| other != id), "{:?} {}", wire, id);
            }
        }
    }

    #[test]
    fn the_request_after_any_calls_is_valid(written in prop::collection::vec(arbitrary_call(), 1..5)) {
        for wire in ALL {
            check_next_request(wire, "m1", &written);
        }
    }
}
