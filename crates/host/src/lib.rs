//! Embedded OpenCode as a Rust value: the composition root.
//!
//! [`Host::open`] composes the parts from one set of options. [`Host::request`] sends a request through the same router
//! that [`Host::listen`] serves on a socket. The crates above do not know how the runtime is composed, and the crates
//! below do not know that it is embedded.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod dispatch;
#[cfg(test)]
mod fuzz;
mod large_body;
mod listeners;
mod log;
mod logged_body;
mod options;
mod panics;
mod program;
mod remote;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod trust;

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use futures::{FutureExt, Stream, StreamExt};
use opencode_location::catalogue::ProgramProviders;
use opencode_location::config::RemoteDocuments;
use opencode_location::location::Locations;
use opencode_net::{HttpClients, HttpDownloads, Proxies, Web};
use opencode_protocol::failure::Failure;
use opencode_protocols::{HttpModelClient, HttpOptions};
use opencode_runtime::{
    AskEnvironment, CredentialValues, Hooks, OpenError, Recovery, Runtime, RuntimeOptions,
    ShareService, SystemTimer,
};
use opencode_schema::clock::{Clock, SystemClock};
use opencode_schema::id::IdSource;
use opencode_schema::location::LocationRef;
use opencode_tools::{
    CallHooks, Contributions, ManagedOutput, Registration, Registry, SearchServices, built_in_tools,
};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tracing::instrument::WithSubscriber as _;

use crate::listeners::{Defaults, Listeners};
use crate::options::ShareOption;
use crate::program::calls::ProgramCalls;
use crate::program::context_sources::ProgramContextSources;
use crate::program::credentials::ProgramCredentials;
use crate::program::environment::ProgramEnvironment;
use crate::program::hooks::ProgramHooks;
use crate::program::models::ModelClients;
use crate::program::sharing::ProgramSharing;
use crate::program::tools::ProgramTools;
use crate::trust::TrustQuestions;

pub use dispatch::Closed;
pub use large_body::{LARGE_BODY, lines_of_large_body};
pub use log::{HostLog, LevelOption, LogBatches, LogOptions};
pub use opencode_server::{EMBEDDED, ListenOptions, Listener, Login, Password};
pub use options::HostOptions;
pub use panics::report_panics;
pub use program::context_sources::ContextSourceRegistration;
pub use program::hooks::{HookMoment, HookRegistration};
pub use program::providers::ProviderRegistration;
pub use program::registration::{Registered, RegistrationKind};
pub use program::tools::ToolRegistration;

/// An open host. The caller must close it. Dropping it only interrupts running work and releases the database some time
/// later; nothing that was acknowledged is lost.
pub struct Host {
    runtime: Runtime,
    dispatcher: dispatch::Dispatcher,
    listeners: Listeners,
    log: HostLog,
    /// Calls of functions of the program.
    calls: ProgramCalls,
    tools: ProgramTools,
    context_sources: ProgramContextSources,
    hooks: Arc<ProgramHooks>,
    environment: Arc<ProgramEnvironment>,
    providers: ProgramProviders,
    /// The action on interrupted sessions, until it has begun.
    recovery: Mutex<Option<Recovery>>,
    /// The runtime of the host, for work that a call from outside starts.
    handle: Handle,
    /// Keeps the built-in tools registered.
    _tools: Registration,
}

impl Host {
    /// Opens a host without a log.
    ///
    /// # Errors
    ///
    /// A tagged failure that says which option or which file is at fault.
    pub async fn open(options: HostOptions) -> Result<Self, Failure> {
        Self::open_with_log(options, HostLog::off()).await
    }

    /// Opens a host with a log. If this fails, the caller must end the log.
    ///
    /// # Errors
    ///
    /// A tagged failure that names the option or the file.
    pub async fn open_with_log(options: HostOptions, log: HostLog) -> Result<Self, Failure> {
        log.learn_options(&options);
        let dispatch = log.log().dispatch();
        let opening = panics::caught(Box::pin(Self::compose(options, log)));
        opening.with_subscriber(dispatch).await
    }

    async fn compose(options: HostOptions, log: HostLog) -> Result<Self, Failure> {
        let database = options.database_path();
        let path = options.database.clone();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids = Arc::new(IdSource::new(Arc::clone(&clock)));
        let output =
            ManagedOutput::new(options.data_directory.join("tool-output"), Arc::clone(&ids));
        let calls = ProgramCalls::new();
        let hooks = Arc::new(ProgramHooks::new(calls.clone()));
        let terminals = Arc::new(ProgramEnvironment::new(calls.clone()));
        let tools = Registry::new(Contributions::default(), Arc::new(output));
        let tools = Arc::new(tools.with_hooks(Arc::clone(&hooks) as Arc<dyn CallHooks>));
        let directory = options.directory.clone();
        let durability = options.durability.into();
        let (limits, recovery) = (options.limits.into(), options.recovery.into());
        let reminders = options.reminders;
        let unanswered = options.permissions.unanswered.into();
        let titles = options.titles;
        let refresh_models = options.refresh_models;
        let (budgets, fallback) = (options.budgets, options.fallback()?);
        let share = options.share.map(|mode| ShareService {
            sessions: Arc::new(ProgramSharing::new(calls.clone())),
            is_automatic: mode == ShareOption::Auto,
        });
        let credentials = options
            .credentials
            .then(|| Arc::new(ProgramCredentials::new(calls.clone())) as Arc<dyn CredentialValues>);
        let (retry, deadlines) = (options.retry.into(), options.deadlines);
        let questions = Arc::new(TrustQuestions::new(calls.clone()));
        let trust = options.trust.with(&questions);
        let remote = options.remote_servers()?;
        let provider_oauth = options.provider_oauth()?;
        let (environment, mut configuration) = options.into_machine_configuration()?;
        let proxies = Proxies::from_variables(|name| environment.variable(name));
        if !remote.is_empty() {
            let downloads = HttpDownloads::new(proxies.clone());
            let load = remote::load(remote, downloads, &environment.cache);
            configuration.remote = RemoteDocuments::new(load);
        }
        let downloads = HttpDownloads::new(proxies.clone());
        let web: Arc<dyn Web> = Arc::new(downloads.clone());
        let search = SearchServices::from_variables(|name| environment.variable(name));
        let registration = tools
            .host()
            .register(built_in_tools(clock.as_ref(), &web, search))
            .expect("the names of the built-in tools are valid");
        let clients = HttpClients::new(deadlines.connect(), proxies.clone());
        let timeouts = deadlines.timeouts();
        let http = HttpModelClient::new(HttpOptions {
            proxies,
            connect_timeout: deadlines.connect(),
            timeouts,
            ..HttpOptions::default()
        });
        let model = ModelClients::new(http, calls.clone(), timeouts);
        let providers = ProgramProviders::default();
        let defaults = Defaults::from_variables(|name| environment.variable(name));
        let runtime = Runtime::open(RuntimeOptions {
            database,
            durability,
            directory,
            locations: Arc::new(
                Locations::new(Arc::new(environment), configuration)
                    .with_clock(Arc::clone(&clock))
                    .with_trust(trust)
                    .with_program_providers(providers.clone())
                    .with_learn_secrets(log.secrets_learner()),
            ),
            tools: Arc::clone(&tools),
            unanswered,
            timer: Arc::new(SystemTimer),
            model: Arc::new(model),
            retry,
            fetch: Arc::new(downloads),
            http: clients,
            clock,
            ids,
            limits,
            hooks: Arc::clone(&hooks) as Arc<dyn Hooks>,
            pty_environment: Arc::clone(&terminals) as Arc<dyn AskEnvironment>,
            // It begins after the program has registered its tools.
            recovery: Recovery::Manual,
            reminders,
            titles,
            refresh_models,
            share,
            credentials,
            provider_oauth,
            budgets: budgets.into(),
            fallback,
            test_hook: None,
        });
        let runtime = runtime.await.map_err(|error| open_failure(path, &error))?;
        let routes = opencode_server::router(runtime.clone());
        Ok(Self {
            tools: ProgramTools::new(tools, calls.clone()),
            context_sources: ProgramContextSources::new(calls.clone()),
            calls,
            hooks,
            environment: terminals,
            providers,
            recovery: Mutex::new(Some(recovery)),
            handle: Handle::current(),
            runtime,
            dispatcher: dispatch::Dispatcher::start(routes.clone()),
            listeners: Listeners::new(routes, defaults),
            log,
            _tools: registration,
        })
    }

    /// Sends a request through the router. Requests are admitted in the order of these calls,
    /// whenever the futures are awaited.
    pub fn request(
        &self,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Body>, Closed>> + Send + use<> {
        let answer = self.log.log().run(|| self.dispatcher.send(request));
        let dispatch = self.log.log().dispatch();
        answer.map(|answer| answer.map(|response| logged_body::carried(response, dispatch)))
    }

    /// Serves requests on a socket until the listener or the host is closed. Work that such a request starts counts for
    /// [`until_idle`](Self::until_idle); the request itself does not.
    ///
    /// # Errors
    ///
    /// `InvalidOption` for an invalid option, `AddressUnavailable` if the address cannot be bound,
    /// `ServiceUnavailable` if the host is closed.
    pub async fn listen(&self, options: ListenOptions) -> Result<Listener, Failure> {
        let listening = panics::caught(self.listeners.listen(options));
        listening.with_subscriber(self.log.log().dispatch()).await
    }

    /// Returns the permission requests of all sessions, first those that already wait: each once as JSON
    /// `{"asked": request}`, and the end of each as `{"ended": id}`. Ends when the host closes.
    pub fn asked_permissions(&self) -> impl Stream<Item = String> + Send + use<> {
        self.runtime.asked_permissions().map(|it| text(&it))
    }

    /// Returns the questions of all sessions, in the same way.
    pub fn asked_questions(&self) -> impl Stream<Item = String> + Send + use<> {
        self.runtime.asked_questions().map(|it| text(&it))
    }

    /// Returns the calls of functions of the program as JSON arrays of notices: `{"call": {id, function, input}}`,
    /// `{"permitted": id}`, `{"taken": id}` and `{"ended": id}`. Only the first caller receives them. Ends when the host closes.
    pub fn program_calls(&self) -> impl Stream<Item = String> + Send + use<> {
        self.calls.notices()
    }

    /// Receives a message of the program about a call, as JSON: `{"result": value}`, `{"error": {message, stack}}`,
    /// `{"progress": {structured, content}}`, `{"permission": {action, resources, save}}` or `{"events": [event]}`.
    /// Returns false if the call does not wait any more.
    pub fn receive(&self, call: u32, message: &str) -> bool {
        self.log.log().run(|| self.calls.receive(call, message))
    }

    /// Registers what a program gives, for one Location or for all. Returns its number, which is unique in its kind.
    ///
    /// # Errors
    ///
    /// `InvalidOption` if a member or the directory cannot be used.
    pub fn register(&self, given: Registered, directory: Option<String>) -> Result<u32, Failure> {
        match given {
            Registered::Tool(tool) => {
                let directory = self.registered_directory(directory)?;
                self.tools.register(tool, directory.as_deref())
            }
            Registered::ContextSource(source) => {
                let (sources, directory) = (&self.context_sources, directory.as_deref());
                sources.register(&self.runtime, source, directory)
            }
            Registered::Provider(provider) => {
                let directory = self.registered_directory(directory)?;
                let (providers, runtime) = (&self.providers, &self.runtime);
                program::providers::register(providers, runtime, &provider, directory)
            }
            Registered::Hook(hook) => {
                let directory = self.registered_directory(directory)?;
                Ok(self.hooks.register(hook, directory))
            }
            Registered::Environment => Ok(self.environment.register()),
        }
    }

    /// Removes what a program registered. Its running calls continue. Ignores an unknown number.
    pub fn unregister(&self, kind: RegistrationKind, number: u32) {
        match kind {
            RegistrationKind::Tool => self.tools.remove(number),
            RegistrationKind::ContextSource => self.context_sources.remove(number),
            RegistrationKind::Provider => {
                program::providers::remove(&self.providers, &self.runtime, number);
            }
            RegistrationKind::Hook => self.hooks.remove(number),
            RegistrationKind::Environment => self.environment.remove(number),
        }
    }

    fn registered_directory(&self, directory: Option<String>) -> Result<Option<String>, Failure> {
        let location = directory.map(|directory| LocationRef {
            directory,
            workspace_id: None,
        });
        let place = location.map(|location| self.runtime.place(&location));
        let place = place.transpose().map_err(|error| Failure::InvalidOption {
            option: "location.directory".into(),
            message: error.to_string(),
        })?;
        Ok(place.map(|place| place.directory))
    }

    /// Begins the recovery that the options chose. The program calls it once it has registered its tools.
    pub fn begin_recovery(&self) {
        let recovery = self.recovery.lock().take();
        if recovery == Some(Recovery::Resume) {
            let _context = self.handle.enter();
            let log = self.log.log();
            log.run(|| self.runtime.resume_interrupted());
        }
    }

    /// Trusts the project of a Location from now on, or no longer. Without a directory it is the default Location.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` if the directory is invalid. The decision about it still holds.
    pub async fn trust(&self, directory: Option<String>, trusted: bool) -> Result<(), Failure> {
        let directory = directory.unwrap_or_else(|| self.runtime.default_directory().to_owned());
        let location = LocationRef {
            directory,
            workspace_id: None,
        };
        let decided = self.runtime.trust_location(&location, trusted);
        let decided = decided.with_subscriber(self.log.log().dispatch()).await;
        self.log
            .log()
            .run(|| decided.map_err(opencode_server::failure))
    }

    /// Replaces the budget of the host, given as JSON. The work since its opening still counts.
    ///
    /// # Errors
    ///
    /// `InvalidOption` names an invalid limit.
    pub fn set_budget(&self, limits: &str) -> Result<(), Failure> {
        let invalid = |message: String| Failure::InvalidOption {
            option: "budget".to_owned(),
            message,
        };
        let limits: options::Limited =
            serde_json::from_str(limits).map_err(|error| invalid(error.to_string()))?;
        let set = self.runtime.set_host_budget(limits.into());
        set.map_err(|error| invalid(error.to_string()))
    }

    /// Adds a warning about a function of the program to the log, if the log options include it. The fields are a JSON
    /// object; `sessionID` and `directory` in it name the subject.
    pub fn warn(&self, message: &str, fields: &str) {
        self.log.warn(message, fields);
    }

    /// Completes when nothing runs and no earlier request can start anything, or when the host is closed or dropped.
    pub fn until_idle(&self) -> impl Future<Output = ()> + Send + use<> {
        let (answered, runtime) = (self.dispatcher.until_answered(), self.runtime.clone());
        async move {
            answered.await;
            runtime.until_idle().await;
        }
    }

    /// Stops listening, interrupts every Session Drain, waits until they have settled, ends the
    /// streams and closes the database. Closing twice is harmless.
    pub async fn close(&self) {
        let closing = AssertUnwindSafe(self.end()).catch_unwind();
        let closed = closing.with_subscriber(self.log.log().dispatch()).await;
        if closed.is_err() {
            let log = self.log.log();
            log.run(|| opencode_server::log_panic("the closing of the host"));
        }
        self.log.end();
        if let Err(panic) = closed {
            resume_unwind(panic);
        }
    }

    async fn end(&self) {
        let listeners = self.listeners.stop();
        let closed = AssertUnwindSafe(self.runtime.close()).catch_unwind().await;
        self.calls.end();
        self.tools.end();
        self.context_sources.end();
        self.hooks.end();
        listeners.end().await;
        self.dispatcher.close();
        if let Err(panic) = closed {
            resume_unwind(panic);
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.log.log().run(|| {
            self.calls.end();
            self.runtime.abandon();
            self.dispatcher.close();
        });
        self.log.end();
    }
}

fn text(request: &impl serde::Serialize) -> String {
    serde_json::to_string(request).expect("a request is plain data")
}

fn open_failure(path: String, error: &OpenError) -> Failure {
    let message = error.to_string();
    match error {
        OpenError::InUse { holder, .. } => Failure::DatabaseInUse {
            path,
            pid: holder.pid(),
            message,
        },
        OpenError::Version { .. } => Failure::DatabaseVersion { path, message },
        OpenError::Unavailable { .. } => Failure::DatabaseUnavailable { path, message },
    }
}
