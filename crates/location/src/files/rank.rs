//! Ranks how closely a path resembles a query.

/// A search text.
pub(super) struct Query {
    text: String,
    lower: String,
    /// Number of names in the query.
    names: usize,
}

/// Distance of a path from a query. Smaller is closer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance {
    resemblance: Resemblance,
    /// True if the path resembles the query only when case is ignored.
    other_case: bool,
    /// Number of other characters between those of the query.
    skipped_characters: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Resemblance {
    Name,
    StartOfName,
    WithinName,
    WithinPath,
    Scattered,
}

impl Query {
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim_end_matches('/');
        Self {
            text: text.to_owned(),
            lower: text.to_lowercase(),
            names: 1 + text.matches('/').count(),
        }
    }

    /// The distance of a path without a trailing slash. `None` if the path does not resemble the query.
    pub(super) fn distance(&self, path: &str) -> Option<Distance> {
        let near = |resemblance, other_case| Distance {
            resemblance,
            other_case,
            skipped_characters: 0,
        };
        let lower = path.to_lowercase();
        let Some(resemblance) = self.compare(&lower, &self.lower) else {
            return Some(Distance {
                skipped_characters: skipped_characters(&lower, &self.lower)?,
                ..near(Resemblance::Scattered, false)
            });
        };
        let other_case = self.compare(path, &self.text) != Some(resemblance);
        Some(near(resemblance, other_case))
    }

    fn compare(&self, path: &str, query: &str) -> Option<Resemblance> {
        let name = last_names(path, self.names);
        if name == query {
            Some(Resemblance::Name)
        } else if name.starts_with(query) {
            Some(Resemblance::StartOfName)
        } else if name.contains(query) {
            Some(Resemblance::WithinName)
        } else if path.contains(query) {
            Some(Resemblance::WithinPath)
        } else {
            None
        }
    }
}

fn last_names(path: &str, count: usize) -> &str {
    let start = path.rmatch_indices('/').nth(count - 1);
    start.map_or(path, |(slash, _)| &path[slash + 1..])
}

/// Number of other characters between those of the query, if the path contains them in order. Searches
/// from the end of the path, because its last name is the most significant.
fn skipped_characters(path: &str, query: &str) -> Option<usize> {
    let mut rest = path.chars().rev();
    let mut between = 0;
    for (place, wanted) in query.chars().rev().enumerate() {
        let skipped = rest.position(|character| character == wanted)?;
        between += if place == 0 { 0 } else { skipped };
    }
    Some(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_ranked_by_how_they_resemble_the_query() {
        for (query, ranked) in [
            (
                "main",
                &[
                    "src/main",
                    "src/Main",
                    "main.rs",
                    "MAIN.rs",
                    "src/domain.rs",
                    "main/x.rs",
                    "m/a/i/n.rs",
                    "m-a---i-n",
                ][..],
            ),
            ("Main", &["Main", "main", "Main.rs", "main.rs"]),
            (
                "src/ma",
                &[
                    "a/src/ma",
                    "src/main.rs",
                    "a/src/mall",
                    "a-src/main",
                    "src/ma/x",
                ],
            ),
            ("src/", &["src", "src2"]),
            ("é", &["é", "É", "née"]),
        ] {
            let distances = ranked.iter().map(|path| Query::new(query).distance(path));
            let distances: Vec<_> = distances.map(|it| it.expect(query)).collect();
            assert!(distances.is_sorted(), "{query}: {distances:?}");
        }
        for path in ["niam", "mai", ""] {
            assert_eq!(Query::new("main").distance(path), None, "{path}");
        }
    }

    #[test]
    fn an_empty_query_ranks_all_entries_equally() {
        let query = Query::new("");
        assert_eq!(query.distance("a/b"), query.distance("C"));
        assert!(query.distance("a/b").is_some());
    }
}
