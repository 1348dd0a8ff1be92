//! Settlements of calls, bounded and kept in Managed Tool Output Files.

pub(crate) mod managed_output;
pub(crate) mod settlement;
