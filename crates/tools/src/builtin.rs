//! The tools every host has.

mod blocking;
mod file_uri;
mod mime;
mod paths;
mod read;
mod unavailable;

use std::sync::Arc;

use crate::{tool::Tool, typed::TypedTool};

/// All built-in tools under their names, in the order they are advertised, which is alphabetical.
#[must_use]
pub fn built_in_tools() -> Vec<(String, Arc<dyn Tool>)> {
    let mut tools = unavailable::tools();
    tools.push(("read".to_owned(), read::Read.into_tool()));
    tools.sort_by(|(left, _), (right, _)| left.cmp(right));
    tools
}
