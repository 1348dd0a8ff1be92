//! The tools every host has.

mod apply_patch;
mod blocking;
mod diff;
mod edit;
mod file_uri;
mod glob;
mod grep;
mod mutation;
mod paths;
mod place;
mod question;
mod read;
mod search;
mod skill;
mod text;
mod unavailable;
mod write;

use std::sync::Arc;

use crate::{tool::Tool, typed::TypedTool};

/// All built-in tools under their names, in the order they are advertised, which is alphabetical.
#[must_use]
pub fn built_in_tools() -> Vec<(String, Arc<dyn Tool>)> {
    let mut tools = unavailable::tools();
    tools.push((
        "apply_patch".to_owned(),
        apply_patch::ApplyPatch.into_tool(),
    ));
    tools.push(("edit".to_owned(), edit::Edit.into_tool()));
    tools.push(("glob".to_owned(), glob::Glob.into_tool()));
    tools.push(("grep".to_owned(), grep::Grep.into_tool()));
    tools.push(("question".to_owned(), question::Question.into_tool()));
    tools.push(("read".to_owned(), read::Read.into_tool()));
    tools.push(("skill".to_owned(), skill::Skill.into_tool()));
    tools.push(("write".to_owned(), write::Write.into_tool()));
    tools.sort_by(|(left, _), (right, _)| left.cmp(right));
    tools
}
