//! Tools: the actions that a model may request from the runtime, from the advertised definition to the
//! settled result.
//!
//! A [`Tool`] is a value with one executor and no name. A [`Registry`] contains the tools that a
//! Location has at this moment, [`Registry::materialize`] fixes the tools that one Provider Turn
//! advertises, and [`Materialized::settle`] turns each call of that turn into exactly one
//! [`Settlement`], even if the tool fails, panics, never ends, or returns a gigabyte.
//!
//! This crate does not depend on sessions, events, providers or the database. It does not decide about
//! permissions either. Other crates implement the traits with which tools reach the host:
//!
//! - A [`ToolContext`] is what every tool may use in a call, for example [`Permissions`].
//! - A [`Port`] is what one tool needs of the turn: `question` the [`Questions`], `skill` the [`Skills`],
//!   `task` the [`Tasks`], `todowrite` the [`Todos`], `bash` the [`Shell`], `read` the limits on images.
//!   A tool declares its port, and gets no other one.
//! - `webfetch` and `websearch` are built with the [`Web`](opencode_net::Web), which is the same in all turns.
//!
//! The runtime makes one [`TurnContext`] for each turn. It holds what the contexts of the calls share, and the
//! [`TurnPorts`].
//!
//! To read the code, follow a call: `registry`, `materialized`, `tool`, then `managed_output`, which
//! limits the size of every settlement. `builtin` contains the tools; they declare their input
//! as a type with `typed`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod bounding;
mod builtin;
mod contract;
mod failure;
mod media;
mod output;
mod ports;
mod registry;

pub use bounding::OutputLimits;
pub use builtin::{
    Attachment, AttachmentError, AttachmentRequest, Lines, ScriptEnd, ScriptOutput, ScriptRequest,
    built_in_tools, read_attachment, run_script,
};
pub use contract::folders::{FileScope, SessionOutputs, SharedFolders};
pub use contract::hooks::CallHooks;
pub use contract::tool::{Commitment, Recovery, Tool, ToolContext, ToolOutput};
pub use contract::turn::TurnContext;
pub use contract::typed::{TypedTool, check_input};
pub use failure::ToolFailure;
pub use media::{CheckedFile, Media, MediaError, attached_media, check_file, decode_base64};
pub use output::managed_output::{
    ManagedOutput, remove_managed_output, remove_managed_output_of, sweep_managed_output,
};
pub use output::settlement::{INTERRUPTED, Settlement};
pub use ports::permission::{ActionRules, PermissionError, PermissionRequest, Permissions};
pub use ports::progress::Progress;
pub use ports::question::{QuestionError, QuestionRequest, Questions};
pub use ports::search::{SearchProvider, SearchService, SearchServices};
pub use ports::shell::Shell;
pub use ports::skill::Skills;
pub use ports::source::CallSource;
pub use ports::task::{Incomplete, TaskError, TaskOutcome, TaskRequest, Tasks};
pub use ports::todo::{Todos, TodosError};
pub use ports::turn::{Port, TurnPorts};
pub use registry::materialized::{CallKind, Materialized, ToolCall};
pub use registry::{Contributions, Registration, RegistrationError, Registry, ToolDefinition};
