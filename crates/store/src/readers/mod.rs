//! The connections that only read, and the reads that span several projections.

pub(crate) mod calls;
pub(crate) mod continuity;
pub(crate) mod history;
pub(crate) mod interrupted;
pub(crate) mod pool;
