//! Removal of the sessions that are old.
//!
//! A session without a parent goes together with its descendants, and all of them decide about its age. Each of these
//! trees is removed on its own, so other sessions work meanwhile.

use std::collections::HashMap;
use std::sync::Arc;

use opencode_schema::clock::Millis;
use opencode_schema::id::SessionID;
use opencode_schema::storage::PrunedSessions;
use opencode_store::{SessionAge, StoreError};

use super::Lifecycle;
use crate::error::RuntimeError;

/// Maximum number of sessions without a parent that one call removes.
const MAX_REMOVED: usize = 1000;

/// Maximum number of ancestors that are examined. A deeper session counts as one without a parent, and the removal
/// itself examines its whole tree.
const MAX_ANCESTORS: usize = 1000;

/// The conditions of a prune. A session must satisfy all given conditions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneSessions {
    /// Only sessions without an event since this time.
    pub older_than: Option<Millis>,
    /// Keep this number of sessions, those with the newest events.
    pub keep_last: Option<u64>,
    /// Only archived sessions, or only others.
    pub archived: Option<bool>,
}

/// A session without a parent, with the time of the newest event in its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    id: SessionID,
    active: Millis,
}

impl Lifecycle {
    pub(crate) async fn prune(
        self: &Arc<Self>,
        request: PruneSessions,
    ) -> Result<PrunedSessions, RuntimeError> {
        let has_bound = request.older_than.is_some() || request.keep_last.is_some();
        if !has_bound && request.archived != Some(true) {
            return Err(RuntimeError::InvalidField {
                field: "olderThan",
                message: "The prune would remove every session; give olderThan, keepLast or archived: true"
                    .to_owned(),
            });
        }
        let ages = self.journal.store.read(|db| db.session_ages()).await?;
        let mut old = selected(&ages, request).into_iter();
        let mut session_ids = Vec::new();
        for root in old.by_ref().take(MAX_REMOVED) {
            if self.closing.is_cancelled() {
                return Err(RuntimeError::Closed);
            }
            session_ids.extend(self.remove_old(&root).await?);
        }
        Ok(PrunedSessions {
            removed: session_ids.len() as u64,
            session_ids,
            has_more: old.next().is_some(),
        })
    }

    /// Removes a session that is old, with its descendants. Leaves it if one of them works or has a newer event now, or
    /// is too damaged to be removed.
    async fn remove_old(self: &Arc<Self>, root: &Root) -> Result<Vec<SessionID>, RuntimeError> {
        match self.remove_unless_active(&root.id, root.active).await {
            Ok(removed) => Ok(removed),
            Err(RuntimeError::SessionBusy(_) | RuntimeError::SessionNotFound(_)) => Ok(Vec::new()),
            Err(RuntimeError::Store(error @ StoreError::Corrupt { .. })) => {
                tracing::error!(session_id = %root.id, %error, "a damaged session is not pruned");
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the sessions without a parent to remove, oldest first.
fn selected(ages: &[SessionAge], request: PruneSessions) -> Vec<Root> {
    let by_id: HashMap<_, _> = ages.iter().map(|age| (&age.id, age)).collect();
    let mut newest: HashMap<&SessionID, Millis> = HashMap::new();
    for age in ages {
        let root = root_of(age, &by_id);
        let active = newest.entry(&root.id).or_insert(age.active);
        *active = age.active.max(*active);
    }
    let fits = |id: &SessionID| {
        request
            .archived
            .is_none_or(|it| it == by_id[id].is_archived)
    };
    let roots = newest.into_iter().filter(|(id, _)| fits(id));
    let mut roots: Vec<_> = roots
        .map(|(id, active)| Root {
            id: id.clone(),
            active,
        })
        .collect();
    roots.sort_by(|a, b| (a.active, &a.id).cmp(&(b.active, &b.id)));
    let kept = usize::try_from(request.keep_last.unwrap_or(0)).unwrap_or(usize::MAX);
    roots.truncate(roots.len().saturating_sub(kept));
    let is_old = |root: &Root| request.older_than.is_none_or(|time| root.active < time);
    roots.retain(is_old);
    roots
}

/// Returns the ancestor without a parent. A session whose parent was removed counts as one without a parent, and so
/// does each session of a cycle, which only imported sessions can form.
fn root_of<'a>(age: &'a SessionAge, by_id: &HashMap<&SessionID, &'a SessionAge>) -> &'a SessionAge {
    let mut root = age;
    for _ in 0..MAX_ANCESTORS {
        match root.parent.as_ref().and_then(|parent| by_id.get(parent)) {
            Some(parent) => root = parent,
            None => return root,
        }
    }
    age
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions as `id parent active archived`.
    fn ages(list: &[&str]) -> Vec<SessionAge> {
        let id = |name: &str| SessionID::parse(&format!("ses_{name}")).unwrap();
        let age = |text: &&str| {
            let words: Vec<_> = text.split(' ').collect();
            SessionAge {
                id: id(words[0]),
                parent: Some(words[1]).filter(|it| *it != "-").map(id),
                active: words[2].parse().unwrap(),
                is_archived: words.len() > 3,
            }
        };
        list.iter().map(age).collect()
    }

    #[test]
    fn old_trees_are_selected_oldest_first() {
        let forest = [
            "a - 10",
            "b - 20 archived",
            // The tree of c was active at 50.
            "c - 5",
            "d c 50",
            "e d 30 archived",
            // Its parent does not exist any more.
            "f x 40",
            "g - 40 archived",
        ];
        let none = PruneSessions::default;
        for (request, expected) in [
            (none(), "a b f g c"),
            (
                PruneSessions {
                    older_than: Some(40),
                    ..none()
                },
                "a b",
            ),
            (
                PruneSessions {
                    older_than: Some(41),
                    ..none()
                },
                "a b f g",
            ),
            (
                PruneSessions {
                    keep_last: Some(2),
                    ..none()
                },
                "a b f",
            ),
            (
                PruneSessions {
                    keep_last: Some(u64::MAX),
                    ..none()
                },
                "",
            ),
            (
                PruneSessions {
                    archived: Some(true),
                    keep_last: Some(1),
                    ..none()
                },
                "b",
            ),
            (
                PruneSessions {
                    archived: Some(false),
                    older_than: Some(45),
                    keep_last: Some(0),
                },
                "a f",
            ),
        ] {
            let roots = selected(&ages(&forest), request);
            let names = roots.iter().map(|root| &root.id.as_str()[4..]);
            assert_eq!(names.collect::<Vec<_>>().join(" "), expected, "{request:?}");
        }
    }

    #[test]
    fn a_cycle_ends() {
        let roots = selected(
            &ages(&["a b 1", "b a 2", "c c 3", "d a 4"]),
            PruneSessions::default(),
        );
        assert_eq!(roots.len(), 4);
    }

    #[test]
    fn a_hundred_thousand_sessions_are_selected_at_once() {
        let id = |n: usize| SessionID::parse(&format!("ses_{n:06}")).unwrap();
        let ages: Vec<_> = (0..100_000)
            .map(|n| SessionAge {
                id: id(n),
                parent: (n % 3 > 0).then(|| id(n - 1)),
                active: n as i64,
                is_archived: false,
            })
            .collect();
        assert_eq!(selected(&ages, PruneSessions::default()).len(), 33_334);
    }
}
