//! What `glob` and `grep` have in common: where they search, what they keep of what they find, and how
//! it is named.

mod first_by_path;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use opencode_location::{
    containment::{Target, TargetKind},
    walk,
};
use parking_lot::Mutex;
use serde_json::Value;

use super::{blocking::blocking, paths::approach};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::failure::ToolFailure;

pub(super) use first_by_path::{First, FirstByPath, MAX_BYTES, MAX_RESULTS};

/// What a search is called with, beside what it looks for.
pub(super) struct Search<'a> {
    /// The action that is asked for.
    pub(super) action: &'static str,
    /// What is searched for, as the model wrote it.
    pub(super) pattern: &'a str,
    /// Where, or the root of the Location.
    pub(super) path: Option<&'a str>,
    /// More for the person who decides; absent values are left out.
    pub(super) metadata: Vec<(&'static str, Option<Value>)>,
    /// The tool's generic failure text.
    pub(super) refused: &'a str,
}

impl Search<'_> {
    /// Asks whether to search, and does so where blocking is allowed once it may.
    pub(super) async fn run(
        self,
        context: &ToolContext,
        work: impl FnOnce(&Target) -> Option<ToolOutput> + Send + 'static,
    ) -> Result<ToolOutput, ToolFailure> {
        let path = self.path.unwrap_or_default();
        let target = approach(context, path, TargetKind::Directory, self.refused).await?;
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

/// How results are named.
pub(super) struct Names {
    location: Arc<Path>,
    /// Where the search began: a path relative to the Location, or an absolute one elsewhere.
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

    /// The path of a result for programs: relative to the Location, outside of it absolute.
    pub(super) fn path(&self, found: &[u8]) -> String {
        let found = String::from_utf8_lossy(found);
        if self.base.is_empty() || found.is_empty() {
            return format!("{}{found}", self.base);
        }
        let base = self.base.strip_suffix('/').unwrap_or(&self.base);
        format!("{base}/{found}")
    }

    /// The same path for the model: absolute, and as JSON where control characters in it could pass
    /// for the end of the line.
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

/// What the model is told when there is more than it is given.
pub(super) fn more(given: usize) -> String {
    format!(
        "\n\n(Only the first {given} results by path are given. Narrow the search to see others.)"
    )
}

/// What the threads have found after all.
pub(super) fn into_inner<T>(shared: Mutex<T>) -> T {
    shared.into_inner()
}

/// Changes what several threads have found. A thread that panicked ends the call anyway.
pub(super) fn with<T, R>(shared: &Mutex<T>, change: impl FnOnce(&mut T) -> R) -> R {
    change(&mut shared.lock())
}
