//! The Location that a request selects: by its query, else by its headers, else the default of the host.

use std::sync::Arc;

use axum::http::HeaderMap;
use opencode_protocol::failure::Failure;
use opencode_protocol::operation::Channel;
use opencode_protocol::output::Located;
use opencode_runtime::{Location, Runtime};
use opencode_schema::check::Issue;
use opencode_schema::id::WorkspaceID;
use opencode_schema::location::{LocationInfo, LocationRef};
use percent_encoding::percent_decode_str;

use crate::wire::failure::failure;

/// The Location that a request selects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    directory: Option<String>,
    workspace_id: Option<WorkspaceID>,
}

impl Selector {
    pub(crate) fn of<N: AsRef<str>, V: AsRef<str>>(
        query: &[(N, V)],
        headers: &HeaderMap,
    ) -> Result<Self, Failure> {
        let named = |name: &str| {
            let found = query.iter().find(|(other, _)| other.as_ref() == name);
            found.map(|(_, value)| value.as_ref().to_owned())
        };
        let header = |name: &str| {
            let value = headers.get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let directory = named("location[directory]").filter(|it| !it.is_empty());
        let directory = directory.or_else(|| header("x-opencode-directory").map(decoded));
        let workspace = named("location[workspace]").or_else(|| header("x-opencode-workspace"));
        let workspace_id = workspace.map(|text| WorkspaceID::parse(&text)).transpose();
        let workspace_id = workspace_id.map_err(|error| {
            let issue = Issue::new(error.to_string())
                .at_key("workspace")
                .at_key("location");
            Failure::invalid(Channel::Query, &issue)
        })?;
        Ok(Self {
            directory,
            workspace_id,
        })
    }

    pub(crate) fn or_default(self, directory: &str) -> LocationRef {
        LocationRef {
            directory: self.directory.unwrap_or_else(|| directory.to_owned()),
            workspace_id: self.workspace_id,
        }
    }
}

/// A Location that is open.
pub(crate) struct Opened {
    pub(crate) location: Arc<Location>,
    info: LocationInfo,
}

impl Opened {
    /// Opens the Location that a request selects.
    pub(crate) async fn of(
        runtime: &Runtime,
        selector: Result<Selector, Failure>,
    ) -> Result<Self, Failure> {
        let named = selector?.or_default(runtime.default_directory());
        let location = runtime.open_location(&named).await.map_err(failure)?;
        let info = LocationInfo {
            workspace_id: named.workspace_id,
            ..location.info()
        };
        Ok(Self { location, info })
    }

    /// Returns the directory and the workspace of the Location.
    pub(crate) fn place(&self) -> LocationRef {
        LocationRef {
            directory: self.info.directory.clone(),
            workspace_id: self.info.workspace_id.clone(),
        }
    }

    /// Returns the description of the Location.
    pub(crate) fn info(self) -> LocationInfo {
        self.info
    }

    /// Returns a value together with the Location, in the form of the answer.
    pub(crate) fn with<T>(self, data: T) -> Located<T> {
        Located {
            location: self.info,
            data,
        }
    }
}

/// Decodes a percent-encoded path of a header. A value that does not decode is used unchanged.
fn decoded(value: String) -> String {
    match percent_decode_str(&value).decode_utf8() {
        Ok(text) => text.into_owned(),
        Err(_) => value,
    }
}
