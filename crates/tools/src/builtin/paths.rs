//! From a path the model wrote to a target the call may ask about.

use std::sync::Arc;

use opencode_location::containment::{Target, TargetKind, resolve};

use super::blocking::blocking;
use crate::tool::{ToolContext, ToolFailure};

/// Resolves a path; outside the Location it also asks for the directory. `refused` is the tool's
/// generic failure text: what exactly is wrong with a path would tell about files outside.
pub(crate) async fn approach(
    context: &ToolContext,
    path: &str,
    kind: TargetKind,
    refused: &str,
) -> Result<Target, ToolFailure> {
    let location = Arc::clone(&context.directory);
    let input = path.to_owned();
    let target = blocking(move || resolve(&location, &input, kind)).await?;
    let target = target.map_err(|error| {
        tracing::debug!(%error, "a path was refused");
        ToolFailure::new(refused)
    })?;
    if let Some(pattern) = &target.external_directory {
        let mut request = context.permission_request("external_directory", vec![pattern.clone()]);
        // A directory with a wildcard in its own name would be saved as a rule for many others.
        if pattern.matches(['*', '?']).count() == 1 {
            request.save.push(pattern.clone());
        }
        context.assert(request, refused).await?;
    }
    Ok(target)
}
