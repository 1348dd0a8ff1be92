//! The views of the database for reads and commands.

pub(crate) mod cleaner;
pub(crate) mod demand;
pub(crate) mod reader;
pub(crate) mod test_hook;
pub(crate) mod transaction;
