//! Servers of the Model Context Protocol: those of the configuration, and those that clients add while the host is open.
//!
//! A Location starts its servers at their first use: the first Provider Turn, or an operation that needs them. A turn
//! waits for servers that start, but never longer than [`START_WAIT`], so that the model usually has their tools from
//! the beginning. No turn fails because of a server.

mod attachment;
mod commands;
mod description;
mod events;
mod instructions;
mod resource_tools;
mod servers;
mod tools;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use opencode_location::location::Location;
use opencode_mcp::{RemoteServer, Tokens};
use opencode_net::HttpClients;
use opencode_tools::Registry;
use parking_lot::Mutex;

use crate::live::Announcer;

pub(crate) use self::attachment::{
    NamedResource, RESOURCES_WAIT, attachment_uri, is_resource, read_attachment,
};
pub(crate) use self::instructions::McpInstructions;
pub(crate) use self::resource_tools::READ as READ_RESOURCE;
pub(crate) use self::servers::LocationServers;

/// Maximum time that a Provider Turn or an operation waits for servers that start.
const START_WAIT: Duration = Duration::from_secs(5);

/// Maximum number of Locations with servers. Beyond it, the servers of the Location end that was not used for the
/// longest time. They start again at the next use.
const MAX_LOCATIONS: usize = 64;

/// The servers of all Locations of a host.
pub(crate) struct McpServers {
    services: Services,
    state: Mutex<State>,
}

/// The services that the servers of a Location use.
#[derive(Clone)]
struct Services {
    registry: Arc<Registry>,
    announcer: Arc<Announcer>,
    tokens: Arc<dyn Tokens>,
    http: HttpClients,
}

#[derive(Default)]
struct State {
    /// By directory.
    locations: HashMap<String, Used>,
    /// Number of uses so far.
    uses: u64,
    is_closed: bool,
}

struct Used {
    servers: Arc<LocationServers>,
    /// The number of its last use.
    last: u64,
}

impl McpServers {
    pub(crate) fn new(
        registry: Arc<Registry>,
        announcer: Arc<Announcer>,
        tokens: Arc<dyn Tokens>,
        http: HttpClients,
    ) -> Self {
        Self {
            services: Services {
                registry,
                announcer,
                tokens,
                http,
            },
            state: Mutex::default(),
        }
    }

    /// Starts the servers of a Location, waits for them, and registers their tools. Does nothing in a Location without
    /// servers.
    pub(crate) async fn prepare(&self, location: &Location) -> Option<Arc<LocationServers>> {
        let servers = self.of(location)?;
        servers.prepare(START_WAIT).await;
        Some(servers)
    }

    /// Returns the servers of a Location in the state of its configuration. `None` if it has none.
    pub(crate) fn of(&self, location: &Location) -> Option<Arc<LocationServers>> {
        let is_known = self
            .state
            .lock()
            .locations
            .contains_key(&location.directory);
        if !is_known && location.mcp.is_empty() {
            return None;
        }
        self.of_or_new(location)
    }

    /// Returns the servers of a Location that may have none. `None` if the host closes.
    pub(crate) fn of_or_new(&self, location: &Location) -> Option<Arc<LocationServers>> {
        let (servers, ended) = self.used(&location.directory)?;
        if let Some(ended) = ended {
            drop(opencode_log::spawn(async move { ended.close().await }));
        }
        servers.configure(location);
        Some(servers)
    }

    /// Marks the servers of a directory as used. Also returns the servers that end because of it.
    fn used(
        &self,
        directory: &str,
    ) -> Option<(Arc<LocationServers>, Option<Arc<LocationServers>>)> {
        let mut state = self.state.lock();
        if state.is_closed {
            return None;
        }
        state.uses += 1;
        let last = state.uses;
        if let Some(used) = state.locations.get_mut(directory) {
            used.last = last;
            return Some((Arc::clone(&used.servers), None));
        }
        let servers = LocationServers::new(directory, &self.services);
        let ended = state.evict();
        let used = Used {
            servers: Arc::clone(&servers),
            last,
        };
        state.locations.insert(directory.to_owned(), used);
        Some((servers, ended))
    }

    /// Returns the servers of a Location that are reached by an address and may use OAuth.
    pub(crate) fn remote_servers(&self, location: &Location) -> Vec<RemoteServer> {
        let servers = self.of(location);
        servers.map(|it| it.remote_servers()).unwrap_or_default()
    }

    /// Connects servers that wait for the consent of the user, after the user gave it.
    pub(crate) fn authorized(&self, name: &str, url: &url::Url) {
        let state = self.state.lock();
        let all: Vec<_> = state
            .locations
            .values()
            .map(|it| Arc::clone(&it.servers))
            .collect();
        drop(state);
        for servers in all {
            servers.authorized(name, url);
        }
    }

    /// Ends all servers, side by side. No server starts after it.
    pub(crate) async fn close(&self) {
        let locations = {
            let mut state = self.state.lock();
            state.is_closed = true;
            std::mem::take(&mut state.locations)
        };
        let closing = locations.values().map(|used| used.servers.close());
        futures::future::join_all(closing).await;
    }
}

impl State {
    fn evict(&mut self) -> Option<Arc<LocationServers>> {
        if self.locations.len() < MAX_LOCATIONS {
            return None;
        }
        let oldest = self.locations.iter().min_by_key(|(_, used)| used.last);
        let oldest = oldest.map(|(directory, _)| directory.clone())?;
        self.locations.remove(&oldest).map(|used| used.servers)
    }
}
