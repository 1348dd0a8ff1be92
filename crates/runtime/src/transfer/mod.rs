//! Sessions as text: one header line, then one line per entry of the log.
//!
//! An export that another host imports gives the same session there, and the same text when it is
//! exported again, unless work was open: `open_work` ends it. `export` writes the text, `import` replays it.
//! `confirm` applies what the caller chose. `document` reads the older form of a session, which other versions of
//! OpenCode export and store.

mod confirm;
mod document;
mod export;
mod import;
mod open_work;

use opencode_schema::session::SessionInfo;
use serde::{Deserialize, Serialize};

pub use self::confirm::ImportChoices;
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
