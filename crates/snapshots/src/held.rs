//! The snapshots that a host needs although no session names them yet: a step or a revert that is not recorded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;

/// The snapshots that the steps and reverts of a host hold. Clones share the state.
#[derive(Debug, Clone, Default)]
pub struct HeldTrees(Arc<Mutex<Holds>>);

#[derive(Debug, Default)]
struct Holds {
    /// Number of holds of each snapshot.
    counts: HashMap<String, usize>,
    /// Number of running erasures.
    erasures: usize,
    /// Every snapshot that was held since the oldest running erasure began.
    noted: HashSet<String>,
}

/// A snapshot that no erasure removes while this value exists.
#[derive(Debug)]
pub struct HeldTree {
    tree: String,
    trees: HeldTrees,
}

/// Keeps every snapshot that is held at its creation or later, until it is dropped. A session may name such a snapshot
/// at any time, also after it is not held any more.
#[derive(Debug)]
pub struct NotedTrees(HeldTrees);

impl PartialEq for HeldTrees {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for HeldTrees {}

impl HeldTrees {
    pub(crate) fn hold(&self, tree: &str) -> HeldTree {
        let mut holds = self.0.lock();
        *holds.counts.entry(tree.to_owned()).or_default() += 1;
        if holds.erasures > 0 {
            holds.noted.insert(tree.to_owned());
        }
        HeldTree {
            tree: tree.to_owned(),
            trees: self.clone(),
        }
    }

    /// Notes the held snapshots. Read the snapshots of the sessions after it: each snapshot that a session names is
    /// then in one of both.
    #[must_use]
    pub fn note(&self) -> NotedTrees {
        let mut holds = self.0.lock();
        let holds = &mut *holds;
        holds.erasures += 1;
        holds.noted.extend(holds.counts.keys().cloned());
        NotedTrees(self.clone())
    }
}

impl NotedTrees {
    pub(crate) fn ids(&self) -> Vec<String> {
        self.0.0.lock().noted.iter().cloned().collect()
    }
}

impl Drop for NotedTrees {
    fn drop(&mut self) {
        let mut holds = self.0.0.lock();
        holds.erasures -= 1;
        if holds.erasures == 0 {
            holds.noted.clear();
        }
    }
}

impl Clone for HeldTree {
    fn clone(&self) -> Self {
        self.trees.hold(&self.tree)
    }
}

impl Drop for HeldTree {
    fn drop(&mut self) {
        let mut holds = self.trees.0.lock();
        if let Some(count) = holds.counts.get_mut(&self.tree) {
            *count -= 1;
            if *count == 0 {
                holds.counts.remove(&self.tree);
            }
        }
    }
}

impl PartialEq for HeldTree {
    fn eq(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}

impl Eq for HeldTree {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erasure_knows_what_was_held_at_its_beginning_or_later() {
        let trees = HeldTrees::default();
        drop(trees.hold("before"));
        let held = trees.hold("held");
        let again = held.clone();
        let noted = trees.note();
        drop(held);
        drop(again);
        drop(trees.hold("later"));
        let mut ids = noted.ids();
        ids.sort();
        assert_eq!(ids, ["held", "later"]);
        drop(noted);
        assert_eq!(trees.note().ids(), [""; 0]);
    }
}
