//! The session engine: what happens between an Admitted Prompt and a settled Session Drain.
//!
//! It knows the event store, Locations, tools and the canonical model request. It knows no HTTP
//! and no JavaScript: [`Runtime`] is what both are built on.
//!
//! How to read it: [`Runtime`] lists the operations. `inbox` admits and promotes, `relocation`
//! moves a session, `revert` goes back in one, `recovery` goes on with those that were cut,
//! `transfer` carries them between hosts as text. `coordinator` decides who runs, as a pure reducer
//! with an asynchronous edge. `runner` drains a session: `boundary` is the Safe Provider-Turn
//! Boundary, `epoch` what it means for the Context Epoch, `entry` what it writes, `turn` one
//! Provider Turn, `publisher` turns what the provider says into events. `lowering` and `transcript`
//! make requests from Session History, and `conversation` keeps them for the next drain.
//! `compaction` makes checkpoints of histories that outgrow their model, and `pruning` takes old
//! output of tools out of them. What people are asked stands in `permissions` and `questions`, and
//! waits in `waiting`. `tasks` is the work that one session gives to another. `sources` are what the
//! System Context is made of; `metrics` counts how it fares, and `inspection` is for whoever looks.

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

// What a System Context is contributed with.
pub use opencode_context::{
    CombineError, Observation, RegisterError, Registration, Source, SystemContext,
};
// What the operations are asked in and answer with.
pub use opencode_location::config::{Diagnostic, DiagnosticKind};
pub use opencode_location::file_system::{FileContent, FileSystemError};
pub use opencode_location::location::Location;
pub use opencode_pty as pty;
pub use opencode_store::{
    Anchored, DatabasePath, Durability, Interrupted, InterruptedState, OpenError, Order,
    ReplayConflict, SessionFilter, StoreError, StoredEvent,
};
// Where tests watch the database, and disturb.
pub use opencode_store::{Committed, Fault, Moment, Seam};
