//! The `grep` tool: finds lines that match a regular expression.

mod lines;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use ignore::WalkState;
use opencode_location::{
    directory::Target,
    files::{
        opening::{Directory, open_file},
        walk,
    },
};
use opencode_schema::{
    file_system::{FileSystemEntry, FileSystemEntryType},
    message::ToolContent,
};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{
    blocking::blocking,
    paths::Found,
    reasons::of_io,
    search::{
        First, FirstByPath, MAX_RESULTS, NOT_JSON, Names, Plan, Search, into_inner, more, with,
    },
    shown::{ShownFiles, request_to_show},
};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use lines::{Line, Reader};

pub(super) struct Grep;

#[derive(Deserialize, JsonSchema)]
pub(super) struct GrepInput {
    #[schemars(description = "Regular expression in the syntax of Rust, for example fn\\s+main.")]
    pattern: String,
    #[schemars(description = "Directory or file to search, the working directory if left out.")]
    path: Option<String>,
    #[schemars(description = "Pattern of the files to search, for example *.{ts,tsx}.")]
    include: Option<String>,
    #[schemars(description = "Number of lines to return, 10000 at most.")]
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

impl TypedTool for Grep {
    type Input = GrepInput;
    type Port = ();

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: GrepInput,
        context: ToolContext,
        (): (),
    ) -> Result<ToolOutput, ToolFailure> {
        let refused = format!("Unable to grep for {}", input.pattern);
        let pattern = input.pattern.clone();
        let matcher = blocking(move || matcher(&pattern)).await?;
        let matcher = matcher.map_err(|reason| ToolFailure::new(format!("{refused}: {reason}")))?;
        let search = Search {
            action: "grep",
            pattern: &input.pattern,
            path: input.path.as_deref(),
            files: input
                .include
                .as_deref()
                .filter(|include| !include.is_empty()),
            kinds: &[Found::File, Found::Directory],
            metadata: vec![
                ("root", Some(".".into())),
                ("path", input.path.as_deref().map(Into::into)),
                ("include", input.include.as_deref().map(Into::into)),
                ("limit", input.limit.map(Into::into)),
            ],
            refused: &refused,
        };
        let (cancel, location) = (context.cancel.clone(), Arc::clone(&context.files.directory));
        let limit = input.limit;
        let place = search.begin(&context).await?;
        let is_file = place.is_file;
        if is_file {
            let request = request_to_show(&context, &place.target).await?;
            context.assert(request, &refused).await?;
        }
        let shown = ShownFiles::below(&context, &place.target).await;
        let work = move |target: &Target, plan: &Plan| {
            let place = &target.canonical;
            let found = if is_file {
                grep_file(place, &matcher, limit, &cancel)?
            } else {
                grep(place, &matcher, plan, &shown, limit, &cancel)?
            };
            output(found, &shown.left_out(), &Names::new(location, target))
        };
        search.run(place, work).await
    }
}

const DESCRIPTION: &str = "\
Find lines of files by a regular expression. Returns them with their numbers, sorted by path.

The expression is matched within single lines and respects case; begin it with `(?i)` to disregard \
case. Look-around and back-references are not supported. Braces, brackets and the like have to be \
escaped to be found literally.

Files that permission rules do not let you read are left out; the result tells how many. \
Hidden files are searched. Ignored files are searched only if `include` fits them or `path` is the \
file itself. Binary files and `.git` are left out, symbolic links are not followed. A relative path \
starts at the working directory and must stay inside it; an absolute one elsewhere is possible, but \
the user is asked first. Lines of more than 2000 characters are cut; at most 10000 lines are returned.";

/// The lines that were found, and where.
struct Searched {
    first: First<Line>,
    /// Number of files that were read.
    files: usize,
}

/// Returns the lines of one file. An error is the end of a sentence.
fn grep_file(
    file: &Path,
    matcher: &RegexMatcher,
    limit: Option<usize>,
    cancel: &CancellationToken,
) -> Result<Searched, String> {
    let most = limit.unwrap_or(MAX_RESULTS).min(MAX_RESULTS);
    let mut found = FirstByPath::new(most);
    let file = open_file(file).map_err(|error| of_io(&error))?;
    let lines = Reader::new(matcher, most, cancel).read(file, &[]);
    lines.add_to(&mut found, Vec::new());
    Ok(searched(found, 1, limit))
}

/// Returns the lines of all files below the directory that may be shown. An error is the end of a sentence.
fn grep(
    place: &Path,
    matcher: &RegexMatcher,
    plan: &Plan,
    shown: &ShownFiles,
    limit: Option<usize>,
    cancel: &CancellationToken,
) -> Result<Searched, String> {
    let most = limit.unwrap_or(MAX_RESULTS).min(MAX_RESULTS);
    let found = Mutex::new(FirstByPath::new(most));
    let files = AtomicUsize::new(0);
    let reader = Reader::new(matcher, most, cancel);
    let directory = Directory::open(place).map_err(|error| of_io(&error))?;
    let mut walk = walk::below(place).map_err(|error| of_io(&error))?;
    walk.hidden(false);
    walk.overrides(plan.rules(place)?);
    walk::run(&walk, place, cancel, || {
        let (mut reader, mut directory) = (reader.clone(), directory.clone());
        let (found, files) = (&found, &files);
        move |path: &Path, entry: walk::Entry| {
            let key = walk::sort_key(path);
            if entry.kind == FileSystemEntryType::File
                && shown.allows(path)
                && with(found, |found| found.wants(&key))
                && let Ok(file) = directory.open_file(path, entry.inode)
                && shown.allows_open(&file)
            {
                files.fetch_add(1, Ordering::Relaxed);
                let lines = reader.read(file, &key);
                with(found, |found| lines.add_to(found, key));
            }
            WalkState::Continue
        }
    });
    Ok(searched(into_inner(found), files.into_inner(), limit))
}

fn searched(found: FirstByPath<Line>, files: usize, limit: Option<usize>) -> Searched {
    let mut first = found.finish();
    first.is_cut &= limit.is_none_or(|limit| first.count < limit);
    Searched { first, files }
}

/// Compiles the expression. Its compiled size is limited. An error is the end of a sentence.
fn matcher(pattern: &str) -> Result<RegexMatcher, String> {
    let matcher = RegexMatcherBuilder::new()
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .ban_byte(Some(0))
        .size_limit(MAX_EXPRESSION_BYTES)
        .dfa_size_limit(MAX_CACHE_BYTES)
        .build(pattern);
    matcher.map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::NotAllowed(_) => {
                " An expression is matched within single lines: search for a part of one line"
            }
            ErrorKind::Regex(reason) if reason.contains("look-around") => {
                " Search without the condition, and check the lines around"
            }
            ErrorKind::Regex(_) => " A backslash before a character means the character itself",
            _ => "",
        };
        format!("{error}.{hint}")
    })
}

const MAX_EXPRESSION_BYTES: usize = 10 * 1024 * 1024;

const MAX_CACHE_BYTES: usize = 32 * 1024 * 1024;

/// A line in the structured output for programs.
#[derive(Serialize)]
struct Match<'a> {
    entry: FileSystemEntry,
    #[serde(flatten)]
    line: &'a Line,
}

fn output(searched: Searched, left_out: &str, names: &Names) -> Result<ToolOutput, String> {
    let Searched { first, files } = searched;
    let mut matches = Vec::with_capacity(first.count);
    let mut text = match first.count {
        0 if first.is_cut || files == 0 && !left_out.is_empty() => "No matches found".to_owned(),
        0 => no_matches(files),
        count => format!("Found {count} matches"),
    };
    for (index, (path, lines)) in first.found.iter().enumerate() {
        let path = names.path(path);
        let separator = if index == 0 { "\n" } else { "\n\n" };
        text.extend([separator, &names.shown(&path), ":"]);
        for line in lines {
            text.push_str(&line.shown());
            matches.push(Match {
                entry: FileSystemEntry {
                    path: path.clone(),
                    r#type: FileSystemEntryType::File,
                },
                line,
            });
        }
    }
    if first.is_cut && first.count > 0 {
        text.push_str(&more(first.count));
    }
    text.push_str(left_out);
    let output = ToolOutput::encode(&matches).map_err(|_| NOT_JSON)?;
    Ok(output.with_content(vec![ToolContent::Text { text }]))
}

fn no_matches(files: usize) -> String {
    match files {
        0 => {
            "No matches found, because no file was searched: none is there, or `include` fits none"
                .to_owned()
        }
        1 => "No matches found in 1 file".to_owned(),
        files => format!("No matches found in {files} files"),
    }
}
