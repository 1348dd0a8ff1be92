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
//! - `ports`: traits through which a tool reaches what the host supplies.
//! - `contract`: the interface of a tool.
//! - `output`: settlements, bounded by `bounding` and kept in Managed Tool Output Files.
//! - `registry`: the tools of a Location, and the calls of one Provider Turn.
//! - `builtin`: the tools that every host has.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod bounding;
mod builtin;
mod contract;
mod failure;
mod output;
mod ports;
mod registry;

pub use bounding::OutputLimits;
pub use builtin::built_in_tools;
pub use contract::input::{Field, Object, Schema};
pub use contract::tool::{Commitment, Tool, ToolContext, ToolOutput};
pub use contract::typed::TypedTool;
pub use failure::ToolFailure;
pub use output::managed_output::{ManagedOutput, sweep_managed_output};
pub use output::settlement::{INTERRUPTED, Settlement};
pub use ports::permission::{PermissionError, PermissionRequest, PermissionSource, Permissions};
pub use ports::question::{QuestionError, QuestionRequest, Questions};
pub use ports::search::{SearchProvider, SearchService, SearchServices};
pub use ports::shell::Shell;
pub use ports::skill::Skills;
pub use ports::task::{TaskError, TaskOutcome, TaskRequest, Tasks};
pub use ports::todo::{Todos, TodosError};
pub use ports::web::{Web, WebError, WebRequest, WebResponse};
pub use registry::materialized::{Materialized, ToolCall};
pub use registry::{Contributions, Registration, RegistrationError, Registry, ToolDefinition};
