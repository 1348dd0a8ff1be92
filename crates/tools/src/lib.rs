//! Tools: the actions that a model may request from the runtime, from the advertised definition to the
//! settled result.
//!
//! A [`Tool`] is a value with one executor and no name. A [`Registry`] contains the tools that a
//! Location has at this moment, [`Registry::materialize`] fixes the tools that one Provider Turn
//! advertises, and [`Materialized::settle`] turns each call of that turn into exactly one
//! [`Settlement`], even if the tool fails, panics, never ends, or returns a gigabyte.
//!
//! This crate does not depend on sessions, events, providers or the database. It does not decide about
//! permissions either. A tool asks [`Permissions`] before it acts, gets the user's answers from
//! [`Questions`] and texts from [`Skills`], stores todos in [`Todos`], delegates work to [`Tasks`] and
//! reaches servers through [`Web`]. Other crates implement these traits.
//!
//! To read the code, follow a call: `registry`, `materialized`, `tool`, then `managed_output`, which
//! limits the size of every settlement. `builtin` contains the tools; they declare their parameters
//! with `typed` and `input`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod bounding;
mod builtin;
mod input;
mod managed_output;
mod materialized;
mod permission;
mod question;
mod registry;
mod search;
mod settlement;
mod shell;
mod skill;
mod task;
mod todo;
mod tool;
mod typed;
mod web;

pub use bounding::OutputLimits;
pub use builtin::built_in_tools;
pub use input::{Field, Object, Schema};
pub use managed_output::{ManagedOutput, sweep_managed_output};
pub use materialized::{Materialized, ToolCall};
pub use permission::{PermissionError, PermissionRequest, PermissionSource, Permissions};
pub use question::{QuestionError, QuestionRequest, Questions};
pub use registry::{Contributions, Registration, RegistrationError, Registry, ToolDefinition};
pub use search::{SearchProvider, SearchService, SearchServices};
pub use settlement::{INTERRUPTED, Settlement};
pub use shell::Shell;
pub use skill::Skills;
pub use task::{TaskError, TaskOutcome, TaskRequest, Tasks};
pub use todo::{Todos, TodosError};
pub use tool::{Commitment, Tool, ToolContext, ToolFailure, ToolOutput};
pub use typed::TypedTool;
pub use web::{Web, WebError, WebRequest, WebResponse};
