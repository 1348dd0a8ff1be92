//! Two-word names that help users to tell sessions apart.

use opencode_schema::id::IdSource;

const ADJECTIVES: [&str; 32] = [
    "amber", "bold", "brisk", "calm", "clear", "cosmic", "crisp", "curious", "deep", "eager",
    "fair", "fleet", "gentle", "glad", "golden", "keen", "kind", "lively", "lucid", "mellow",
    "nimble", "patient", "proud", "quiet", "quick", "shiny", "silent", "steady", "sunny", "swift",
    "tidy", "warm",
];

const NOUNS: [&str; 32] = [
    "anchor", "badger", "beacon", "birch", "brook", "cabin", "canyon", "cedar", "comet", "falcon",
    "forest", "garden", "harbor", "heron", "island", "lantern", "maple", "meadow", "moon", "otter",
    "pebble", "planet", "river", "rocket", "sailor", "sparrow", "squid", "summit", "tiger",
    "valley", "willow", "wizard",
];

/// Returns a name such as `quiet-otter`. It is not unique.
pub(crate) fn slug(ids: &IdSource) -> String {
    // The last two characters of an identifier are random.
    let id = ids.next("slug", false);
    let mut random = id.bytes().rev().map(usize::from);
    let mut pick = |words: &[&'static str; 32]| words[random.next().unwrap_or_default() % 32];
    format!("{}-{}", pick(&ADJECTIVES), pick(&NOUNS))
}
