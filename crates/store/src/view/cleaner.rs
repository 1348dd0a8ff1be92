//! Removes from new entries what must not be stored.

use std::sync::{Arc, OnceLock};

use crate::format::entry::Draft;

/// Changes an entry before it is projected and stored. It runs on the writer's thread.
pub type Clean = Box<dyn Fn(&mut Draft) + Send + Sync>;

/// The function that cleans the entries of a store, once it is set.
#[derive(Clone, Default)]
pub(crate) struct Cleaner(Arc<OnceLock<Clean>>);

impl Cleaner {
    pub(crate) fn set(&self, clean: Clean) {
        // The first function stays.
        let _ = self.0.set(clean);
    }

    pub(crate) fn clean(&self, draft: &mut Draft) {
        if let Some(clean) = self.0.get() {
            clean(draft);
        }
    }
}
