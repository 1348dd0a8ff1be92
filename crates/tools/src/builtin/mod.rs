//! The tools that every host has.

mod apply_patch;
mod bash;
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
mod reasons;
#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;
mod search;
mod shown;
mod skill;
mod task;
mod text;
mod todowrite;
mod webfetch;
mod websearch;
mod write;

use std::sync::Arc;

use opencode_net::Web;
use opencode_schema::clock::Clock;

pub use self::bash::{ScriptEnd, ScriptOutput, ScriptRequest, run_script};
pub use self::read::{Attachment, AttachmentError, AttachmentRequest, Lines, read_attachment};
use crate::contract::tool::Tool;
use crate::contract::typed::TypedTool;
use crate::ports::search::SearchServices;

/// Returns all built-in tools with their names, in the alphabetical order in which they are advertised. `webfetch` and
/// `websearch` send their requests through `web`. The description of `websearch` contains the current year.
#[must_use]
pub fn built_in_tools(
    clock: &dyn Clock,
    web: &Arc<dyn Web>,
    search: SearchServices,
) -> Vec<(String, Arc<dyn Tool>)> {
    let web_fetch = webfetch::WebFetch::new(Arc::clone(web));
    let web_search = websearch::WebSearch::new(clock, Arc::clone(web), search);
    let tools = [
        ("apply_patch", apply_patch::ApplyPatch.into_tool()),
        ("bash", bash::Bash::default().into_tool()),
        ("edit", edit::Edit.into_tool()),
        ("glob", glob::Glob.into_tool()),
        ("grep", grep::Grep.into_tool()),
        ("question", question::Question.into_tool()),
        ("read", read::Read.into_tool()),
        ("skill", skill::Skill.into_tool()),
        ("task", task::Task.into_tool()),
        ("todowrite", todowrite::TodoWrite.into_tool()),
        ("webfetch", web_fetch.into_tool()),
        ("websearch", web_search.into_tool()),
        ("write", write::Write.into_tool()),
    ];
    tools.map(|(name, tool)| (name.to_owned(), tool)).into()
}
