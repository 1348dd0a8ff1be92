//! One server: its state, and the lists of its last connection.

mod life;

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::ServerConfig;
use crate::connection::{Connection, ConnectionServices};
use crate::link::End;
use crate::prompts::ServerPrompt;
use crate::slot::Slot;
use crate::tools::{ServerTool, Tools};

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The server was not needed yet.
    NotStarted,
    /// The host connects to the server and reads its lists.
    Connecting,
    /// The server can be used.
    Connected,
    /// The configuration switches the server off.
    Disabled,
    /// The server cannot be used, with the reason.
    Failed(String),
    /// The user must authorize the host.
    NeedsAuth,
    /// The user must register a client, with the reason.
    NeedsClientRegistration(String),
}

/// A change of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its state is another.
    Status,
    /// Its tools are others.
    Tools,
    /// Its prompts are others.
    Prompts,
    /// Its resources can be others.
    Resources,
}

/// Learns of changes.
pub trait Listener: Send + Sync + 'static {
    /// Called after each change. It must not block, and must not call methods that change servers.
    fn changed(&self, server: &str, change: Change);
}

/// The parts that all servers of a Location share.
pub(crate) struct Host {
    pub(crate) services: ConnectionServices,
    pub(crate) listener: Arc<dyn Listener>,
    /// Changes with each state.
    pub(crate) states: watch::Sender<()>,
    pub(crate) tasks: TaskTracker,
}

impl Host {
    fn announce(&self, server: &str, changes: &[Change]) {
        if changes.contains(&Change::Status) {
            self.states.send_replace(());
        }
        for change in changes {
            self.listener.changed(server, *change);
        }
    }
}

/// One server.
pub(crate) struct Server {
    pub(crate) config: ServerConfig,
    host: Arc<Host>,
    slot: Arc<Slot>,
    now: Mutex<Now>,
    /// Ends the server for ever.
    stop: CancellationToken,
    /// Notified when the server must connect again.
    again: Notify,
}

struct Now {
    state: State,
    /// True if the task of the server runs.
    is_started: bool,
    /// The lists of the last connection.
    lists: Lists,
}

#[derive(Default)]
struct Lists {
    tools: Tools,
    prompts: Vec<Arc<ServerPrompt>>,
    instructions: Option<String>,
    has_resources: bool,
}

impl Server {
    pub(crate) fn new(name: String, config: ServerConfig, host: &Arc<Host>) -> Arc<Self> {
        let state = match config.enabled {
            true => State::NotStarted,
            false => State::Disabled,
        };
        Arc::new(Self {
            config,
            host: Arc::clone(host),
            slot: Arc::new(Slot::new(name)),
            now: Mutex::new(Now {
                state,
                is_started: false,
                lists: Lists::default(),
            }),
            stop: CancellationToken::new(),
            again: Notify::new(),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.slot.server
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    pub(crate) fn state(&self) -> State {
        self.now.lock().state.clone()
    }

    /// True if the task of the server runs.
    pub(crate) fn is_started(&self) -> bool {
        self.now.lock().is_started
    }

    /// Starts the server if it is enabled and not started yet.
    pub(crate) fn start(self: &Arc<Self>) {
        {
            let mut now = self.now.lock();
            if now.is_started || !self.config.enabled || self.stop.is_cancelled() {
                return;
            }
            now.is_started = true;
            now.state = State::Connecting;
        }
        self.host.announce(self.name(), &[Change::Status]);
        opencode_log::spawn_tracked(&self.host.tasks, life::live(Arc::clone(self)));
    }

    /// Connects again, or for the first time. Does nothing if the server is connecting or disabled.
    pub(crate) fn reconnect(self: &Arc<Self>) {
        let lost = {
            let mut now = self.now.lock();
            if !now.is_started {
                drop(now);
                return self.start();
            }
            match now.state {
                State::Connecting | State::Disabled => return,
                _ if self.stop.is_cancelled() => return,
                _ => now.change(State::Connecting),
            }
        };
        self.host.announce(self.name(), &lost);
        self.again.notify_one();
    }

    /// Ends the server for ever. Its processes end soon after.
    pub(crate) fn stop(&self) {
        let mut now = self.now.lock();
        if self.stop.is_cancelled() {
            return;
        }
        self.stop.cancel();
        self.slot.set(None);
        let lost = now.change(State::NotStarted);
        drop(now);
        self.host.announce(self.name(), &lost);
    }

    /// Calls a function with the tools, if the server is connected.
    pub(crate) fn with_tools(&self, work: impl FnOnce(&[Arc<ServerTool>], &[String])) {
        let now = self.now.lock();
        if now.state == State::Connected {
            work(&now.lists.tools.tools, &now.lists.tools.problems);
        }
    }

    /// Returns the prompts, if the server is connected.
    pub(crate) fn prompts(&self) -> Vec<Arc<ServerPrompt>> {
        let now = self.now.lock();
        match now.state {
            State::Connected => now.lists.prompts.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the instructions, if the server is connected.
    pub(crate) fn instructions(&self) -> Option<String> {
        let now = self.now.lock();
        let is_connected = now.state == State::Connected;
        now.lists.instructions.clone().filter(|_| is_connected)
    }

    /// True if the server is connected and has resources.
    pub(crate) fn has_resources(&self) -> bool {
        let now = self.now.lock();
        now.state == State::Connected && now.lists.has_resources
    }

    /// Called after a connection began.
    fn connected(&self, connection: &Arc<Connection>, lists: Lists) {
        let mut changes = vec![Change::Status];
        {
            let mut now = self.now.lock();
            if self.stop.is_cancelled() {
                return;
            }
            self.slot.set(Some(Arc::clone(connection)));
            now.lists = lists;
            now.state = State::Connected;
            changes.extend(now.lists.present());
        }
        self.host.announce(self.name(), &changes);
    }

    /// Called after a connection ended, or an attempt failed.
    fn disconnected(&self, end: End) {
        let state = match end {
            End::Closed | End::Broken(_) => State::Failed(end.message()),
            End::NeedsAuth => State::NeedsAuth,
            End::NeedsClientRegistration(reason) => State::NeedsClientRegistration(reason),
        };
        self.enter(state);
    }

    /// Called before an attempt.
    fn connecting(&self) {
        if self.state() != State::Connecting {
            self.enter(State::Connecting);
        }
    }

    fn enter(&self, state: State) {
        let mut now = self.now.lock();
        self.slot.set(None);
        if self.stop.is_cancelled() {
            return;
        }
        let changes = now.change(state);
        drop(now);
        self.host.announce(self.name(), &changes);
    }
}

impl Now {
    /// Enters a state other than connected. Returns the changes.
    fn change(&mut self, state: State) -> Vec<Change> {
        let mut changes = vec![Change::Status];
        if self.state == State::Connected {
            changes.extend(self.lists.present());
        }
        self.state = state;
        changes
    }
}

impl Lists {
    /// Returns the lists that are not empty.
    fn present(&self) -> impl Iterator<Item = Change> {
        let lists = [
            (!self.tools.tools.is_empty(), Change::Tools),
            (!self.prompts.is_empty(), Change::Prompts),
            (self.has_resources, Change::Resources),
        ];
        let present = lists.into_iter().filter(|(is_present, _)| *is_present);
        present.map(|(_, change)| change)
    }
}
