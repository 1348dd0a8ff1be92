//! Sessions as text: one line that says what follows, then one line per entry of the log.
//!
//! The text of an export, taken in by another host, gives the same session there, and the same
//! text again. `export` writes it, `import` replays it.

mod export;
mod import;

use opencode_schema::session::SessionInfo;
use serde::{Deserialize, Serialize};

pub use self::export::SessionExport;
pub use self::import::Imported;
pub(crate) use self::import::{ImportBudget, Imports};

/// What the first line says it is.
const FORMAT: &str = "opencode-session";

/// The version of the format that is written, and the newest that is read.
const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    /// The record of the session when it was exported.
    session: SessionInfo,
}
