//! Servers under test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use opencode_mcp::{
    Ask, AskRefused, CallContext, CallError, CallOutput, Change, Connection, Listener, LocalServer,
    NoTokens, ServerConfig, ServerTool, Servers, ServersOptions, State, Timeouts, Tokens,
};
use opencode_net::{HttpClients, Proxies};
use opencode_schema::question::{QuestionAnswer, QuestionInfo};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::script::{SCRIPT, TEST};

/// Maximum wait for an expected event, much longer than any needs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Servers under test, and their changes.
pub(crate) struct Bench {
    pub(crate) servers: Arc<Servers>,
    pub(crate) folder: TempDir,
    pub(crate) changes: watch::Receiver<Vec<(String, Change)>>,
}

struct Changes(watch::Sender<Vec<(String, Change)>>);

impl Listener for Changes {
    fn changed(&self, server: &str, change: Change) {
        self.0
            .send_modify(|all| all.push((server.to_owned(), change)));
    }
}

impl Bench {
    pub(crate) fn new(tokens: Arc<dyn Tokens>) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            rustls::crypto::ring::default_provider()
                .install_default()
                .unwrap();
        });
        let folder = tempfile::tempdir().unwrap();
        let (sender, changes) = watch::channel(Vec::new());
        let servers = Servers::new(ServersOptions {
            directory: folder.path().to_owned(),
            http: HttpClients::new(None, Proxies::default()),
            tokens,
            listener: Arc::new(Changes(sender)),
        });
        Self {
            servers: Arc::new(servers),
            folder,
            changes,
        }
    }

    /// Starts one local server `s` with a script.
    pub(crate) async fn local(script: Value) -> Self {
        let bench = Self::new(Arc::new(NoTokens));
        bench.configure([("s", local(&script))]);
        bench.start().await;
        bench
    }

    pub(crate) fn configure<'a>(&self, configs: impl IntoIterator<Item = (&'a str, ServerConfig)>) {
        let configs = configs.into_iter();
        let configs = configs.map(|(name, config)| (name.to_owned(), config));
        self.servers.configure(configs.collect::<BTreeMap<_, _>>());
    }

    /// Starts the servers and waits for them.
    pub(crate) async fn start(&self) {
        self.servers.start();
        self.servers.settled(DEADLINE).await;
    }

    pub(crate) fn state(&self, name: &str) -> State {
        let status = self.servers.status();
        let status = status.into_iter().find(|status| status.name == name);
        status.expect("there is such a server").state
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<ServerTool> {
        let tools = self.servers.tools();
        let found = tools.iter().find(|tool| tool.name == name);
        Arc::clone(found.unwrap_or_else(|| panic!("{name} is not in {tools:?}")))
    }

    /// Waits until a change makes the condition true.
    pub(crate) async fn until(&self, mut is_true: impl FnMut(&Servers) -> bool) {
        let mut changes = self.changes.clone();
        let wait = async {
            while !is_true(&self.servers) {
                changes.changed().await.unwrap();
            }
        };
        within(wait).await;
    }

    /// Waits until a server has a state.
    pub(crate) async fn until_state(&self, name: &str, state: &State) {
        self.until(|_| self.state(name) == *state).await;
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Returns the configuration of a local server that follows a script.
pub(crate) fn local(script: &Value) -> ServerConfig {
    let program = std::env::current_exe().unwrap();
    let command = [program.to_str().unwrap(), "--exact", TEST, "--nocapture"];
    command_of(&command, script)
}

/// Returns the configuration of a local server with any command.
pub(crate) fn command_of(command: &[&str], script: &Value) -> ServerConfig {
    let mut environment: BTreeMap<String, String> = std::env::vars().collect();
    environment.insert(SCRIPT.to_owned(), script.to_string());
    ServerConfig {
        connection: Connection::Local(LocalServer {
            command: command.iter().map(|&part| part.to_owned()).collect(),
            directory: std::env::temp_dir(),
            environment,
        }),
        enabled: true,
        timeouts: Timeouts {
            startup: DEADLINE,
            request: DEADLINE,
        },
    }
}

/// Waits for a future.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, work)
        .await
        .expect("it happens in time")
}

/// Answers no questions.
pub(crate) struct NoUser;

impl Ask for NoUser {
    fn ask(&self, _: Vec<QuestionInfo>) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, AskRefused>> {
        async { Err(AskRefused::Unavailable) }.boxed()
    }
}

/// Returns the context of a call of a session, without a user.
pub(crate) fn context(session: &str) -> CallContext {
    CallContext {
        session: session.to_owned(),
        cancel: CancellationToken::new(),
        progress: Arc::new(|_| {}),
        ask: Arc::new(NoUser),
    }
}

/// Calls a tool without a user.
pub(crate) async fn call(tool: &ServerTool, input: Value) -> Result<CallOutput, CallError> {
    within(tool.call(input, context("ses_1"))).await
}

/// Returns the lines of a file, when it has a line for which the function is true.
pub(crate) async fn logged(file: &Path, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
    let read = async {
        loop {
            let text = tokio::fs::read_to_string(file).await.unwrap_or_default();
            let lines: Vec<Value> = text
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect();
            if lines.iter().any(&is_it) {
                return lines;
            }
            tokio::task::yield_now().await;
        }
    };
    within(read).await
}

/// A user who answers questions through a channel.
pub(crate) struct User(pub(crate) mpsc::UnboundedSender<Question>);

/// Questions to a user, and the way of their answers.
pub(crate) type Question = (
    Vec<QuestionInfo>,
    tokio::sync::oneshot::Sender<Result<Vec<QuestionAnswer>, AskRefused>>,
);

impl Ask for User {
    fn ask(
        &self,
        questions: Vec<QuestionInfo>,
    ) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, AskRefused>> {
        async move {
            let (answer, answered) = tokio::sync::oneshot::channel();
            self.0.send((questions, answer)).unwrap();
            answered.await.unwrap_or(Err(AskRefused::Unavailable))
        }
        .boxed()
    }
}
