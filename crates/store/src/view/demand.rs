//! The demand for announcements that are derived from entries. Deriving them reads rows, so it is done only while a
//! subscriber wants them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of subscribers that want derived announcements.
#[derive(Debug, Clone, Default)]
pub(crate) struct Demands(Arc<AtomicUsize>);

/// The demand of one subscriber. Dropping it ends the demand.
#[derive(Debug)]
pub struct Demand(Demands);

impl Demands {
    pub(crate) fn add(&self) -> Demand {
        self.0.fetch_add(1, Ordering::SeqCst);
        Demand(self.clone())
    }

    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Demand {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}
