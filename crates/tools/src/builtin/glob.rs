//! The `glob` tool: finds files with a path that matches a pattern.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::{
    WalkState,
    overrides::{Override, OverrideBuilder},
};
use opencode_location::{
    directory::Target,
    files::{opening::Directory, walk},
};
use opencode_schema::{
    file_system::{FileSystemEntry, FileSystemEntryType},
    message::ToolContent,
};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::search::{First, FirstByPath, MAX_RESULTS, Names, Search, into_inner, more, with};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;

pub(super) struct Glob;

#[derive(Deserialize, JsonSchema)]
pub(super) struct GlobInput {
    #[schemars(
        description = "Pattern of paths below the searched directory, for example **/*.rs."
    )]
    pattern: String,
    #[schemars(description = "Directory to search, the working directory if left out.")]
    path: Option<String>,
    #[schemars(description = "Number of files to return, 10000 at most.")]
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

impl TypedTool for Glob {
    type Input = GlobInput;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(&self, input: GlobInput, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let refused = format!("Unable to find files matching {}", input.pattern);
        let search = Search {
            action: "glob",
            pattern: &input.pattern,
            path: input.path.as_deref(),
            metadata: vec![
                ("root", Some(input.path.as_deref().unwrap_or(".").into())),
                ("path", input.path.as_deref().map(Into::into)),
                ("limit", input.limit.map(Into::into)),
            ],
            refused: &refused,
        };
        let (cancel, location) = (context.cancel.clone(), Arc::clone(&context.directory));
        let (pattern, limit) = (input.pattern.clone(), input.limit);
        let work = move |target: &Target| {
            let first = find(&target.canonical, &pattern, limit, &cancel)?;
            output(first, &Names::new(location, target))
        };
        search.run(&context, work).await
    }
}

const DESCRIPTION: &str = "\
Find files by a pattern of their path. Returns absolute paths, sorted; directories are not returned.

`*` stands for anything within a name, `**` for any number of directories, `?` for one character, \
`{a,b}` for either, `[a-z]` for one of several characters. A pattern without a slash fits names in \
any directory. One that begins with `!` finds what does not fit the rest.

Ignored and hidden files are found only if the pattern itself names them, as `.*` does; nothing is \
found in `.git`. Symbolic links are not followed. A relative path starts at the working directory and \
must stay inside it; an absolute one elsewhere is possible, but the user is asked first. At most \
10000 files are returned.";

/// Returns the files below `root` that match, or `None` if `root` is not a directory.
fn find(
    root: &Path,
    pattern: &str,
    limit: Option<usize>,
    cancel: &CancellationToken,
) -> Option<First<PathBuf>> {
    let mut directory = Directory::open(root).ok()?;
    let found = Mutex::new(FirstByPath::new(
        limit.unwrap_or(MAX_RESULTS).min(MAX_RESULTS),
    ));
    // An invalid pattern matches nothing.
    if let Ok(rules_of) = rules_of(root, pattern) {
        let mut walk = walk::below(root).ok()?;
        walk.overrides(rules_of);
        walk::run(&walk, root, cancel, || {
            |path: &Path, entry: walk::Entry| {
                if entry.kind == FileSystemEntryType::File {
                    let (key, bytes) = (walk::sort_key(path), path.as_os_str().len());
                    with(&found, |found| {
                        if found.wants(&key) {
                            found.add(key, vec![path.to_owned()], bytes, false);
                        }
                    });
                }
                WalkState::Continue
            }
        });
    }
    let mut first = into_inner(found).finish();
    // A link may have led the walk out of the directory, so all results are checked again.
    first
        .found
        .retain(|(_, paths)| paths.iter().all(|path| directory.kind(path).is_some()));
    first.count = first.found.len();
    first.is_cut &= limit.is_none_or(|limit| first.count < limit);
    Some(first)
}

/// Returns the rules of a pattern below `root`.
pub(super) fn rules_of(root: &Path, pattern: &str) -> Result<Override, ignore::Error> {
    let mut rules = OverrideBuilder::new(root);
    rules.add(pattern)?.add("!**/.git/**")?.build()
}

fn output(first: First<PathBuf>, names: &Names) -> Option<ToolOutput> {
    let entries = first.found.iter().map(|(path, _)| FileSystemEntry {
        path: names.path(path),
        r#type: FileSystemEntryType::File,
    });
    let entries: Vec<_> = entries.collect();
    let lines: Vec<_> = entries
        .iter()
        .map(|entry| names.shown(&entry.path))
        .collect();
    let mut text = lines.join("\n");
    if lines.is_empty() {
        text.push_str("No files found");
    } else if first.is_cut {
        text.push_str(&more(first.count));
    }
    let output = ToolOutput::encode(&entries).ok()?;
    Some(output.with_content(vec![ToolContent::Text { text }]))
}
