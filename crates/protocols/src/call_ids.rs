//! The identifiers of the calls of one step.

use std::collections::HashMap;

use opencode_llm::canonical::event::BlockId;
use opencode_llm::lifecycle::MAX_ID;
use opencode_llm::sources::Sources;

use super::identifiers::plain;

/// Maximum length of a suffix, in bytes.
const MAX_SUFFIX: usize = 8;

/// Gives each call an identifier of its own, because servers omit and repeat identifiers.
pub(super) struct CallIds {
    /// The identifiers of the step in the form of the strictest protocol, and the number of the next
    /// call that repeats each.
    used: HashMap<String, usize>,
    sources: Sources,
}

impl CallIds {
    pub(super) fn new(sources: &Sources) -> Self {
        Self {
            used: HashMap::new(),
            sources: sources.clone(),
        }
    }

    /// Returns the identifier of a call: the one that the server gave, with a number behind it if
    /// another call of the step has it. A call without a usable identifier gets a random one.
    pub(super) fn assign(&mut self, given: Option<&str>) -> BlockId {
        let is_usable = |id: &&str| !id.trim().is_empty() && id.len() <= MAX_ID - MAX_SUFFIX;
        let random;
        let id = match given.filter(is_usable) {
            Some(id) => id,
            None => {
                random = self.sources.call_id();
                &random
            }
        };
        let key = plain(id).into_owned();
        let Some(mut number) = self.used.get(&key).copied() else {
            self.used.insert(key, 2);
            return id.into();
        };
        let other = loop {
            let other = format!("{key}_{number}");
            number += 1;
            if !self.used.contains_key(&other) {
                break other;
            }
        };
        self.used.insert(key, number);
        self.used.insert(other, 2);
        format!("{id}_{}", number - 1).into()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn each_call_of_a_step_has_an_identifier_of_its_own() {
        let long = "x".repeat(MAX_ID);
        let fixed = Sources::new(|| 0, || SystemTime::UNIX_EPOCH);
        let mut ids = CallIds::new(&fixed);
        let random = fixed.call_id();
        let rows = [
            (Some("c1"), "c1"),
            (Some("c1"), "c1_2"),
            (Some("c1_2"), "c1_2_2"),
            (Some("c1"), "c1_3"),
            (Some("c2"), "c2"),
            // Both are `a_b` for some servers.
            (Some("a.b"), "a.b"),
            (Some("a:b"), "a:b_2"),
            (Some(""), random.as_str()),
        ];
        for (given, expected) in rows {
            assert_eq!(&*ids.assign(given), expected, "{given:?}");
        }
        let mut ids = CallIds::new(&Sources::default());
        let unusable = [None, Some(""), Some(" "), Some(long.as_str())];
        let assigned: Vec<_> = unusable.iter().map(|given| ids.assign(*given)).collect();
        for (at, id) in assigned.iter().enumerate() {
            assert!(id.starts_with("call_") && id.len() == 37, "{id}");
            assert!(!assigned[..at].contains(id));
        }
    }

    #[test]
    fn many_equal_identifiers_take_no_quadratic_time() {
        let mut ids = CallIds::new(&Sources::default());
        let assigned: Vec<_> = (0..4096).map(|_| ids.assign(Some("c"))).collect();
        assert_eq!(assigned.last().map(|id| &**id), Some("c_4096"));
    }
}
