//! The options of `OpenCode.create` and of `listen`.

mod create;
mod limits;
mod listen;
mod log;
mod providers;
mod security;

pub use self::create::{BEHAVIOUR, FOLDERS, MAX_FALLBACKS, MODEL, OPTIONS, SESSIONS};
pub use self::limits::{BUDGET, BUDGETS, DEADLINES, LIMITS, RETRY};
pub use self::listen::LISTEN_OPTIONS;
pub use self::log::LOG_OPTIONS;
pub use self::providers::{OAUTH, SERVER};
pub use self::security::{COMMAND_ENVIRONMENT, PERMISSIONS, SHARE};
