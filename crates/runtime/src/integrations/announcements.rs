//! Notices to connected clients about connections and the models that they offer.

use std::sync::Arc;

use opencode_location::location::Locations;
use opencode_mcp::oauth::Connections;
use opencode_schema::event::{Nothing, Notice};
use opencode_schema::integration::IntegrationConnectionUpdated;
use opencode_schema::location::LocationRef;

use crate::live::Announcer;

/// Notifies connected clients.
#[derive(Clone)]
pub(super) struct Announcements {
    pub(super) announcer: Arc<Announcer>,
    pub(super) locations: Arc<Locations>,
}

impl Announcements {
    /// The connections of an integration changed.
    pub(super) fn connection(&self, integration: &str) {
        announce(&self.announcer, integration);
    }

    /// The models of the open Locations may have changed.
    pub(super) fn models(&self) {
        for directory in self.locations.open_directories() {
            let location = LocationRef {
                directory,
                workspace_id: None,
            };
            let notice = Notice::CatalogUpdated(Nothing {});
            self.announcer.notify(Some(&location), &notice);
        }
    }
}

/// Notifies connected clients of changed connections of MCP servers.
pub(super) struct ServerConnections(pub(super) Arc<Announcer>);

impl Connections for ServerConnections {
    fn changed(&self, integration: &str) {
        announce(&self.0, integration);
    }
}

fn announce(announcer: &Announcer, integration: &str) {
    let integration_id = integration.to_owned();
    let updated = IntegrationConnectionUpdated { integration_id };
    announcer.notify(None, &Notice::IntegrationConnectionUpdated(updated));
}
