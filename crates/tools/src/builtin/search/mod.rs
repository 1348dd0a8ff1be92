//! Common parts of `glob` and `grep`: the location of the search, the selection of results, and the
//! names of results.

mod first_by_path;
mod pattern;

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

use super::{
    blocking::blocking,
    paths::{Found, Usage, locate_with_permission, require},
};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::failure::ToolFailure;

pub(super) use first_by_path::{First, FirstByPath, MAX_BYTES, MAX_RESULTS};
pub(super) use pattern::{Places, Plan};

/// Parameters of a search, except the pattern matching itself.
pub(super) struct Search<'a> {
    /// The action for the permission.
    pub(super) action: &'static str,
    /// The pattern, as the model wrote it.
    pub(super) pattern: &'a str,
    /// The path to search. The default is the root of the Location.
    pub(super) path: Option<&'a str>,
    /// The pattern of the files to search. `None` if all are searched.
    pub(super) files: Option<&'a str>,
    /// The kinds of entries that can be searched.
    pub(super) kinds: &'static [Found],
    /// More data for the user who decides. Absent values are left out.
    pub(super) metadata: Vec<(&'static str, Option<Value>)>,
    /// The tool's generic error text.
    pub(super) refused: &'a str,
}

/// A place that the call may search.
pub(super) struct Place {
    pub(super) target: Target,
    plan: Plan,
    /// True if the place is a single file.
    pub(super) is_file: bool,
}

impl Search<'_> {
    /// Finds the place to search and asks for permission to search there.
    pub(super) async fn begin(&self, context: &ToolContext) -> Result<Place, ToolFailure> {
        let mut target = self.locate(context, self.path.unwrap_or_default()).await?;
        let plan = self.plan(context, &target).await?;
        if let Some(path) = &plan.path {
            target = self.locate(context, path).await?;
        }
        let mut request = context.permission_request(self.action, vec![self.pattern.to_owned()]);
        request.save.push("*".to_owned());
        for (name, value) in self.metadata.clone() {
            request
                .metadata
                .extend(value.map(|value| (name.to_owned(), value)));
        }
        context.assert(request, self.refused).await?;
        let path = target.canonical.clone();
        let is_file = blocking(move || Found::at(&path) == Found::File).await?;
        Ok(Place {
            target,
            plan,
            is_file,
        })
    }

    /// Searches a place on a thread that may block. The error of `work` is the end of a sentence.
    pub(super) async fn run(
        self,
        place: Place,
        work: impl FnOnce(&Target, &Plan) -> Result<ToolOutput, String> + Send + 'static,
    ) -> Result<ToolOutput, ToolFailure> {
        let permit = walk::permit().await.ok_or(ToolFailure::Interrupted)?;
        let output = blocking(move || {
            let _permit = permit;
            if !place.target.still_resolves() {
                return Err("its path changed while a permission was requested".to_owned());
            }
            work(&place.target, &place.plan)
        });
        output.await?.map_err(|reason| self.failed(&reason))
    }

    async fn locate(&self, context: &ToolContext, path: &str) -> Result<Target, ToolFailure> {
        let (kind, usage) = (TargetKind::Directory, Usage::Reading);
        let target = match path {
            "" => locate_with_permission(context, path, kind, usage, self.refused).await?,
            path => {
                let refused = format!("{}: {path}", self.refused);
                let target = locate_with_permission(context, path, kind, usage, &refused).await?;
                require(context, &target, self.kinds, &refused).await?;
                target
            }
        };
        Ok(target)
    }

    async fn plan(&self, context: &ToolContext, target: &Target) -> Result<Plan, ToolFailure> {
        let Some(pattern) = self.files else {
            return Ok(Plan::default());
        };
        let (location, home) = (
            Arc::clone(&context.files.directory),
            Arc::clone(&context.files.home),
        );
        let named = location.join(self.path.unwrap_or_default());
        let (pattern, root) = (pattern.to_owned(), target.canonical.clone());
        let plan = blocking(move || {
            let real = location
                .canonicalize()
                .unwrap_or_else(|_| location.to_path_buf());
            Plan::of(
                &pattern,
                &Places {
                    location: [&location, &real],
                    root: [&named, &root],
                    home: &home,
                },
            )
        });
        plan.await?.map_err(|reason| self.failed(&reason))
    }

    fn failed(&self, reason: &str) -> ToolFailure {
        ToolFailure::new(format!("{}: {reason}", self.refused))
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

/// The reason if results cannot be written as JSON.
pub(super) const NOT_JSON: &str = "the results cannot be written as JSON";

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
