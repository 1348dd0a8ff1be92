//! The session engine: everything between an Admitted Prompt and a settled Session Drain.
//!
//! The engine knows the event store, Locations, tools and the canonical model request. It knows neither HTTP nor
//! JavaScript: both are built on [`Runtime`].
//!
//! [`Runtime`] is the composition: it creates the services and lists the operations of a host. From bottom to top:
//!
//! - `journal` and `live`: the event store, and the live stream.
//! - `sessions`, `inbox`, `asks`, `revert`, `tasks`, `terminals`, `integrations`, `transfer`, `streams`: one service each.
//!   `asks` holds the requests to users.
//! - `commands`: prompts from templates and from prompts of MCP servers.
//! - `mcp`: the servers of the Model Context Protocol.
//! - `sources`: the Context Sources of the System Context. `snapshots`: the files around a step.
//! - `coordinator`: decides which session runs, as a pure reducer with an asynchronous edge.
//! - `history`, `provider`, `compaction`: messages of a request, requests to the provider, checkpoints of a history.
//! - `drain`: runs one session. `boundary` is the Safe Provider-Turn Boundary, `epoch` its effect on the Context Epoch,
//!   `turn` one Provider Turn, and `publisher` turns the output of the provider into events.
//! - `recovery` and `sweeps`: background work. `operations`: the methods of [`Runtime`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod agents;
mod asks;
mod budgets;
mod commands;
mod compaction;
mod coordinator;
mod drain;
pub mod error;
mod history;
mod hooks;
mod inbox;
mod integrations;
mod journal;
mod json;
mod lifecycle;
mod limits;
mod live;
mod mcp;
mod metrics;
mod model_list;
mod operations;
mod options;
mod provider;
mod recovery;
mod redaction;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod revert;
mod runtime;
mod sessions;
mod sharing;
mod snapshots;
mod sources;
mod streams;
mod structured;
mod subagents;
mod sweeps;
mod sync;
mod tasks;
mod terminals;
mod timer;
mod transfer;

pub use asks::notice::RequestNotice;
pub use asks::permissions::{AskPermission, PermissionDecided, SavedScope};
pub use asks::unanswered::Unanswered;
pub use budgets::BudgetOptions;
pub use commands::CommandRequest;
pub use error::{DrainError, ImportError, MAX_IMPORT_LINE_BYTES, RuntimeError};
pub use hooks::{
    Hooks, NoHooks, OfferedPrompt, PreparedCompaction, PreparedRequest, RequestChanges,
    SummaryInstructions,
};
pub use inbox::PromptRequest;
pub use integrations::{ConnectOauth, CredentialValues, ProviderOAuth};
pub use lifecycle::{ForkSession, PruneSessions};
pub use limits::{CallLimits, Limits};
pub use live::{LiveBatch, LiveSubscription, Selection, SelectionError};
pub use operations::DrainOutcome;
pub use options::RuntimeOptions;
pub use recovery::Recovery;
pub use revert::StageRevert;
pub use runtime::Runtime;
pub use sessions::{CreateSession, UpdateSession};
pub use sharing::{ShareService, ShareSessions};
pub use sources::{ContributionError, ObservedSession, SessionSource, SessionSourceRegistration};
pub use streams::SessionEvents;
pub use terminals::{AskEnvironment, NoEnvironment, TerminalRequest};
pub use timer::{SystemTimer, Timer};
pub use transfer::{
    DocumentMessage, ImportChoices, Imported, ImportedDocument, OmittedItem, SessionDocument,
    SessionExport,
};

// Types to contribute a System Context.
pub use opencode_context::{
    CombineError, Observation, RegisterError, Registration, Source, SystemContext,
};
// Argument and result types of the operations.
pub use opencode_location::config::{Diagnostic, DiagnosticKind};
pub use opencode_location::files::{FileContent, FileSystemError};
pub use opencode_location::location::Location;
pub use opencode_pty as pty;
pub use opencode_store::{
    Anchored, DatabasePath, Durability, Interrupted, InterruptedState, OpenError, Order,
    ReplayConflict, Sequence, SessionFilter, StoreError, StoredEvent,
};
// Hooks for tests that observe the database and inject faults.
pub use opencode_store::{Committed, Fault, Moment, TestHook};
