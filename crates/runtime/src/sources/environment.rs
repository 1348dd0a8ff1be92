//! The Context Source `core/environment`: the directories and the platform of the session.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_context::{Observation, Source};
use opencode_location::location::Location;
use serde_json::Value;

/// Facts of a Location that do not change while it is open.
pub(crate) struct Environment {
    block: String,
}

impl Environment {
    pub(crate) fn of(location: &Location) -> Self {
        let git = if location.project.vcs.is_some() {
            "yes"
        } else {
            "no"
        };
        Self {
            block: format!(
                "<env>\n  Working directory: {}\n  Workspace root folder: {}\n  Is a git repository: {git}\n  Platform: {}\n</env>",
                location.directory,
                location.project.directory,
                platform(),
            ),
        }
    }
}

impl Source for Environment {
    fn key(&self) -> &str {
        "core/environment"
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        let block = Value::from(self.block.as_str());
        futures::future::ready(Observation::Present(block)).boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        value.is_string()
    }

    fn baseline(&self, value: &Value) -> String {
        let block = value.as_str().unwrap_or_default();
        format!("Facts about the environment you work in:\n{block}")
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        let block = current.as_str().unwrap_or_default();
        format!("The environment you work in is now:\n{block}")
    }
}

/// Returns the platform name as Node.js reports it.
pub(super) fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}
