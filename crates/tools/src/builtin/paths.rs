//! From a path the model wrote to a target the call may ask about.

use std::{path::Path, sync::Arc};

use opencode_handles::{is_open_database, refuse_database};
use opencode_location::containment::{ContainmentError, Target, TargetKind, resolve};

use super::blocking::blocking;
use crate::contract::tool::ToolContext;
use crate::failure::ToolFailure;

/// Resolves a path; outside the Location it also asks for the directory. `refused` is the tool's
/// generic failure text.
pub(crate) async fn approach(
    context: &ToolContext,
    path: &str,
    kind: TargetKind,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let target = locate(context, path, kind, refused).await?;
    if let Some(pattern) = &target.external_directory {
        ask_outside(context, pattern, refused).await?;
    }
    Ok(target)
}

/// Resolves a path. The failure is `refused` and no more: what exactly is wrong with a path would
/// tell about files outside.
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

/// Resolves the path of a file that is to be changed. Managed Tool Output Files belong to the
/// runtime: tools may read them, and nobody is asked about more.
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
        // There is no such directory yet.
        |_| file.starts_with(directory),
        |target| target.external_directory.is_none(),
    )
}

/// Resolves the path of a file that is to be changed; outside the Location it also asks for the
/// directory.
pub(crate) async fn approach_to_change(
    context: &ToolContext,
    path: &str,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let target = locate_to_change(context, path, refused).await?;
    if let Some(pattern) = &target.external_directory {
        ask_outside(context, pattern, refused).await?;
    }
    Ok(target)
}

/// Asks for a directory outside the Location, by the pattern of what is in it.
pub(crate) async fn ask_outside(
    context: &ToolContext,
    pattern: &str,
    refused: &str,
) -> Result<(), ToolFailure> {
    let mut request = context.permission_request("external_directory", vec![pattern.to_owned()]);
    // A directory with a wildcard in its own name would be saved as a rule for many others.
    if pattern.matches(['*', '?']).count() == 1 {
        request.save.push(pattern.to_owned());
    }
    context.assert(request, refused).await
}

/// Asks to change files.
pub(crate) async fn ask_to_edit(
    context: &ToolContext,
    resources: Vec<String>,
    refused: &str,
) -> Result<(), ToolFailure> {
    let mut request = context.permission_request("edit", resources);
    request.save.push("*".to_owned());
    context.assert(request, refused).await
}
