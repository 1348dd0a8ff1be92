//! The views of the database that reads and commands get.

pub(crate) mod reader;
pub(crate) mod seam;
pub(crate) mod transaction;
