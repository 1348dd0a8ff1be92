//! Queries and paths.

use std::sync::LazyLock;

use opencode_protocol::decode::Decoder;
use opencode_protocol::input::{HistoryQuery, LocationQuery, LocationSelection};
use opencode_protocol::operation::Channel;
use proptest::prelude::*;

use crate::corpus::{inputs, mutated};
use crate::properties::queries::{Pairs, check, check_pairs};

const CORPUS: &str = include_str!("corpus/queries.txt");
#[test]
fn the_corpus_is_read_or_refused() {
    for query in inputs(CORPUS) {
        check(&query);
    }
}

/// Decimal texts of an integer.
fn spelled(number: u64) -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        number.to_string(),
        format!("+{number}"),
        format!("{number}.0"),
        format!("{number}e0"),
        format!("000{number}"),
    ])
}

prop_compose! {
    fn integer(most: u64)(number in 0..=most)(text in spelled(number), number in Just(number)) -> (u64, String) {
        (number, text)
    }
}

static HISTORY: LazyLock<Decoder<HistoryQuery>> = LazyLock::new(|| Decoder::new(Channel::Query));
static LOCATION: LazyLock<Decoder<LocationSelection>> =
    LazyLock::new(|| Decoder::new(Channel::Query));

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_queries_are_read_or_refused(query in mutated(CORPUS)) {
        check(&query);
    }

    #[test]
    fn any_pairs_are_read_or_refused(
        query in proptest::collection::vec((name(), ".{0,12}"), 0..8),
    ) {
        check_pairs(&query);
    }

    #[test]
    fn integers_are_read_in_every_spelling(
        after in proptest::option::of(integer((1 << 53) - 1)),
        limit in proptest::option::of(integer(200)),
    ) {
        let text = |name: &str, value: &Option<(u64, String)>| {
            value.as_ref().map(|(_, text)| (name.to_owned(), text.clone()))
        };
        let query: Pairs = text("after", &after).into_iter().chain(text("limit", &limit)).collect();
        let decoded = HISTORY.pairs(&query);
        let is_allowed = limit.as_ref().is_none_or(|(limit, _)| (1..=100).contains(limit));
        prop_assert_eq!(decoded.is_ok(), is_allowed);
        let after = after.map(|(after, _)| after);
        if let Ok(decoded) = decoded {
            prop_assert_eq!(decoded.after, after);
            prop_assert_eq!(decoded.limit.map(u64::from), limit.map(|(limit, _)| limit));
        }
    }

    #[test]
    fn a_location_is_read_as_written(
        directory in proptest::option::of(".{0,30}"),
        workspace in proptest::option::of("wrk.{0,10}"),
    ) {
        let named = |name: &str, value: &Option<String>| {
            value.clone().map(|value| (format!("location[{name}]"), value))
        };
        let query: Pairs = named("workspace", &workspace)
            .into_iter()
            .chain(named("directory", &directory))
            .collect();
        let decoded = LOCATION.pairs(&query).unwrap();
        let shown = |location: LocationQuery| {
            (location.directory, location.workspace.map(|id| id.as_str().to_owned()))
        };
        prop_assert_eq!(decoded.location.map(shown).unwrap_or_default(), (directory, workspace));
    }
}

fn name() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(
        &[
            "limit",
            "limit[]",
            "after",
            "order",
            "cursor",
            "search",
            "directory",
            "project",
            "subpath",
            "workspace",
            "location",
            "location[directory]",
            "location[workspace]",
            "sessionID",
            "messageID",
            "__proto__",
            "",
        ][..],
    );
    prop_oneof![known.prop_map(str::to_owned), ".{0,10}"]
}
