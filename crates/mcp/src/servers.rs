//! The servers of one Location.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::join_all;
use opencode_net::HttpClients;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use crate::call::CallError;
use crate::config::{Connection, ServerConfig};
use crate::connection::ConnectionServices;
use crate::listing::ListError;
use crate::prompts::{PromptMessage, ServerPrompt, get_prompt};
use crate::resources::{
    ResourceContent, ServerResource, ServerResourceTemplate, list_resources, list_templates,
    read_resource,
};
use crate::server::{Host, Listener, Server, State};
use crate::tokens::Tokens;
use crate::tools::ServerTool;

/// Maximum time of a close. A server gets less.
const MAX_CLOSE: Duration = Duration::from_secs(10);

/// Maximum number of names in the log of duplicates.
const MAX_REPORTED: usize = 1000;

/// The services of the servers of a Location.
pub struct ServersOptions {
    /// The directory of the Location, which servers learn as their root.
    pub directory: PathBuf,
    /// Sends the requests to remote servers.
    pub http: HttpClients,
    /// Supplies access tokens.
    pub tokens: Arc<dyn Tokens>,
    /// Learns of changes.
    pub listener: Arc<dyn Listener>,
}

/// The name and the state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStatus {
    /// The name in the configuration.
    pub name: String,
    /// The state.
    pub state: State,
}

/// A problem of the tools of a server, which can still be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The name of the server.
    pub server: String,
    /// A description of the problem.
    pub message: String,
}

/// The servers of one Location. Dropping it stops them.
pub struct Servers {
    host: Arc<Host>,
    servers: Mutex<BTreeMap<String, Arc<Server>>>,
    is_closed: AtomicBool,
    /// Names of tools whose duplicates are in the log.
    reported: Mutex<HashSet<String>>,
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Servers {
    /// Creates an empty set of servers. Starts nothing.
    #[must_use]
    pub fn new(options: ServersOptions) -> Self {
        Self {
            host: Arc::new(Host {
                services: ConnectionServices {
                    directory: options.directory,
                    http: options.http,
                    tokens: options.tokens,
                },
                listener: options.listener,
                states: watch::Sender::new(()),
                tasks: TaskTracker::new(),
            }),
            servers: Mutex::default(),
            is_closed: AtomicBool::new(false),
            reported: Mutex::default(),
        }
    }

    /// Sets the servers, by their names. A server with an equal configuration stays as it is. A server with
    /// another configuration is stopped, and started if the previous one had been started. Other servers
    /// stop. Runs in a Tokio runtime.
    pub fn configure(&self, configs: BTreeMap<String, ServerConfig>) {
        let mut stopped = Vec::new();
        let mut started = Vec::new();
        {
            let mut servers = self.servers.lock();
            let mut before = std::mem::take(&mut *servers);
            for (name, config) in configs {
                let old = before.remove(&name);
                if let Some(same) = old.as_ref().filter(|old| old.config == config) {
                    servers.insert(name, Arc::clone(same));
                    continue;
                }
                let server = Server::new(name.clone(), config, &self.host);
                if let Some(old) = old {
                    if old.is_started() {
                        started.push(Arc::clone(&server));
                    }
                    stopped.push(old);
                }
                servers.insert(name, server);
            }
            stopped.extend(before.into_values());
        }
        for server in stopped {
            server.stop();
        }
        if !self.is_closed.load(Ordering::Acquire) {
            for server in started {
                server.start();
            }
        }
    }

    /// Starts all enabled servers that were not started yet, side by side. Returns at once. Runs in a Tokio
    /// runtime.
    pub fn start(&self) {
        for server in self.all() {
            if !self.is_closed.load(Ordering::Acquire) {
                server.start();
            }
        }
    }

    /// Waits until no server is connecting, or for this time.
    pub async fn settled(&self, limit: Duration) {
        let mut states = self.host.states.subscribe();
        let settled = async {
            while self.all().iter().any(|it| it.state() == State::Connecting) {
                if states.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = timeout(limit, settled).await;
    }

    /// Waits until a server is not connecting.
    pub async fn ready(&self, name: &str) {
        let mut states = self.host.states.subscribe();
        loop {
            let server = self.servers.lock().get(name).cloned();
            if server.is_none_or(|server| server.state() != State::Connecting) {
                return;
            }
            if states.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns the state of each server, by name.
    pub fn status(&self) -> Vec<ServerStatus> {
        let status = |server: Arc<Server>| ServerStatus {
            name: server.name().to_owned(),
            state: server.state(),
        };
        self.all().into_iter().map(status).collect()
    }

    /// Connects to a server again, or for the first time, and forgets its failures. Returns at once. False if
    /// there is no such server, or if it is disabled. Runs in a Tokio runtime.
    pub fn reconnect(&self, name: &str) -> bool {
        let server = self.servers.lock().get(name).cloned();
        let server = server.filter(|server| server.config.enabled);
        let is_closed = self.is_closed.load(Ordering::Acquire);
        let Some(server) = server.filter(|_| !is_closed) else {
            return false;
        };
        server.reconnect();
        true
    }

    /// Connects to the server at this address again, if it waits for an authorization. Runs in a Tokio
    /// runtime.
    pub fn authorized(&self, name: &str, url: &Url) {
        let server = self.servers.lock().get(name).cloned();
        let waits = server.is_some_and(|server| {
            let is_at = match &server.config.connection {
                Connection::Remote(remote) => remote.url == *url,
                Connection::Local(_) => false,
            };
            let state = server.state();
            is_at && matches!(state, State::NeedsAuth | State::NeedsClientRegistration(_))
        });
        if waits {
            self.reconnect(name);
        }
    }

    /// Returns the tools of connected servers, sorted by server, then in the order of the server. A tool
    /// that did not change is the same value as before. The first of tools with equal names is used.
    pub fn tools(&self) -> Vec<Arc<ServerTool>> {
        self.merge().0
    }

    /// Returns the problems of the tools of connected servers.
    pub fn problems(&self) -> Vec<Problem> {
        self.merge().1
    }

    fn merge(&self) -> (Vec<Arc<ServerTool>>, Vec<Problem>) {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        let mut names = HashSet::new();
        for server in self.all() {
            server.with_tools(|tools, own| {
                let problem = |message: &String| Problem {
                    server: server.name().to_owned(),
                    message: message.clone(),
                };
                problems.extend(own.iter().map(problem));
                for tool in tools {
                    if names.insert(tool.name.clone()) {
                        all.push(Arc::clone(tool));
                    } else {
                        problems.push(self.duplicate(tool));
                    }
                }
            });
        }
        (all, problems)
    }

    fn duplicate(&self, tool: &ServerTool) -> Problem {
        let message = format!(
            "the tool {:?} is left out, because another tool has the name {:?}",
            tool.tool, tool.name
        );
        let mut reported = self.reported.lock();
        if reported.len() < MAX_REPORTED && reported.insert(tool.name.clone()) {
            tracing::warn!(
                server = tool.server,
                tool = tool.tool,
                "a tool has a name in use"
            );
        }
        Problem {
            server: tool.server.clone(),
            message,
        }
    }

    /// True if a connected server has resources.
    pub fn has_resources(&self) -> bool {
        self.all().iter().any(|server| server.has_resources())
    }

    /// Asks all connected servers for their resources. Omits servers that fail.
    pub async fn resources(&self, cancel: &CancellationToken) -> Vec<ServerResource> {
        self.ask_all(cancel, list_resources).await
    }

    /// Asks all connected servers for the templates of their resources. Omits servers that fail.
    pub async fn resource_templates(
        &self,
        cancel: &CancellationToken,
    ) -> Vec<ServerResourceTemplate> {
        self.ask_all(cancel, list_templates).await
    }

    async fn ask_all<T>(
        &self,
        cancel: &CancellationToken,
        list: impl AsyncFn(
            &crate::connection::Connection,
            &str,
            &CancellationToken,
        ) -> Result<Vec<T>, ListError>,
    ) -> Vec<T> {
        let servers = self.all();
        let servers = servers.iter().filter(|server| server.has_resources());
        let lists = servers.filter_map(|server| {
            let connection = server.slot().get()?;
            let list = &list;
            Some(async move {
                let listed = list(&connection, server.name(), cancel).await;
                listed.unwrap_or_else(|error| {
                    connection.link.log.line(&error.to_string());
                    Vec::new()
                })
            })
        });
        join_all(lists).await.into_iter().flatten().collect()
    }

    /// Reads a resource of a server.
    ///
    /// # Errors
    ///
    /// Fails if there is no such connected server or resource, or if the caller interrupts it.
    pub async fn read_resource(
        &self,
        server: &str,
        uri: &str,
        cancel: &CancellationToken,
    ) -> Result<Vec<ResourceContent>, CallError> {
        let connection = self.server(server)?.slot().connected()?;
        read_resource(&connection, uri, cancel).await
    }

    /// Returns the prompts of connected servers, sorted by server, then in the order of the server.
    pub fn prompts(&self) -> Vec<Arc<ServerPrompt>> {
        self.all()
            .iter()
            .flat_map(|server| server.prompts())
            .collect()
    }

    /// Returns the messages of a prompt, by the name that the server gives to it.
    ///
    /// # Errors
    ///
    /// Fails if there is no such connected server or prompt, or if the caller interrupts it.
    pub async fn get_prompt(
        &self,
        server: &str,
        prompt: &str,
        arguments: &BTreeMap<String, String>,
        cancel: &CancellationToken,
    ) -> Result<Vec<PromptMessage>, CallError> {
        let connection = self.server(server)?.slot().connected()?;
        get_prompt(&connection, prompt, arguments, cancel).await
    }

    /// Returns the instructions of connected servers, by server.
    pub fn instructions(&self) -> BTreeMap<String, String> {
        let instructions = |server: &Arc<Server>| {
            let text = server.instructions()?;
            Some((server.name().to_owned(), text))
        };
        self.all().iter().filter_map(instructions).collect()
    }

    /// Stops all servers for ever. Returns when none of their processes is left, but within ten seconds.
    pub async fn close(&self) {
        self.stop();
        self.host.tasks.close();
        let _ = timeout(MAX_CLOSE, self.host.tasks.wait()).await;
    }

    fn stop(&self) {
        self.is_closed.store(true, Ordering::Release);
        for server in self.all() {
            server.stop();
        }
    }

    fn server(&self, name: &str) -> Result<Arc<Server>, CallError> {
        let servers = self.servers.lock();
        servers.get(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = servers.keys().map(String::as_str).collect();
            let names = names.join(", ");
            CallError::Failed(format!(
                "There is no server {name:?}. The servers are: {names}."
            ))
        })
    }

    fn all(&self) -> Vec<Arc<Server>> {
        self.servers.lock().values().cloned().collect()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop();
    }
}
