//! The keys of `opencode.json` and of the option `config`.

mod agents;
mod document;
mod mcp;
mod models;
mod older_models;
mod permissions;
mod settings;

pub use self::agents::{AGENT, OLDER_AGENT};
pub use self::document::{DOCUMENT, FOREIGN, MAX_FEW, MAX_TEXTS, OLDER, keys};
pub use self::permissions::MAX_RULES;
