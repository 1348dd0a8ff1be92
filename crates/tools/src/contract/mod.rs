//! The interface of a tool: its declared input, its context, its output.

pub(crate) mod folders;
pub(crate) mod hooks;
pub(crate) mod input_schema;
pub(crate) mod output_owner;
pub(crate) mod tool;
pub(crate) mod turn;
pub(crate) mod typed;
