//! Resolves a path of the model to a target for which the call may ask permission.

use std::{collections::btree_map::Entry, path::Path, sync::Arc};

use opencode_handles::{is_open_database, refuse_database};
use opencode_location::directory::{ContainmentError, Target, TargetKind, resolve};

use super::blocking::blocking;
use crate::contract::tool::ToolContext;
use crate::failure::ToolFailure;
use crate::ports::permission::PermissionRequest;

/// Resolves a path. For a path outside the Location, also asks for permission to use its directory.
/// `refused` is the tool's generic error text.
pub(crate) async fn locate_with_permission(
    context: &ToolContext,
    path: &str,
    kind: TargetKind,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let target = locate(context, path, kind, refused).await?;
    ask_outside(context, &target, refused).await?;
    Ok(target)
}

/// Resolves a path. The error text is only `refused`, because details about a path would reveal facts
/// about files outside.
pub(crate) async fn locate(
    context: &ToolContext,
    path: &str,
    kind: TargetKind,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let location = Arc::clone(&context.directory);
    let input = path.to_owned();
    let found = move || {
        let target = resolve(&location, &input, kind)?;
        let found = target.canonical.metadata();
        let database = found.and_then(|found| refuse_database(&found)).err();
        Ok((target, database.filter(is_open_database)))
    };
    let found = blocking(found).await?;
    let (target, database) = found.map_err(|error: ContainmentError| {
        tracing::debug!(%error, "a path was refused");
        ToolFailure::new(refused)
    })?;
    match database {
        None => Ok(target),
        Some(error) => Err(ToolFailure::new(format!("{refused}: {error}"))),
    }
}

/// Resolves the path of a file to change. Managed Tool Output Files belong to the runtime: tools may
/// read them, but a change is refused without a question to the user.
pub(crate) async fn locate_to_change(
    context: &ToolContext,
    path: &str,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let target = locate(context, path, TargetKind::File, refused).await?;
    let (file, managed) = (
        target.canonical.clone(),
        Arc::clone(&context.managed_output),
    );
    if blocking(move || is_within(&file, &managed)).await? {
        return Err(ToolFailure::new(refused));
    }
    Ok(target)
}

fn is_within(file: &Path, directory: &Path) -> bool {
    let resolved = resolve(directory, &file.to_string_lossy(), TargetKind::File);
    resolved.map_or_else(
        // The directory does not exist yet.
        |_| file.starts_with(directory),
        |target| target.external_directory.is_none(),
    )
}

/// Resolves the path of a file to change. For a path outside the Location, also asks for permission to
/// use its directory.
pub(crate) async fn locate_to_change_with_permission(
    context: &ToolContext,
    path: &str,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let target = locate_to_change(context, path, refused).await?;
    ask_outside(context, &target, refused).await?;
    Ok(target)
}

/// Asks for permission to use the directory of a target, if it is outside the Location.
pub(crate) async fn ask_outside(
    context: &ToolContext,
    target: &Target,
    refused: &str,
) -> Result<(), ToolFailure> {
    let Some(pattern) = &target.external_directory else {
        return Ok(());
    };
    let mut request = context.permission_request("external_directory", vec![pattern.clone()]);
    let others = target.other_external_directories.clone();
    request.other_names.insert(pattern.clone(), others);
    // If the name of the directory itself contains a wildcard, the saved rule would match many other
    // directories.
    if pattern.matches(['*', '?']).count() == 1 {
        request.save.push(pattern.clone());
    }
    context.assert(request, refused).await
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

/// Asks for permission to change files.
pub(crate) async fn ask_to_edit<'a>(
    context: &ToolContext,
    targets: impl IntoIterator<Item = &'a Target>,
    refused: &str,
) -> Result<(), ToolFailure> {
    let request = request_for_files(context, "edit", targets);
    context.assert(request, refused).await
}
