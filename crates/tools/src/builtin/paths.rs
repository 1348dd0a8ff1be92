//! Resolves a path of the model to a target for which the call may ask permission, and tells the model why a path cannot
//! be used.
//!
//! A reason never tells more than the rules let the model read: a path that may not be read has the same answer whether
//! it exists or not.

use std::{
    collections::btree_map::Entry,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use opencode_handles::{is_open_database, refuse_database};
use opencode_location::directory::{
    ContainmentError, Purpose, Target, TargetKind, resolve, resolve_meant, similar_names,
};

use super::blocking::blocking;
use crate::contract::folders::SharedFolder;
use crate::contract::tool::ToolContext;
use crate::failure::ToolFailure;
use crate::ports::permission::{PermissionError, PermissionRequest};

/// Maximum number of similar names that the model reads.
const MAX_SIMILAR: usize = 3;

/// Maximum number of similar names that are checked against the rules.
const MAX_CHECKED: usize = 10;

/// Resolves a path to an entry that should exist. For a path outside the Location, also asks for permission to use its
/// directory. `refused` is the tool's generic error text.
pub(crate) async fn locate_with_permission(
    context: &ToolContext,
    path: &str,
    kind: TargetKind,
    usage: Usage,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let (target, ()) = locate(context, path, kind, Purpose::Existing, refused, |_| ()).await?;
    ask_outside(context, &target, usage, refused).await?;
    Ok(target)
}

/// Does the same, and calls `look` with the target on a thread that may block. One step of that thread resolves the path
/// and looks, unless the user was asked: a question may wait for hours.
pub(crate) async fn locate_and_look<T: Send + 'static>(
    context: &ToolContext,
    path: &str,
    kind: TargetKind,
    usage: Usage,
    refused: &str,
    look: impl Fn(&Target) -> T + Clone + Send + 'static,
) -> Result<(Target, T), ToolFailure> {
    let located = locate(
        context,
        path,
        kind,
        Purpose::Existing,
        refused,
        look.clone(),
    )
    .await?;
    let (target, _) = &located;
    if target.external_directory.is_none() {
        return Ok(located);
    }
    ask_outside(context, target, usage, refused).await?;
    let (target, _) = located;
    blocking(move || {
        let seen = look(&target);
        (target, seen)
    })
    .await
}

/// The use of a path outside the Location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// A file is read or searched.
    Reading,
    /// A file is changed, or a program runs in a directory.
    Changing,
}

/// Resolves the path that the model means, and calls `look` with the target. Asks for a permission only to tell why a path
/// outside the Location cannot be used.
async fn locate<T: Send + 'static>(
    context: &ToolContext,
    path: &str,
    kind: TargetKind,
    purpose: Purpose,
    refused: &str,
    look: impl FnOnce(&Target) -> T + Send + 'static,
) -> Result<(Target, T), ToolFailure> {
    let (location, home) = (
        Arc::clone(&context.files.directory),
        Arc::clone(&context.files.home),
    );
    let input = path.to_owned();
    let found = move || {
        let target = resolve_meant(&location, &input, kind, purpose, &home)?;
        let found = target.canonical.metadata();
        let database = found.and_then(|found| refuse_database(&found)).err();
        if let Some(error) = database.filter(is_open_database) {
            return Ok(Err(error));
        }
        let seen = look(&target);
        Ok(Ok((target, seen)))
    };
    let reason = match blocking(found).await? {
        Ok(Ok(located)) => return Ok(located),
        Ok(Err(error)) => error.to_string(),
        Err(ContainmentError::Outside {
            pattern,
            other_patterns,
            reason,
        }) => {
            ask_directory(context, &pattern, other_patterns, refused).await?;
            reason.to_string()
        }
        Err(error) => {
            if let ContainmentError::Ambiguous(names) = &error {
                for name in &names.0 {
                    if !may_be_told(context, name).await? {
                        return Err(PermissionError::Blocked.into_failure(refused));
                    }
                }
            }
            error.to_string()
        }
    };
    Err(ToolFailure::new(format!("{refused}: {reason}")))
}

/// Resolves the path of a file to change. Managed Tool Output Files and downloaded copies belong to the host, and other
/// sessions use them: tools may read them, but a change is refused without a question to the user.
pub(crate) async fn locate_to_change(
    context: &ToolContext,
    path: &str,
    purpose: Purpose,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let (target, ()) = locate(context, path, TargetKind::File, purpose, refused, |_| ()).await?;
    let reason = match shared_folder(context, &target).await? {
        Some(SharedFolder::Outputs | SharedFolder::OutputOfOthers) => {
            "files with the output of tools can only be read"
        }
        Some(SharedFolder::Copy) => {
            "the host downloaded this copy for all projects, so it can only be read. Copy the file into the working \
             directory and change it there"
        }
        Some(SharedFolder::Reference) | None => return Ok(target),
    };
    Err(ToolFailure::new(format!("{refused}: {reason}")))
}

/// Returns the shared directory that contains a target.
async fn shared_folder(
    context: &ToolContext,
    target: &Target,
) -> Result<Option<SharedFolder>, ToolFailure> {
    let (folders, path) = (context.files.folders.clone(), target.canonical.clone());
    blocking(move || folders.of(&path)).await
}

/// Resolves the path of a file to change. For a path outside the Location, also asks for permission to
/// use its directory.
pub(crate) async fn locate_to_change_with_permission(
    context: &ToolContext,
    path: &str,
    purpose: Purpose,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let target = locate_to_change(context, path, purpose, refused).await?;
    ask_outside(context, &target, Usage::Changing, refused).await?;
    Ok(target)
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    File,
    Directory,
    /// For example a FIFO. It is never opened, because opening alone may wait forever.
    Other,
    Missing,
}

impl Found {
    /// Returns the kind of the entry at a path without links.
    pub(crate) fn at(path: &Path) -> Self {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => Self::File,
            Ok(found) if found.is_dir() => Self::Directory,
            Ok(_) => Self::Other,
            Err(_) => Self::Missing,
        }
    }
}

/// Fails if the target is not one of these kinds, with the reason.
pub(crate) async fn require(
    context: &ToolContext,
    target: &Target,
    kinds: &[Found],
    refused: &str,
) -> Result<(), ToolFailure> {
    let path = target.canonical.clone();
    let found = blocking(move || Found::at(&path)).await?;
    require_found(context, target, found, kinds, refused).await
}

/// Fails if what was found at the target is not one of these kinds, with the reason.
pub(crate) async fn require_found(
    context: &ToolContext,
    target: &Target,
    found: Found,
    kinds: &[Found],
    refused: &str,
) -> Result<(), ToolFailure> {
    if kinds.contains(&found) {
        return Ok(());
    }
    let reason = match found {
        Found::File => "it is a file, not a directory".to_owned(),
        Found::Directory => "it is a directory, not a file".to_owned(),
        Found::Other => "it is neither a file nor a directory".to_owned(),
        Found::Missing => missing(context, target).await?,
    };
    Err(revealed(context, target, refused, &reason).await)
}

/// Returns a failure with a reason about an entry, unless the rules do not let the model read it.
pub(crate) async fn revealed(
    context: &ToolContext,
    target: &Target,
    refused: &str,
    reason: &str,
) -> ToolFailure {
    let reading = request_for_files(context, "read", [target]);
    if context.permissions.denies(reading).await {
        return PermissionError::Blocked.into_failure(refused);
    }
    ToolFailure::new(format!("{refused}: {reason}"))
}

/// Returns what is missing of a path, with names that the model could mean.
async fn missing(context: &ToolContext, target: &Target) -> Result<String, ToolFailure> {
    let path = target.canonical.clone();
    let gap = blocking(move || Gap::in_path(&path)).await?;
    let Some(gap) = gap else {
        return Ok("there is no such file".to_owned());
    };
    let above = Path::new(&target.resource).ancestors().nth(gap.depth);
    let above = above.unwrap_or(Path::new("")).to_path_buf();
    let named = |name: &str| above.join(name).to_string_lossy().into_owned();
    let mut reason = if gap.depth == 1 {
        "there is no such file".to_owned()
    } else {
        format!("there is no directory {}", named(&gap.name))
    };
    let mut similar = Vec::new();
    for name in gap.similar.iter().take(MAX_CHECKED) {
        let resource = named(name);
        if similar.len() < MAX_SIMILAR && may_be_told(context, &resource).await? {
            similar.push(resource);
        }
    }
    if !similar.is_empty() {
        reason.push_str(&format!(". Similar names: {}", similar.join(", ")));
    }
    Ok(reason)
}

/// True if the model may read the entry with this name, by every rule about it.
async fn may_be_told(context: &ToolContext, name: &str) -> Result<bool, ToolFailure> {
    let (location, input) = (Arc::clone(&context.files.directory), name.to_owned());
    let found = blocking(move || resolve(&location, &input, TargetKind::File)).await?;
    let Ok(target) = found else { return Ok(false) };
    let reading = request_for_files(context, "read", [&target]);
    Ok(!context.permissions.denies(reading).await)
}

/// The first name of a path that does not exist.
struct Gap {
    name: String,
    /// Number of names that do not exist.
    depth: usize,
    /// Names beside it that are similar, the most similar first.
    similar: Vec<String>,
}

impl Gap {
    fn in_path(path: &Path) -> Option<Self> {
        let mut missing: Vec<PathBuf> = Vec::new();
        for ancestor in path.ancestors() {
            if Found::at(ancestor) != Found::Missing {
                let first = missing.last()?.file_name()?.to_str()?.to_owned();
                return Some(Self {
                    similar: similar_names(ancestor, &first),
                    name: first,
                    depth: missing.len(),
                });
            }
            missing.push(ancestor.to_owned());
        }
        None
    }
}

/// Asks for permission to use the directory of a target, if it is outside the Location. The built-in rules that allow
/// shared directories are for reading, and for the Managed Tool Output Files of the session tree.
pub(crate) async fn ask_outside(
    context: &ToolContext,
    target: &Target,
    usage: Usage,
    refused: &str,
) -> Result<(), ToolFailure> {
    let Some(pattern) = &target.external_directory else {
        return Ok(());
    };
    let others = target.other_external_directories.clone();
    let reason = match (shared_folder(context, target).await?, usage) {
        (None, _)
        | (
            Some(SharedFolder::Outputs | SharedFolder::Copy | SharedFolder::Reference),
            Usage::Reading,
        ) => {
            return ask_directory(context, pattern, others, refused).await;
        }
        (Some(SharedFolder::OutputOfOthers), Usage::Reading) => {
            // The directory contains the files of all sessions, so only this file is allowed.
            let reason = "This file has the output of a tool of another session.";
            return ask_shared(
                context,
                &target.resource,
                target.other_names.clone(),
                reason,
                refused,
            )
            .await;
        }
        (Some(_), Usage::Changing) => {
            "The files in this directory are shared with other sessions, and only reading is allowed without a question."
        }
    };
    ask_shared(context, pattern, others, reason, refused).await
}

/// Asks for permission to use something shared, for which the built-in rules do not count.
async fn ask_shared(
    context: &ToolContext,
    resource: &str,
    others: Vec<String>,
    reason: &str,
    refused: &str,
) -> Result<(), ToolFailure> {
    let mut request = outside_request(context, resource, others);
    request.given_only.insert(resource.to_owned());
    request.metadata.insert("reason".to_owned(), reason.into());
    context.assert(request, refused).await
}

/// Asks for permission to use a directory outside the Location. `pattern` matches the entries of the directory, and
/// `others` do so by its other names.
async fn ask_directory(
    context: &ToolContext,
    pattern: &str,
    others: Vec<String>,
    refused: &str,
) -> Result<(), ToolFailure> {
    let request = outside_request(context, pattern, others);
    context.assert(request, refused).await
}

fn outside_request(
    context: &ToolContext,
    resource: &str,
    others: Vec<String>,
) -> PermissionRequest {
    let mut request = context.permission_request("external_directory", vec![resource.to_owned()]);
    request.other_names.insert(resource.to_owned(), others);
    // If the name of the directory itself contains a wildcard, the saved rule would match many other
    // directories.
    let directory = resource.strip_suffix('*').unwrap_or(resource);
    if !directory.contains(['*', '?']) {
        request.save.push(resource.to_owned());
    }
    request
}

/// Returns a request to do something with files that the model named. "Always" covers all files.
pub(crate) fn request_for_files<'a>(
    context: &ToolContext,
    action: &str,
    targets: impl IntoIterator<Item = &'a Target>,
) -> PermissionRequest {
    let mut request = context.permission_request(action, Vec::new());
    for target in targets {
        let names = request.other_names.entry(target.resource.clone());
        if matches!(names, Entry::Vacant(_)) {
            request.resources.push(target.resource.clone());
        }
        names
            .or_default()
            .extend(target.other_names.iter().cloned());
    }
    request.save.push("*".to_owned());
    request
}

/// The reason of a question about a file that decides.
const GUARDED: &str = "This file decides what the host or Git does. The host asks each time, unless a rule of the program \
     or the user names it.";

/// Asks for permission to change files. "Always" covers no file that decides what the host or Git does.
pub(crate) async fn ask_to_edit<'a>(
    context: &ToolContext,
    targets: impl IntoIterator<Item = &'a Target>,
    refused: &str,
) -> Result<(), ToolFailure> {
    let targets: Vec<Target> = targets.into_iter().cloned().collect();
    let mut request = request_for_files(context, "edit", &targets);
    let guarded = Arc::clone(&context.files.guarded);
    let names = move || {
        let named = targets.into_iter().filter_map(|target| {
            let name = guarded.name_of(&target.canonical, &target.other_names)?;
            Some((target.resource, name))
        });
        named.collect()
    };
    request.guarded = blocking(names).await?;
    if !request.guarded.is_empty() {
        request.save.clear();
        request.metadata.insert("reason".to_owned(), GUARDED.into());
    }
    context.assert(request, refused).await
}
