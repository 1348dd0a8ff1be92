//! The session engine: everything between an Admitted Prompt and a settled Session Drain.
//!
//! The engine knows the event store, Locations, tools and the canonical model request. It knows neither HTTP nor
//! JavaScript: both are built on [`Runtime`].
//!
//! Reading guide: [`Runtime`] lists the operations. `inbox` admits and promotes inputs, `relocation` moves a session,
//! `revert` returns a session to an earlier state, `recovery` resumes sessions that were cut off, and `transfer`
//! exports and imports sessions as text. `coordinator` decides which session runs, as a pure reducer with an
//! asynchronous edge. `runner` drains a session: `boundary` is the Safe Provider-Turn Boundary, `epoch` its effect on
//! the Context Epoch, `entry` the entries that it writes, `turn` one Provider Turn, and `publisher` turns the output
//! of the provider into events. `lowering` and `transcript` make requests from Session History, and `conversation`
//! keeps them for the next drain. `compaction` makes checkpoints of histories that outgrow their model, and `pruning`
//! removes old tool output from requests. `permissions` and `questions` hold the requests to users, and `waiting`
//! lets them wait. `tasks` is the work that one session gives to another. `sources` are the Context Sources of the
//! System Context, `metrics` counts observations and changes of it, and `inspection` shows requests and metrics.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod attended;
mod compaction;
mod conversation;
mod coordinator;
mod core;
pub mod error;
mod inbox;
mod inspection;
mod json;
mod limits;
mod live;
mod lowering;
mod managed_output;
mod metrics;
mod operations;
mod permissions;
mod pruning;
mod questions;
mod reads;
mod recovery;
mod relocation;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod requests;
mod revert;
mod runner;
mod runtime;
mod sessions;
mod slug;
mod snapshots;
mod sources;
mod sync;
mod tail;
mod tasks;
mod terminals;
mod todos;
mod transcript;
mod transfer;
mod unanswered;
mod unknown_agents;
mod waiting;

pub use attended::Attended;
pub use error::{DrainError, RuntimeError};
pub use inbox::PromptRequest;
pub use limits::Limits;
pub use live::{LiveBatch, LiveSubscription};
pub use operations::DrainOutcome;
pub use permissions::{AskPermission, PermissionDecided};
pub use recovery::Recovery;
pub use revert::StageRevert;
pub use runtime::{Runtime, RuntimeOptions};
pub use sessions::CreateSession;
pub use sources::{ContributionError, Fetch, FetchError};
pub use tail::SessionEvents;
pub use terminals::{EnvironmentAnswer, EnvironmentRequest, TerminalRequest};
pub use transfer::{ImportError, Imported, MAX_IMPORT_LINE_BYTES, SessionExport};
pub use unanswered::{SystemTimer, Timer, Unanswered};

// Types to contribute a System Context.
pub use opencode_context::{
    CombineError, Observation, RegisterError, Registration, Source, SystemContext,
};
// Argument and result types of the operations.
pub use opencode_location::config::{Diagnostic, DiagnosticKind};
pub use opencode_location::file_system::{FileContent, FileSystemError};
pub use opencode_location::location::Location;
pub use opencode_pty as pty;
pub use opencode_store::{
    Anchored, DatabasePath, Durability, Interrupted, InterruptedState, OpenError, Order,
    ReplayConflict, SessionFilter, StoreError, StoredEvent,
};
// Hooks for tests that observe the database and inject faults.
pub use opencode_store::{Committed, Fault, Moment, Seam};
