//! Selects the first results by path from results that arrive in any order.

use std::collections::BTreeMap;

/// Maximum number of results of one call, even without a limit from the model, because all of them are
/// stored.
pub(in crate::builtin) const MAX_RESULTS: usize = 10_000;

/// Number of bytes of results after which no further results are kept.
pub(in crate::builtin) const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Keeps the results of the smallest paths, and no more than needed. So the same search always returns
/// the same results, and memory is bounded for any number of results.
pub(in crate::builtin) struct FirstByPath<T> {
    limit: usize,
    found: BTreeMap<Vec<u8>, Batch<T>>,
    count: usize,
    bytes: usize,
    is_cut: bool,
}

/// The results of one path.
struct Batch<T> {
    results: Vec<T>,
    bytes: usize,
}

/// The selected results.
pub(in crate::builtin) struct First<T> {
    /// Paths with their results, in order.
    pub(in crate::builtin) found: Vec<(Vec<u8>, Vec<T>)>,
    /// Number of results.
    pub(in crate::builtin) count: usize,
    /// True if there may be more results than the model asked for.
    pub(in crate::builtin) is_cut: bool,
}

impl<T> FirstByPath<T> {
    /// Keeps at most `limit` results, within the other limits.
    pub(in crate::builtin) fn new(limit: usize) -> Self {
        Self {
            limit,
            found: BTreeMap::new(),
            count: 0,
            bytes: 0,
            is_cut: false,
        }
    }

    /// True if results of this path would be kept.
    pub(in crate::builtin) fn wants(&mut self, path: &[u8]) -> bool {
        let is_full = self.is_enough(self.count, self.bytes);
        let last = self.found.last_key_value();
        let wants = !is_full || last.is_some_and(|(last, _)| path < last.as_slice());
        self.is_cut |= !wants;
        wants
    }

    /// Adds the results of one path. `is_cut` is true if the path has more of them.
    pub(in crate::builtin) fn add(
        &mut self,
        path: Vec<u8>,
        results: Vec<T>,
        bytes: usize,
        is_cut: bool,
    ) {
        if results.is_empty() {
            self.is_cut |= is_cut;
            return;
        }
        if !self.wants(&path) {
            return;
        }
        self.is_cut |= is_cut;
        self.count += results.len();
        self.bytes += bytes;
        self.found.insert(path, Batch { results, bytes });
        while let Some(last) = self.found.last_entry() {
            let count = self.count - last.get().results.len();
            let bytes = self.bytes - last.get().bytes;
            if count < self.limit && bytes < MAX_BYTES {
                break;
            }
            last.remove();
            (self.count, self.bytes, self.is_cut) = (count, bytes, true);
        }
    }

    fn is_enough(&self, count: usize, bytes: usize) -> bool {
        count >= self.limit || bytes >= MAX_BYTES
    }

    pub(in crate::builtin) fn finish(self) -> First<T> {
        let mut room = self.limit;
        let mut found = Vec::with_capacity(self.found.len());
        for (path, mut batch) in self.found {
            batch.results.truncate(room);
            room -= batch.results.len();
            found.push((path, batch.results));
        }
        First {
            found,
            count: self.limit - room,
            is_cut: self.is_cut || self.count > self.limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the selection from batches with these numbers of results.
    fn first(limit: usize, batches: &[(u8, usize)]) -> (Vec<(u8, usize)>, bool) {
        let mut first = FirstByPath::new(limit);
        for (path, count) in batches {
            first.add(vec![*path], vec![(); *count], *count, false);
        }
        let first = first.finish();
        let found = first
            .found
            .iter()
            .map(|(path, found)| (path[0], found.len()));
        let found: Vec<_> = found.collect();
        assert_eq!(
            first.count,
            found.iter().map(|(_, count)| count).sum::<usize>()
        );
        (found, first.is_cut)
    }

    #[test]
    fn a_limit_keeps_the_smallest_paths() {
        for (limit, expected, is_cut) in [
            (9, vec![(1, 2), (2, 1), (3, 4)], false),
            (7, vec![(1, 2), (2, 1), (3, 4)], false),
            (6, vec![(1, 2), (2, 1), (3, 3)], true),
            (3, vec![(1, 2), (2, 1)], true),
            (1, vec![(1, 1)], true),
        ] {
            for batches in [[(3, 4), (1, 2), (2, 1)], [(1, 2), (2, 1), (3, 4)]] {
                assert_eq!(
                    first(limit, &batches),
                    (expected.clone(), is_cut),
                    "{limit}"
                );
            }
        }
    }

    #[test]
    fn the_number_of_bytes_is_limited() {
        let mut kept = FirstByPath::new(MAX_RESULTS);
        for path in (0..8).rev() {
            kept.add(vec![path], vec![()], MAX_BYTES / 2, false);
        }
        assert!(!kept.wants(&[9]));
        let kept = kept.finish();
        let paths: Vec<_> = kept.found.iter().map(|(path, _)| path[0]).collect();
        assert_eq!((paths, kept.is_cut), (vec![0, 1], true));
    }

    proptest! {
        #[test]
        fn the_order_of_arrival_has_no_effect(
            limit in 1usize..20,
            sizes in proptest::collection::vec(1usize..5, 1..12),
            seed in any::<u64>(),
        ) {
            let sorted: Vec<_> = (0u8..).zip(sizes).collect();
            let mut shuffled = sorted.clone();
            shuffled.sort_by_key(|(path, _)| (u64::from(*path) + 1).wrapping_mul(seed | 1));
            prop_assert_eq!(first(limit, &sorted), first(limit, &shuffled));
        }
    }
}
