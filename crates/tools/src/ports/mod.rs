//! The traits through which a tool uses services of the host: permissions, questions, tasks, the web.

pub(crate) mod permission;
pub(crate) mod progress;
pub(crate) mod question;
pub(crate) mod search;
pub(crate) mod shell;
pub(crate) mod skill;
pub(crate) mod source;
pub(crate) mod task;
pub(crate) mod todo;
pub(crate) mod turn;
