//! The effect of a revert on files: the snapshot from which each file is restored.

use std::collections::BTreeMap;

use opencode_schema::session::RevertState;
use opencode_store::{SessionRow, StepFiles};

use super::Reverts;
use crate::error::RuntimeError;

/// The files that the steps after a boundary changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan(pub(super) BTreeMap<String, Planned>);

/// Snapshots of one of these files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    /// The snapshot before the first step that changed the file.
    pub(super) before: String,
    /// The snapshot after the last step that changed it.
    pub(super) after: String,
    /// Number of files that were first changed before this one.
    place: usize,
}

impl Plan {
    /// True if it contains no file.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the files in the order of their first change.
    pub(super) fn in_order(&self) -> Vec<(&String, &Planned)> {
        let mut files: Vec<_> = self.0.iter().collect();
        files.sort_by_key(|(_, planned)| planned.place);
        files
    }

    fn of(steps: Vec<StepFiles>) -> Self {
        let mut plan = Self::default();
        for StepFiles { start, end, files } in steps {
            for path in files {
                let (before, after) = (start.clone(), end.clone());
                let place = plan.0.len();
                let planned = plan.0.entry(path);
                planned
                    .and_modify(|planned| planned.after.clone_from(&after))
                    .or_insert(Planned {
                        before,
                        after,
                        place,
                    });
            }
        }
        plan
    }
}

impl Reverts {
    /// Returns the plan for a revert to that boundary. For a boundary within a message, the plan includes
    /// the step of that message, because changes are only known per step.
    pub(super) async fn plan(
        &self,
        session: &SessionRow,
        revert: &RevertState,
    ) -> Result<Plan, RuntimeError> {
        let (key, id) = (session.key, revert.message_id.clone());
        let is_within = revert.part_id.is_some();
        let steps = self.journal.store.read(move |reader| {
            let Some(seq) = reader.message_seq(key, &id)? else {
                return Ok(Vec::new());
            };
            let from = if is_within { seq } else { seq.next() };
            reader.step_files(key, from)
        });
        Ok(Plan::of(steps.await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(start: &str, end: &str, files: &[&str]) -> StepFiles {
        StepFiles {
            start: start.to_owned(),
            end: end.to_owned(),
            files: files.iter().map(|path| (*path).to_owned()).collect(),
        }
    }

    #[test]
    fn a_file_returns_to_its_state_before_its_first_change() {
        let plan = Plan::of(vec![
            step("1", "2", &["b"]),
            step("3", "4", &["a", "b"]),
            step("5", "6", &["c"]),
        ]);
        let planned = plan.in_order().into_iter();
        let planned = planned.map(|(path, it)| (&**path, &*it.before, &*it.after));
        let expected = [("b", "1", "4"), ("a", "3", "4"), ("c", "5", "6")];
        assert!(planned.eq(expected), "{plan:?}");
    }
}
