//! The read-only connections, and the reads that combine several projections.

pub(crate) mod budgets;
pub(crate) mod calls;
pub(crate) mod continuity;
pub(crate) mod history;
pub(crate) mod interrupted;
pub(crate) mod pool;
pub(crate) mod storage;
