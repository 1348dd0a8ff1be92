//! Regular removal of files that are no longer needed.

pub(crate) mod managed_output;
pub(crate) mod snapshots;
