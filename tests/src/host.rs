//! A runtime on a database file. The process that dies and the check that follows open it in the same way.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use opencode_llm::ModelClient;
use opencode_llm::RetryPolicy;
use opencode_location::environment::Environment;
use opencode_location::location::{Locations, Trust};
use opencode_net::{HttpClients, Proxies};
use opencode_runtime::{
    BudgetOptions, CreateSession, DatabasePath, Durability, Limits, NoEnvironment, NoHooks,
    OpenError, Recovery, Runtime, RuntimeOptions, SystemTimer, TestHook, Unanswered,
};
use opencode_schema::clock::{Clock, SystemClock};
use opencode_schema::id::{IdSource, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_testkit::{ScriptedFetch, make_repository};
use opencode_tools::{Contributions, ManagedOutput, Registration, Registry, Tool};
use serde_json::{Value, json};

/// The directories of sessions, below the folder of a life.
pub const PROJECTS: [&str; 2] = ["one", "two"];

/// The repository with directories that belong to one session each.
const KEPT: &str = "kept";

/// The agents that a session can use.
pub const AGENTS: [&str; 3] = ["build", "reviewer", "writer"];

/// The options of a host.
pub struct HostOptions<'a> {
    /// The folder with the projects.
    pub folder: &'a Path,
    /// The database.
    pub database: DatabasePath,
    /// The model that answers all requests.
    pub model: Arc<dyn ModelClient>,
    /// The tools that the model may call.
    pub tools: Vec<(String, Arc<dyn Tool>)>,
    /// Observes the store or makes it fail.
    pub test_hook: Option<Arc<dyn TestHook>>,
    /// Decides about sessions that an earlier process left interrupted.
    pub recovery: Recovery,
}

/// An open runtime.
pub struct Host {
    /// The runtime.
    pub runtime: Runtime,
    _tools: Registration,
}

/// Creates the directories of sessions. They are repositories, so that steps have snapshots.
pub fn make_projects(folder: &Path) -> io::Result<()> {
    for name in PROJECTS.into_iter().chain([KEPT]) {
        let project = folder.join(name);
        if !project.join(".git").exists() {
            std::fs::create_dir_all(&project)?;
            make_repository(&project);
        }
    }
    Ok(())
}

/// A directory that belongs to one session.
#[must_use]
pub fn kept(folder: &Path, name: &str) -> String {
    let path = folder.join(KEPT).join(name);
    path.to_string_lossy().into_owned()
}

/// True if the directory belongs to one session.
#[must_use]
pub fn is_kept(directory: &str) -> bool {
    let above = Path::new(directory).parent();
    above.is_some_and(|above| above.ends_with(KEPT))
}

/// The path of one of the projects.
#[must_use]
pub fn project(folder: &Path, index: usize) -> String {
    let path = folder.join(PROJECTS[index % PROJECTS.len()]);
    path.to_string_lossy().into_owned()
}

impl Host {
    /// Opens a runtime.
    pub async fn open(options: HostOptions<'_>) -> Result<Self, OpenError> {
        let HostOptions {
            folder,
            database,
            model,
            tools,
            test_hook,
            recovery,
        } = options;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids = Arc::new(IdSource::new(Arc::clone(&clock)));
        let contributions = Contributions::default();
        let registration = contributions.register(tools).expect("the names are legal");
        let data = folder.join("data");
        let output = ManagedOutput::new(data.join("tool-output"), Arc::clone(&ids));
        let environment = Environment {
            home: folder.join("home"),
            config: folder.join("config"),
            cache: folder.join("cache"),
            data,
            ..Environment::default()
        };
        let runtime = Runtime::open(RuntimeOptions {
            titles: None,
            refresh_models: false,
            share: None,
            credentials: None,
            provider_oauth: BTreeMap::new(),
            budgets: BudgetOptions::default(),
            // It takes over from a busy model.
            fallback: vec![mock("m2")],
            database,
            durability: Durability::Normal,
            directory: project(folder, 0),
            locations: Arc::new(
                Locations::new(Arc::new(environment), Some(config())).with_trust(Trust::Always),
            ),
            tools: Arc::new(Registry::new(contributions, Arc::new(output))),
            unanswered: Unanswered::Wait,
            timer: Arc::new(SystemTimer),
            model,
            retry: RetryPolicy::NEVER,
            fetch: Arc::new(ScriptedFetch::default()),
            http: HttpClients::new(None, Proxies::default()),
            clock,
            ids,
            reminders: false,
            limits: Limits::default(),
            hooks: Arc::new(NoHooks),
            pty_environment: Arc::new(NoEnvironment),
            recovery,
            test_hook,
        });
        Ok(Self {
            runtime: runtime.await?,
            _tools: registration,
        })
    }
}

/// A request for a session with this id in the first project.
#[must_use]
pub fn new_session(folder: &Path, id: SessionID) -> CreateSession {
    CreateSession {
        id: Some(id),
        agent: None,
        model: None,
        location: place(project(folder, 0)),
        title: None,
        parent_id: None,
        permission: Vec::new(),
        budget: None,
    }
}

/// A Location without a workspace.
#[must_use]
pub fn place(directory: String) -> LocationRef {
    LocationRef {
        directory,
        workspace_id: None,
    }
}

/// A model of the only provider.
#[must_use]
pub fn mock(model: &str) -> ModelRef {
    ModelRef {
        id: model.to_owned(),
        provider_id: "mock".to_owned(),
        variant: None,
    }
}

/// No server listens at the address. Requests go to the model of the host.
fn config() -> Value {
    let mut agents = AGENTS.map(|name| (name.to_owned(), json!({"mode": "primary"})));
    // The model calls tools in the last turn, too.
    agents[1].1["steps"] = json!(2);
    json!({
        "model": "mock/m1",
        "compaction": {"keep": {"tokens": 10}},
        "permission": "allow",
        "agent": Value::Object(agents.into_iter().collect()),
        "provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "test"},
            "models": {"m1": {}, "m2": {}},
        }},
    })
}
