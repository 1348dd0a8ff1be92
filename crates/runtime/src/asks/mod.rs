//! Requests to users that wait for an answer: permissions and questions.

pub(crate) mod notice;
pub(crate) mod permissions;
pub(crate) mod questions;
pub(crate) mod unanswered;
pub(crate) mod waiting;
