//! The views of the database for reads and commands.

pub(crate) mod reader;
pub(crate) mod seam;
pub(crate) mod transaction;
