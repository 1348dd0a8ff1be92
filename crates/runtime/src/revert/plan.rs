//! What a revert means for files: which snapshot has each as it was.

use std::collections::BTreeMap;

use opencode_schema::session::RevertState;
use opencode_store::{SessionRow, StepFiles};

use super::Reverts;
use crate::error::RuntimeError;

/// The files that the steps after a boundary changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan(pub(super) BTreeMap<String, Planned>);

/// One of these files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    /// The snapshot from before the first of the steps that changed it.
    pub(super) before: String,
    /// The one that the last of them left.
    pub(super) after: String,
    /// How many of the files were changed before it for the first time.
    place: usize,
}

impl Plan {
    /// Whether it concerns no file.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files in the order in which they were changed for the first time.
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
    /// What going back to that boundary means for files. Of a boundary within a message the step of
    /// that message counts, because what it changed is known as a whole.
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
            reader.step_files(key, seq + u64::from(!is_within))
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
    fn each_file_goes_back_to_before_the_first_step_that_changed_it() {
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
