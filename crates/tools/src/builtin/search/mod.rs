//! Common parts of `glob` and `grep`: the location of the search, the selection of results, and the
//! names of results.

mod first_by_path;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use opencode_location::{
    directory::{Target, TargetKind},
    files::walk,
};
use parking_lot::Mutex;
use serde_json::Value;

use super::{blocking::blocking, paths::locate_with_permission};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::failure::ToolFailure;

pub(super) use first_by_path::{First, FirstByPath, MAX_BYTES, MAX_RESULTS};

/// Parameters of a search, except the pattern matching itself.
pub(super) struct Search<'a> {
    /// The action for the permission.
    pub(super) action: &'static str,
    /// The pattern, as the model wrote it.
    pub(super) pattern: &'a str,
    /// The path to search. The default is the root of the Location.
    pub(super) path: Option<&'a str>,
    /// More data for the user who decides. Absent values are left out.
    pub(super) metadata: Vec<(&'static str, Option<Value>)>,
    /// The tool's generic error text.
    pub(super) refused: &'a str,
}

impl Search<'_> {
    /// Asks for permission to search, and then searches on a thread that may block.
    pub(super) async fn run(
        self,
        context: &ToolContext,
        work: impl FnOnce(&Target) -> Option<ToolOutput> + Send + 'static,
    ) -> Result<ToolOutput, ToolFailure> {
        let path = self.path.unwrap_or_default();
        let target =
            locate_with_permission(context, path, TargetKind::Directory, self.refused).await?;
        let mut request = context.permission_request(self.action, vec![self.pattern.to_owned()]);
        request.save.push("*".to_owned());
        for (name, value) in self.metadata {
            request
                .metadata
                .extend(value.map(|value| (name.to_owned(), value)));
        }
        context.assert(request, self.refused).await?;
        let refused = || ToolFailure::new(self.refused);
        let permit = walk::permit().await.ok_or_else(refused)?;
        let output = blocking(move || {
            let _permit = permit;
            work(&target)
        });
        output.await?.ok_or_else(refused)
    }
}

/// Formats the paths of results.
pub(super) struct Names {
    location: Arc<Path>,
    /// The root of the search: a path relative to the Location, or an absolute path outside of it.
    base: String,
}

impl Names {
    pub(super) fn new(location: Arc<Path>, target: &Target) -> Self {
        Self {
            location,
            base: match target.resource.as_str() {
                "." => String::new(),
                resource => resource.to_owned(),
            },
        }
    }

    /// Returns the path of a result for programs: relative to the Location, or absolute outside of it.
    pub(super) fn path(&self, found: &[u8]) -> String {
        let found = String::from_utf8_lossy(found);
        if self.base.is_empty() || found.is_empty() {
            return format!("{}{found}", self.base);
        }
        let base = self.base.strip_suffix('/').unwrap_or(&self.base);
        format!("{base}/{found}")
    }

    /// Returns the same path for the model: absolute, and as JSON if it contains control characters,
    /// because they could look like the end of the line.
    pub(super) fn shown(&self, path: &str) -> String {
        let absolute: PathBuf = self.location.join(path);
        let absolute = absolute.to_string_lossy();
        if absolute.contains(char::is_control) {
            Value::from(absolute).to_string()
        } else {
            absolute.into_owned()
        }
    }
}

/// Returns the message to the model that there are more results.
pub(super) fn more(given: usize) -> String {
    format!(
        "\n\n(Only the first {given} results by path are given. Narrow the search to see others.)"
    )
}

/// Returns the results of all threads after they have ended.
pub(super) fn into_inner<T>(shared: Mutex<T>) -> T {
    shared.into_inner()
}

/// Changes the shared results of several threads. A panic of a thread ends the call anyway.
pub(super) fn with<T, R>(shared: &Mutex<T>, change: impl FnOnce(&mut T) -> R) -> R {
    change(&mut shared.lock())
}
