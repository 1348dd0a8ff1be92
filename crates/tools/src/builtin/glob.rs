//! The `glob` tool: finds files with a path that matches a pattern.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::{WalkBuilder, WalkState};
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

use super::{
    paths::Found,
    reasons::of_io,
    search::{
        First, FirstByPath, MAX_RESULTS, NOT_JSON, Names, Plan, Search, into_inner, more, with,
    },
};
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
    type Port = ();

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: GlobInput,
        context: ToolContext,
        (): (),
    ) -> Result<ToolOutput, ToolFailure> {
        let refused = format!("Unable to find files matching {}", input.pattern);
        let search = Search {
            action: "glob",
            pattern: &input.pattern,
            path: input.path.as_deref(),
            files: Some(&input.pattern),
            kinds: &[Found::Directory],
            metadata: vec![
                ("root", Some(input.path.as_deref().unwrap_or(".").into())),
                ("path", input.path.as_deref().map(Into::into)),
                ("limit", input.limit.map(Into::into)),
            ],
            refused: &refused,
        };
        let (cancel, location) = (context.cancel.clone(), Arc::clone(&context.files.directory));
        let limit = input.limit;
        let work = move |target: &Target, plan: &Plan| {
            let first = find(&target.canonical, plan, limit, &cancel)?;
            output(first, &Names::new(location, target))
        };
        let target = search.begin(&context).await?;
        search.run(target, work).await
    }
}

const DESCRIPTION: &str = "\
Find files by a pattern of their path. Returns absolute paths, sorted; directories are not returned.

`*` stands for anything within a name, `**` for any number of directories, `?` for one character, \
`{a,b}` for either, `[a-z]` for one of several characters. A pattern without a slash fits names in \
any directory; an absolute one or one with `./` fits that path. A comma outside of braces divides \
patterns. One that begins with `!` finds what does not fit the rest.

Ignored and hidden files are found only if the pattern itself names them, as `.*` and \
`.github/**` do; nothing is found in `.git` or in an ignored directory. Symbolic links are not followed. A relative \
path starts at the working directory and must stay inside it; an absolute one elsewhere is possible, but the user is \
asked first. At most \
10000 files are returned.";

/// Returns the files below `root` that match. An error is the end of a sentence.
fn find(
    root: &Path,
    plan: &Plan,
    limit: Option<usize>,
    cancel: &CancellationToken,
) -> Result<First<PathBuf>, String> {
    let mut directory = Directory::open(root).map_err(|error| of_io(&error))?;
    let found = Mutex::new(FirstByPath::new(
        limit.unwrap_or(MAX_RESULTS).min(MAX_RESULTS),
    ));
    let mut walk = walk_of(root, plan).map_err(|error| of_io(&error))?;
    walk.overrides(plan.rules(root)?);
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
    let mut first = into_inner(found).finish();
    // A link may have led the walk out of the directory, so all results are checked again.
    first
        .found
        .retain(|(_, paths)| paths.iter().all(|path| directory.kind(path).is_some()));
    first.count = first.found.len();
    first.is_cut &= limit.is_none_or(|limit| first.count < limit);
    Ok(first)
}

/// Prepares a walk that leaves out hidden entries, except those that the patterns fit or name as parents.
fn walk_of(root: &Path, plan: &Plan) -> io::Result<WalkBuilder> {
    let (Some(parents), Ok(rules)) = (plan.hidden_parents(root), plan.rules(root)) else {
        return walk::below(root);
    };
    let mut walk = walk::below_where(root, move |path, is_directory| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        !name.starts_with(b".")
            || rules.matched(path, is_directory).is_whitelist()
            || is_directory && parents.matched(path, true).is_whitelist()
    })?;
    walk.hidden(false);
    Ok(walk)
}

fn output(first: First<PathBuf>, names: &Names) -> Result<ToolOutput, String> {
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
    let output = ToolOutput::encode(&entries).map_err(|_| NOT_JSON)?;
    Ok(output.with_content(vec![ToolContent::Text { text }]))
}
