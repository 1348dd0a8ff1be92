//! The turns that wait for running tasks. The denials that hold for such a turn now hold for its tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opencode_schema::id::SessionID;
use parking_lot::Mutex;

/// The turn that gave a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Giver {
    pub(crate) session: SessionID,
    /// The agent of the turn, which need not be that of the session.
    pub(crate) agent: String,
}

/// The givers of the running tasks of a host. Clones share the state.
#[derive(Clone, Default)]
pub(crate) struct TaskGivers {
    /// Each with a number of its own, because two calls may continue the same session.
    running: Arc<Mutex<Vec<(u64, SessionID, Giver)>>>,
    next: Arc<AtomicU64>,
}

/// One running task. It has no giver any more when this is dropped.
pub(crate) struct GivenTask {
    number: u64,
    givers: TaskGivers,
}

impl TaskGivers {
    /// Notes that a session works on a task until the result is dropped.
    #[must_use]
    pub(crate) fn note(&self, task: &SessionID, giver: Giver) -> GivenTask {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.running.lock().push((number, task.clone(), giver));
        GivenTask {
            number,
            givers: self.clone(),
        }
    }

    /// Returns those who wait for the work of a session: its givers, and the givers of these. Each once.
    pub(super) fn above(&self, session: &SessionID) -> Vec<Giver> {
        let running = self.running.lock();
        let mut found = Vec::<Giver>::new();
        let mut next = vec![session.clone()];
        while let Some(task) = next.pop() {
            for (_, _, giver) in running.iter().filter(|(_, it, _)| *it == task) {
                if !found.contains(giver) {
                    found.push(giver.clone());
                    next.push(giver.session.clone());
                }
            }
        }
        found
    }
}

impl Drop for GivenTask {
    fn drop(&mut self) {
        let mut running = self.givers.running.lock();
        running.retain(|(number, _, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u8) -> SessionID {
        SessionID::parse(&format!("ses_{number}")).unwrap()
    }

    fn giver(number: u8) -> Giver {
        Giver {
            session: session(number),
            agent: "build".to_owned(),
        }
    }

    #[test]
    fn all_who_wait_for_a_task_are_above_it() {
        let givers = TaskGivers::default();
        let first = givers.note(&session(2), giver(1));
        let again = givers.note(&session(2), giver(1));
        let below = givers.note(&session(3), giver(2));
        assert_eq!(givers.above(&session(3)), [giver(2), giver(1)]);
        assert_eq!(givers.above(&session(1)), []);
        drop(first);
        assert_eq!(givers.above(&session(2)), [giver(1)]);
        drop(again);
        assert_eq!(givers.above(&session(3)), [giver(2)]);
        // Imported sessions may be below each other.
        let cycle = givers.note(&session(2), giver(3));
        assert_eq!(givers.above(&session(3)), [giver(2), giver(3)]);
        drop((below, cycle));
        assert_eq!(givers.above(&session(3)), []);
    }
}
