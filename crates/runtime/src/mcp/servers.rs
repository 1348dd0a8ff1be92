//! The servers of one Location, and the registration of their tools.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use opencode_location::definitions::mcp::{McpServer, McpServers as ConfiguredServers};
use opencode_location::location::Location;
use opencode_location::secret::Redactor;
use opencode_mcp::{
    PromptMessage, RemoteServer, ServerConfig, ServerPrompt, ServerResource, ServerStatus,
    ServerTool, Servers, ServersOptions, State as ServerState,
};
use opencode_schema::command::CommandInfo;
use opencode_schema::mcp::McpServerInfo;
use opencode_secrets::Secrets;
use opencode_tools::{Registration, Registry, Tool};
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::Services;
use super::commands::command;
use super::description::{configured, kind, status};
use super::events::Announcements;
use super::resource_tools::resource_tools;
use super::tools::McpTool;

/// The servers of one Location.
pub(crate) struct LocationServers {
    directory: String,
    pub(super) servers: Arc<Servers>,
    registry: Arc<Registry>,
    announcements: Arc<Announcements>,
    /// Held while the servers change, so that the client gets the changes in their order. Locked before `state`, which
    /// announcements of the client read.
    changing: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The servers of the configuration.
    configuration: ConfiguredServers,
    /// The environment variables of processes of the Location.
    variables: Arc<BTreeMap<String, String>>,
    /// The servers that clients added, by name.
    added: BTreeMap<String, McpServer>,
    /// The servers in effect.
    effective: BTreeMap<String, ServerConfig>,
    /// Secrets of the added servers. The Location knows those of the configuration.
    secrets: Secrets,
    /// Removes these secrets from texts.
    redactor: Redactor,
    /// True after a caller has waited for the servers that start.
    was_awaited: bool,
    /// The registered tools of servers.
    tools: Vec<(Arc<ServerTool>, Registration)>,
    /// The tools for resources, while a server has resources.
    resource_tools: Option<Registration>,
}

impl LocationServers {
    pub(super) fn new(directory: &str, services: &Services) -> Arc<Self> {
        let announcer = Arc::clone(&services.announcer);
        let announcements = Arc::new(Announcements::new(announcer, directory));
        let servers = Servers::new(ServersOptions {
            directory: PathBuf::from(directory),
            http: services.http.clone(),
            tokens: Arc::clone(&services.tokens),
            listener: Arc::clone(&announcements) as Arc<_>,
        });
        let created = Arc::new(Self {
            directory: directory.to_owned(),
            servers: Arc::new(servers),
            registry: Arc::clone(&services.registry),
            announcements,
            changing: Mutex::default(),
            state: Mutex::default(),
        });
        created.announcements.follow(&created);
        created
    }

    /// Takes the servers of the current configuration.
    pub(super) fn configure(&self, location: &Location) {
        let _changing = self.changing.lock();
        let mut state = self.state.lock();
        let is_same =
            state.configuration == location.mcp && *state.variables == *location.command_variables;
        if is_same {
            return;
        }
        state.configuration = location.mcp.clone();
        state.variables = Arc::clone(&location.command_variables);
        self.apply(state);
    }

    /// Adds a server, or replaces the one with its name.
    pub(crate) fn add(&self, server: McpServer) {
        let _changing = self.changing.lock();
        let mut state = self.state.lock();
        server.learn_secrets(&mut state.secrets);
        state.redactor = state.secrets.of_texts();
        state.added.insert(server.name.clone(), server);
        self.apply(state);
    }

    /// Removes an added server. The server of the configuration with this name takes effect again.
    pub(crate) fn remove(&self, name: &str) {
        let _changing = self.changing.lock();
        let mut state = self.state.lock();
        if state.added.remove(name).is_some() {
            self.apply(state);
        }
    }

    /// Gives the client the servers that are in effect now.
    fn apply(&self, mut state: MutexGuard<'_, State>) {
        let directory = Path::new(&self.directory);
        let mut servers: BTreeMap<_, _> = state
            .configuration
            .list()
            .map(|server| (server.name.clone(), server))
            .collect();
        servers.extend(state.added.clone());
        let servers: BTreeMap<_, _> = servers
            .into_values()
            .map(|server| {
                let described = configured(&server, directory, &state.variables);
                (server.name, described)
            })
            .collect();
        let former = std::mem::replace(&mut state.effective, servers.clone());
        state.was_awaited = false;
        drop(state);
        let ended: Vec<_> = former
            .into_keys()
            .filter(|name| !servers.contains_key(name))
            .collect();
        self.servers.configure(servers);
        for name in ended {
            self.announcements.removed(&name);
        }
    }

    /// Starts the servers, waits for those that start for the first time, and registers their tools.
    pub(super) async fn prepare(&self, limit: Duration) {
        self.servers.start();
        let was_awaited = self.state.lock().was_awaited;
        if !was_awaited {
            self.servers.settled(limit).await;
            self.state.lock().was_awaited = true;
        }
        self.register_tools();
    }

    /// Registers the tools of the servers as they are now. An unchanged tool stays registered, so that calls of running
    /// turns stay valid. So do the tools of a server that is not connected for the moment: they come back with it, and
    /// until then their calls fail.
    fn register_tools(&self) {
        // Locked before the tools are read, so that no older list replaces a newer one.
        let mut state = self.state.lock();
        // A connection can end or begin while the tools are read.
        let mut absent = self.absent_servers();
        let current = self.servers.tools();
        let has_resources = self.servers.has_resources();
        absent.extend(self.absent_servers());
        let registered = state.tools.iter().map(|(tool, _)| tool);
        let is_same = registered.len() == current.len()
            && registered
                .zip(&current)
                .all(|(one, other)| Arc::ptr_eq(one, other));
        if is_same && has_resources == state.resource_tools.is_some() {
            return;
        }
        let secrets = state.redactor.clone();
        let mut former = std::mem::take(&mut state.tools);
        for tool in current {
            let known = former.iter().position(|(it, _)| Arc::ptr_eq(it, &tool));
            let registered = match known {
                Some(at) => Some(former.remove(at)),
                None => self.register(&tool, &secrets).map(|it| (tool, it)),
            };
            state.tools.extend(registered);
        }
        let kept = former.extract_if(.., |(tool, _)| absent.contains(&tool.server));
        state.tools.extend(kept);
        let resource_tools = match (has_resources, state.resource_tools.take()) {
            (true, None) => self.register_resource_tools(&secrets),
            (true, known) => known,
            (false, known) => known.filter(|_| !absent.is_empty()),
        };
        state.resource_tools = resource_tools;
        drop(state);
        drop(former);
    }

    /// Returns the names of the servers whose connection ended or failed.
    fn absent_servers(&self) -> HashSet<String> {
        let statuses = self.servers.status().into_iter();
        let is_absent = |it: &ServerStatus| {
            matches!(it.state, ServerState::Connecting | ServerState::Failed(_))
        };
        statuses.filter(is_absent).map(|it| it.name).collect()
    }

    fn register(&self, tool: &Arc<ServerTool>, secrets: &Redactor) -> Option<Registration> {
        let name = tool.name.clone();
        let tool: Arc<dyn Tool> = Arc::new(McpTool::new(Arc::clone(tool), secrets.clone()));
        self.register_all(vec![(name, tool)])
    }

    fn register_resource_tools(&self, secrets: &Redactor) -> Option<Registration> {
        self.register_all(resource_tools(&self.servers, secrets))
    }

    fn register_all(&self, tools: Vec<(String, Arc<dyn Tool>)>) -> Option<Registration> {
        let registered = self.registry.register_in(&self.directory, tools);
        // The client of the servers gives only valid names.
        registered
            .inspect_err(|error| tracing::warn!(%error, "a tool of a server was left out"))
            .ok()
    }

    /// Starts the connection to a server anew and waits for its end. Returns the server, or `None` if it is unknown.
    pub(crate) async fn reconnect(&self, name: &str) -> Option<McpServerInfo> {
        self.info(name)?;
        self.servers.reconnect(name);
        self.started(name).await
    }

    /// Starts a server, waits until it is ready or has failed, and returns it.
    pub(crate) async fn started(&self, name: &str) -> Option<McpServerInfo> {
        self.servers.start();
        self.servers.ready(name).await;
        self.register_tools();
        self.info(name)
    }

    /// Connects a server that waits for the consent of the user.
    pub(super) fn authorized(&self, name: &str, url: &Url) {
        self.servers.authorized(name, url);
    }

    /// Returns the servers in the order of their names.
    pub(crate) fn list(&self) -> Vec<McpServerInfo> {
        let effective = self.state.lock().effective.clone();
        let (tools, problems) = (self.servers.tools(), self.servers.problems());
        let infos = self.servers.status().into_iter().filter_map(|server| {
            let described = effective.get(&server.name)?;
            let tools = tools.iter().filter(|tool| tool.server == server.name);
            let problems = problems.iter().filter(|it| it.server == server.name);
            Some(McpServerInfo {
                kind: kind(&described.connection),
                status: status(server.state),
                tools: tools.map(|tool| tool.name.clone()).collect(),
                problems: problems.map(|it| it.message.clone()).collect(),
                name: server.name,
            })
        });
        infos.map(|info| self.without_secrets(info)).collect()
    }

    /// Returns one server.
    pub(crate) fn info(&self, name: &str) -> Option<McpServerInfo> {
        self.list().into_iter().find(|server| server.name == name)
    }

    fn without_secrets(&self, mut info: McpServerInfo) -> McpServerInfo {
        use opencode_schema::mcp::McpServerStatus::{Failed, NeedsClientRegistration};
        let secrets = self.secrets();
        if let Failed { error } | NeedsClientRegistration { error } = &mut info.status {
            secrets.clean(error);
        }
        for problem in &mut info.problems {
            secrets.clean(problem);
        }
        info
    }

    /// Returns the redactor for texts of the added servers.
    pub(super) fn secrets(&self) -> Redactor {
        self.state.lock().redactor.clone()
    }

    /// Returns the servers that are reached by an address and may use OAuth.
    pub(crate) fn remote_servers(&self) -> Vec<RemoteServer> {
        let state = self.state.lock();
        let servers = state.effective.values();
        servers
            .filter_map(|server| match &server.connection {
                opencode_mcp::Connection::Remote(remote) => {
                    remote.oauth.is_some().then(|| remote.clone())
                }
                opencode_mcp::Connection::Local(_) => None,
            })
            .collect()
    }

    /// Returns the instructions of the connected servers, by server.
    pub(crate) fn instructions(&self) -> BTreeMap<String, String> {
        let secrets = self.secrets();
        let mut instructions = self.servers.instructions();
        for text in instructions.values_mut() {
            secrets.clean(text);
        }
        instructions
    }

    /// Returns the resources of the connected servers.
    pub(crate) async fn resources(&self) -> Vec<ServerResource> {
        self.servers.resources(&CancellationToken::new()).await
    }

    /// Returns the prompts of the connected servers.
    pub(crate) fn prompts(&self) -> Vec<Arc<ServerPrompt>> {
        self.servers.prompts()
    }

    /// Requests a prompt with its arguments.
    ///
    /// # Errors
    ///
    /// Returns the reason, as the end of a sentence.
    pub(crate) async fn prompt(
        &self,
        server: &str,
        prompt: &str,
        arguments: &BTreeMap<String, String>,
        cancel: &CancellationToken,
    ) -> Result<Vec<PromptMessage>, String> {
        let requested = self.servers.get_prompt(server, prompt, arguments, cancel);
        requested.await.map_err(|error| {
            let mut reason = error.to_string();
            self.secrets().clean(&mut reason);
            reason
        })
    }

    /// Returns the prompts of the connected servers as commands.
    pub(crate) fn commands(&self) -> Vec<CommandInfo> {
        let prompts = self.servers.prompts();
        prompts.iter().map(|prompt| command(prompt)).collect()
    }

    /// Ends the servers.
    pub(super) async fn close(&self) {
        self.servers.close().await;
        let mut state = self.state.lock();
        let tools = std::mem::take(&mut state.tools);
        let resource_tools = state.resource_tools.take();
        drop(state);
        drop((tools, resource_tools));
    }
}
