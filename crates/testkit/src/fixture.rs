//! A runtime on a real database file, with everything around it decided by the test.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opencode_location::locations::Locations;
use opencode_runtime::{
    CreateSession, DatabasePath, DrainOutcome, Durability, Order, PromptRequest, Runtime,
    RuntimeError, RuntimeOptions, StoredEvent,
};
use opencode_schema::clock::Clock;
use opencode_schema::id::{IdSource, MessageID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::message::SessionMessage;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::{Delivery, PromptInput, SessionInputAdmitted};
use opencode_schema::session::SessionInfo;
use opencode_tools::{
    AllowAll, Contributions, ManagedOutput, OutputLimits, Registration, Registry, Tool,
    ToolContext, ToolFailure, ToolOutput,
};
use serde_json::{Value, json};

use crate::clock::{FakeClock, WriterHold, fake_ids};
use crate::compact;
use crate::gate::Gate;
use crate::live::LiveLog;
use crate::model::ScriptedModel;
use crate::project::TempProject;
use crate::tool::ScriptedTool;

/// How long any wait may take. Far more than anything needs, because machines are busy.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// More than any test writes.
const ALL: usize = 100_000;

/// An open runtime. Its model fails the test at the end if the script was not followed.
pub struct Fixture {
    /// The model of every provider.
    pub model: ScriptedModel,
    /// The time.
    pub clock: Arc<FakeClock>,
    /// The folder of sessions that name none.
    pub project: TempProject,
    runtime: Option<Runtime>,
    /// Hold their files until the end, as processes that were stopped would.
    killed: Vec<Runtime>,
    ids: Arc<IdSource>,
    config: Value,
    database: PathBuf,
    tools: Contributions,
    registrations: Mutex<Vec<Registration>>,
    sessions: Mutex<Vec<SessionID>>,
}

impl Fixture {
    /// A runtime with the provider `mock`, whose model `m1` is the default and has prices, and
    /// whose model `m2` has none.
    pub async fn open() -> Self {
        Self::with_config(json!({
            "model": "mock/m1",
            "provider": {"mock": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "test"},
                "models": {
                    "m1": {"cost": {
                        "input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75,
                    }},
                    "m2": {},
                },
            }},
        }))
        .await
    }

    /// A runtime with this configuration.
    pub async fn with_config(config: Value) -> Self {
        let project = TempProject::new();
        let clock = Arc::new(FakeClock::default());
        let mut fixture = Self {
            model: ScriptedModel::new(),
            runtime: None,
            killed: Vec::new(),
            ids: fake_ids(Arc::clone(&clock)),
            clock,
            config,
            database: project.root().join("data/opencode.db"),
            project,
            tools: Contributions::default(),
            registrations: Mutex::default(),
            sessions: Mutex::default(),
        };
        fixture.open_runtime().await;
        fixture
    }

    async fn open_runtime(&mut self) {
        let output = ManagedOutput::new(
            self.project.root().join("data/tool-output"),
            OutputLimits::default(),
            Arc::clone(&self.ids),
        );
        let environment = Arc::new(self.project.environment());
        let clock: Arc<dyn Clock> = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let opened = Runtime::open(RuntimeOptions {
            database: DatabasePath::File(self.database.clone()),
            durability: Durability::Normal,
            directory: self.project.directory(),
            locations: Arc::new(Locations::new(environment, Some(self.config.clone()))),
            tools: Arc::new(Registry::new(self.tools.clone(), Arc::new(output))),
            permissions: Arc::new(AllowAll),
            model: Arc::new(self.model.clone()),
            clock,
            ids: Arc::clone(&self.ids),
        });
        self.runtime = Some(opened.await.expect("the database can be opened"));
    }

    /// The runtime.
    pub fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("the runtime is open")
    }

    /// Closes the runtime and opens it again, as the same program does later.
    pub async fn reopen(&mut self) {
        self.close().await;
        self.open_runtime().await;
    }

    /// Closes the runtime.
    pub async fn close(&self) {
        self.within("close", self.runtime().close()).await;
    }

    /// Goes on with what a process that is killed now leaves on the disk.
    pub async fn kill(&mut self) {
        let folder = format!("killed-{}", self.killed.len());
        let folder = self.project.root().join(folder);
        fs::create_dir(&folder).expect("the folder is ours");
        for suffix in ["", "-wal"] {
            let mut from = self.database.clone().into_os_string();
            from.push(suffix);
            let to = folder.join(format!("opencode.db{suffix}"));
            fs::copy(from, to).expect("an open database has both files");
        }
        self.database = folder.join("opencode.db");
        self.killed.extend(self.runtime.take());
        self.open_runtime().await;
    }

    /// Drops the runtime without closing it and opens it again.
    pub async fn drop_and_reopen(&mut self) {
        drop(self.runtime.take());
        let mut lock = self.database.clone().into_os_string();
        lock.push(".lock");
        // The operating system says when the file is free.
        let free = tokio::task::spawn_blocking(move || File::open(lock)?.lock());
        let free = tokio::time::timeout(DEADLINE, free).await;
        free.expect("the dropped runtime lets go of its file")
            .expect("waiting does not panic")
            .expect("the file can be locked");
        self.open_runtime().await;
    }

    /// Adds a tool that does what a closure says.
    pub fn tool<F>(
        &self,
        name: &str,
        run: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static,
    ) -> &Self
    where
        F: Future<Output = Result<ToolOutput, ToolFailure>> + Send + 'static,
    {
        self.register(vec![(name.to_owned(), Arc::new(ScriptedTool::new(run)))])
    }

    /// Adds tools.
    pub fn register(&self, tools: Vec<(String, Arc<dyn Tool>)>) -> &Self {
        let registered = self.tools.register(tools);
        let registration = registered.expect("the test gives legal names");
        lock(&self.registrations).push(registration);
        self
    }

    /// Adds a tool that answers with its input once the gate is open.
    pub fn held_tool(&self, name: &str, gate: &Gate) -> &Self {
        let gate = gate.clone();
        self.tool(name, move |input, _| {
            let gate = gate.clone();
            async move {
                gate.pass().await;
                crate::tool::output(input)
            }
        })
    }

    /// Creates a session that has chosen nothing.
    pub async fn session(&self) -> SessionID {
        self.create(self.new_session()).await.id
    }

    /// Creates a session that has chosen this model of the provider `mock`.
    pub async fn session_on(&self, model: &str) -> SessionID {
        let request = CreateSession {
            model: Some(mock(model)),
            ..self.new_session()
        };
        self.create(request).await.id
    }

    /// A session in the project that has chosen nothing.
    pub fn new_session(&self) -> CreateSession {
        CreateSession {
            id: None,
            agent: None,
            model: None,
            location: LocationRef {
                directory: self.project.directory(),
                workspace_id: None,
            },
        }
    }

    /// Creates a session.
    pub async fn create(&self, request: CreateSession) -> SessionInfo {
        let created = self.runtime().create_session(request);
        let info = self.within("create", created).await;
        let info = info.expect("the session can be created");
        let mut sessions = lock(&self.sessions);
        if !sessions.contains(&info.id) {
            sessions.push(info.id.clone());
        }
        info
    }

    /// Prompts and returns the receipt.
    pub async fn prompt(&self, session: &SessionID, text: &str) -> SessionInputAdmitted {
        self.admit(prompt_request(session, text)).await
    }

    /// Prompts by queue and returns the receipt.
    pub async fn queue(&self, session: &SessionID, text: &str) -> SessionInputAdmitted {
        self.admit(PromptRequest {
            delivery: Delivery::Queue,
            ..prompt_request(session, text)
        })
        .await
    }

    /// Prompts without waking the session.
    pub async fn leave(
        &self,
        session: &SessionID,
        text: &str,
        delivery: Delivery,
    ) -> SessionInputAdmitted {
        self.admit(PromptRequest {
            delivery,
            resume: false,
            ..prompt_request(session, text)
        })
        .await
    }

    /// Prompts with everything decided, which must succeed.
    pub async fn admit(&self, request: PromptRequest) -> SessionInputAdmitted {
        let admitted = self.try_admit(request).await;
        admitted.expect("the prompt is admitted")
    }

    /// Prompts with everything decided.
    pub async fn try_admit(
        &self,
        request: PromptRequest,
    ) -> Result<SessionInputAdmitted, RuntimeError> {
        self.within("prompt", self.runtime().prompt(request)).await
    }

    /// Prompts and waits until the session is idle.
    pub async fn ask(&self, session: &SessionID, text: &str) -> SessionInputAdmitted {
        let receipt = self.prompt(session, text).await;
        self.wait(session).await;
        receipt
    }

    /// Waits until the session is idle.
    pub async fn wait(&self, session: &SessionID) {
        let waited = self.within("wait", self.runtime().wait(session)).await;
        waited.expect("the session exists");
    }

    /// Runs the session and returns how that ended.
    pub async fn run(&self, session: &SessionID) -> DrainOutcome {
        let run = self.within("run", self.runtime().run(session)).await;
        run.expect("the session exists")
    }

    /// Interrupts the session.
    pub async fn interrupt(&self, session: &SessionID) {
        let interrupted = self.runtime().interrupt(session);
        let interrupted = self.within("interrupt", interrupted).await;
        interrupted.expect("the session exists");
    }

    /// Chooses another model of the provider `mock`.
    pub async fn switch_model(&self, session: &SessionID, model: &str) {
        let switched = self.runtime().switch_model(session, mock(model));
        let switched = self.within("switch model", switched).await;
        switched.expect("the session exists");
    }

    /// The session's record.
    pub async fn info(&self, session: &SessionID) -> SessionInfo {
        let info = self.within("session", self.runtime().session(session));
        info.await.expect("the session exists")
    }

    /// Every durable event of the session as it is stored.
    pub async fn stored(&self, session: &SessionID) -> Vec<StoredEvent> {
        let history = self.runtime().history(session, None, ALL);
        let history = self.within("history", history).await;
        history.expect("the session exists").0
    }

    /// Every durable event of the session, as [`compact::event`] writes them.
    pub async fn events(&self, session: &SessionID) -> Vec<String> {
        let stored = self.stored(session).await;
        stored.iter().map(compact::stored).collect()
    }

    /// The durable events after the first `count`.
    pub async fn events_after(&self, session: &SessionID, count: usize) -> Vec<String> {
        self.events(session).await.split_off(count)
    }

    /// The payloads of the session's durable events of that name, without time and session.
    pub async fn payloads(&self, session: &SessionID, name: &str) -> Vec<Value> {
        let name = format!("session.next.{name}");
        let stored = self.stored(session).await;
        let named = stored
            .iter()
            .filter(|event| event.spec().is_some_and(|spec| spec.name == name));
        named
            .map(|event| serde_json::from_str(&event.data).expect("the log holds JSON"))
            .collect()
    }

    /// Every message of the session, oldest first.
    pub async fn messages(&self, session: &SessionID) -> Vec<SessionMessage> {
        let listed = self
            .runtime()
            .messages(session, Order::Ascending, None, ALL);
        let listed = self.within("messages", listed).await;
        let listed = listed.expect("the session exists");
        listed.into_iter().map(|(_, message)| message).collect()
    }

    /// Waits until the session has recorded an event that reads so.
    pub async fn recorded(&self, session: &SessionID, wanted: &str) {
        let follow = async {
            let events = self.runtime().events(session, None).await;
            let mut events = events.expect("the session exists");
            loop {
                let batch = events.next().await.expect("the runtime is open");
                if batch.iter().any(|event| compact::stored(event) == wanted) {
                    return;
                }
            }
        };
        self.within(wanted, follow).await;
    }

    /// Waits until somebody came to the gate.
    pub async fn reached(&self, gate: &Gate) {
        self.within("gate reached", gate.reached()).await;
    }

    /// Waits until somebody who came to the gate, or was to come, has gone away.
    pub async fn dropped(&self, gate: &Gate) {
        self.within("gate dropped", gate.dropped()).await;
    }

    /// Waits until the model was asked `count` times.
    pub async fn asked(&self, count: usize) {
        self.within("requests", self.model.asked(count)).await;
    }

    /// Waits until the writer stands where it is held.
    pub async fn writer_held(&self, hold: &WriterHold) {
        self.within("writer held", hold.reached()).await;
    }

    /// Listens to the live stream from now on.
    pub fn live(&self) -> LiveLog {
        LiveLog::new(self.runtime().subscribe())
    }

    /// Listens until an event comes that reads so.
    pub async fn heard(&self, live: &mut LiveLog, wanted: &str) {
        self.within(wanted, live.until(wanted)).await;
    }

    /// Listens until the stream ends, which it does when the runtime closes.
    pub async fn heard_all(&self, live: &mut LiveLog) {
        self.within("the end of the live stream", live.rest()).await;
    }

    /// Waits, and fails with what happened so far when that takes too long.
    pub async fn within<T>(&self, what: &str, wait: impl Future<Output = T>) -> T {
        match tokio::time::timeout(DEADLINE, wait).await {
            Ok(value) => value,
            Err(_) => panic!(
                "not within {DEADLINE:?}: {what}; so far: {}",
                self.so_far().await
            ),
        }
    }

    async fn so_far(&self) -> String {
        let sessions = lock(&self.sessions).clone();
        let requests = self.model.requests().len();
        let mut text = format!("{requests} requests");
        let Some(runtime) = &self.runtime else {
            return text;
        };
        for session in sessions {
            let history = runtime.history(&session, None, ALL);
            let history = tokio::time::timeout(Duration::from_secs(1), history).await;
            let events: Vec<_> = match &history {
                Ok(Ok((events, _))) => events.iter().map(compact::stored).collect(),
                _ => vec!["unreadable".to_owned()],
            };
            text = format!("{text}\n{session}: {events:#?}");
        }
        text
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let problems = self.model.problems();
        assert!(
            std::thread::panicking() || problems.is_empty(),
            "{problems:#?}"
        );
    }
}

/// A prompt that steers and wakes the session.
#[must_use]
pub fn prompt_request(session: &SessionID, text: &str) -> PromptRequest {
    PromptRequest {
        session_id: session.clone(),
        id: None::<MessageID>,
        prompt: PromptInput {
            text: text.to_owned(),
            files: None,
            agents: None,
        },
        delivery: Delivery::Steer,
        resume: true,
    }
}

fn mock(model: &str) -> ModelRef {
    ModelRef {
        id: model.to_owned(),
        provider_id: "mock".to_owned(),
        variant: None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
