//! Sessions as text: one header line, then one line per entry of the log.
//!
//! An export that another host imports gives the same session there, and the same text when it is
//! exported again. `export` writes the text, `import` replays it. `document` reads the older form of a
//! session, which other versions of OpenCode export and store.

mod document;
mod export;
mod import;

use opencode_schema::session::SessionInfo;
use serde::{Deserialize, Serialize};

pub use self::document::{DocumentMessage, ImportedDocument, OmittedItem, SessionDocument};
pub use self::export::SessionExport;
pub use self::import::Imported;
pub(crate) use self::import::{ImportBudget, Imports};

/// The format name in the first line.
const FORMAT: &str = "opencode-session";

/// The format version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    /// The record of the session at the time of the export.
    session: SessionInfo,
}
