//! Tools: what a model may ask the runtime to do, from the advertised definition to the settled
//! result.
//!
//! A [`Tool`] is a value with one executor and no name. A [`Registry`] knows which tools a Location
//! has at this moment, [`Registry::materialize`] fixes what one Provider Turn advertises, and
//! [`Materialized::settle`] turns each call of that turn into exactly one [`Settlement`], whatever
//! the tool does: fail, panic, never end, or answer with a gigabyte.
//!
//! This crate knows no session, event, provider or database. It does not decide permissions either:
//! a tool asks [`Permissions`] before it acts, [`Questions`] for what people want and [`Skills`] for
//! their texts, notes in [`Todos`] what is still to be done, gives [`Tasks`] away and reaches servers
//! by the [`Web`], and somebody else answers.
//!
//! To read it, follow a call: `registry`, `materialized`, `tool`, then `managed_output`, where
//! every settlement is bounded. `builtin` holds the tools themselves; `typed` and `input` are what
//! they declare their parameters with.

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
