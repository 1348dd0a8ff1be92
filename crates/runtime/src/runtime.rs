//! The session runtime of one host, from its opening to its close.

use std::sync::Arc;
use std::time::Duration;

use opencode_location::location::Locations;
use opencode_oauth::Callbacks;
use opencode_store::{OpenError, Store, StoreOptions};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agents::unknown::UnknownAgents;
use crate::asks::permissions::{Permissions, TaskGivers};
use crate::asks::questions::Questions;
use crate::asks::unanswered::AnswerTimeout;
use crate::budgets::Budgets;
use crate::commands::{CommandRunner, RunningCommands};
use crate::compaction::Compactor;
use crate::coordinator::Coordinator;
use crate::drain::{Services, Shared, Titles, begin_drains};
use crate::inbox::{Inbox, PromptOrder};
use crate::integrations::{Credentials, IntegrationServices, Integrations, oauth};
use crate::journal::Journal;
use crate::lifecycle::Lifecycle;
use crate::live::Announcer;
use crate::mcp::McpServers;
use crate::metrics::Metrics;
use crate::model_list::ModelListRefresh;
use crate::options::RuntimeOptions;
use crate::provider::{LearntWindows, Provider};
use crate::recovery::{Recovery, recover};
use crate::redaction::Redaction;
use crate::revert::Reverts;
use crate::sessions::Sessions;
use crate::sessions::todos::TodoLists;
use crate::sharing::{ShareQueue, Sharing};
use crate::snapshots::{ChangedSessions, Counting, SessionChanges, SnapshotStores};
use crate::sources::Sources;
use crate::streams::SharedReads;
use crate::sweeps;
use crate::tasks::{RunningTasks, TaskSessions};
use crate::terminals::HostTerminals;
use crate::timer::Timer;
use crate::transfer::{ImportBudget, Imports};

/// Maximum time that closing waits for drains to settle before it closes the database. Work committed by then is kept;
/// the next drain settles the rest.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time that closing waits for readers of durable events to receive the committed events.
const READERS_TIMEOUT: Duration = Duration::from_secs(1);

/// Time for a capture that is under way to stop.
const CAPTURES_TIMEOUT: Duration = Duration::from_secs(2);

/// The session runtime of one host.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) journal: Arc<Journal>,
    pub(crate) locations: Arc<Locations>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) sharing: Arc<Sharing>,
    pub(crate) changes: Arc<SessionChanges>,
    pub(crate) todos: Arc<TodoLists>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) commands: Arc<CommandRunner>,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) questions: Arc<Questions>,
    pub(crate) unknown_agents: Arc<UnknownAgents>,
    pub(crate) reverts: Arc<Reverts>,
    pub(crate) terminals: Arc<HostTerminals>,
    pub(crate) mcp: Arc<McpServers>,
    pub(crate) integrations: Arc<Integrations>,
    pub(crate) imports: Arc<Imports>,
    pub(crate) followed: Arc<SharedReads>,
    snapshots: Arc<SnapshotStores>,
    timer: Arc<dyn Timer>,
    pub(crate) drains: Arc<Services>,
    pub(crate) coordinator: Coordinator,
    pub(crate) shared: Arc<Shared>,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) directory: Arc<str>,
    /// Ends the drains.
    pub(crate) closing: CancellationToken,
    /// Ends the durable streams after the drains have settled.
    pub(crate) closed: CancellationToken,
    /// All background work: drains, their tools, recovery, and operations whose caller dropped the future. The tracker
    /// is closed from the beginning, so that callers can wait until it is empty.
    pub(crate) tasks: TaskTracker,
}

impl Runtime {
    /// Opens the database and starts the runtime.
    ///
    /// # Errors
    ///
    /// Returns the reason why the database cannot be opened.
    pub async fn open(options: RuntimeOptions) -> Result<Self, OpenError> {
        let database = options.database.clone();
        let redaction = Redaction::new(options.locations.all_secrets());
        let (ids, clock) = (Arc::clone(&options.ids), Arc::clone(&options.clock));
        let announcer = Arc::new(Announcer::new(ids, clock, redaction.clone()));
        let listener = Arc::clone(&announcer);
        let (shares, waiting_shares) = ShareQueue::new(options.share.is_some());
        let created = shares.clone();
        let (changed, changed_sessions) = ChangedSessions::new();
        let store = Store::open(StoreOptions {
            path: options.database,
            durability: options.durability,
            ids: Arc::clone(&options.ids),
            // This runs on the writer's thread and only enqueues.
            listener: Box::new(move |committed| {
                listener.announce_committed(committed);
                created.committed(committed);
                changed.committed(committed);
            }),
            test_hook: options.test_hook,
        })
        .await?;
        store.clean_with(Box::new(move |draft| redaction.draft(draft)));
        let (locations, timer) = (options.locations, options.timer);
        let journal = Arc::new(Journal {
            store,
            ids: options.ids,
            clock: options.clock,
            announcer,
        });
        let has_removed_rows = Box::pin(Lifecycle::has_removed_rows(&journal)).await;
        let closing = CancellationToken::new();
        let sessions = Arc::new(Sessions {
            journal: Arc::clone(&journal),
            locations: Arc::clone(&locations),
        });
        let sharing = Arc::new(Sharing {
            journal: Arc::clone(&journal),
            locations: Arc::clone(&locations),
            service: options.share,
            timer: Arc::clone(&timer),
            closing: closing.clone(),
        });
        let todos = Arc::new(TodoLists::new(Arc::clone(&journal)));
        let inbox = Arc::new(Inbox {
            journal: Arc::clone(&journal),
            limit: options.limits.inbox,
            hooks: Arc::clone(&options.hooks),
            order: PromptOrder::default(),
        });
        let timeout = AnswerTimeout {
            unanswered: options.unanswered,
            timer: Arc::clone(&timer),
        };
        let givers = TaskGivers::default();
        let permissions = Permissions::new(
            Arc::clone(&journal),
            Arc::clone(&locations),
            timeout.clone(),
            givers.clone(),
        );
        let permissions = Arc::new(permissions);
        let questions = Arc::new(Questions::new(Arc::clone(&journal), timeout));
        let unknown_agents = Arc::new(UnknownAgents::default());
        let environment = Arc::clone(locations.environment());
        let snapshots = SnapshotStores::new(
            Arc::clone(&journal),
            Arc::clone(&timer),
            &environment.data,
            &database,
        );
        let snapshots = Arc::new(snapshots);
        let changes = Arc::new(SessionChanges {
            journal: Arc::clone(&journal),
            locations: Arc::clone(&locations),
            snapshots: Arc::clone(&snapshots),
            running: Counting::default(),
            closing: closing.clone(),
        });
        let reverts = Arc::new(Reverts::new(Arc::clone(&sessions), Arc::clone(&snapshots)));
        let terminals = HostTerminals::new(
            options.pty_environment,
            Arc::clone(&journal.announcer),
            Arc::clone(&journal.ids),
            Arc::clone(&journal.clock),
            Arc::clone(&timer),
            closing.clone(),
        );
        let imports = Imports {
            journal: Arc::clone(&journal),
            budget: ImportBudget::default(),
            locations: Arc::clone(&locations),
            directory: options.directory.clone(),
        };
        let provider = Arc::new(Provider {
            journal: Arc::clone(&journal),
            model: options.model,
            retry: options.retry,
            limits: Arc::default(),
            windows: LearntWindows::default(),
            timer: Arc::clone(&timer),
        });
        let credentials = Credentials::new(
            Arc::clone(&journal),
            options.credentials,
            Arc::clone(&timer),
        );
        let credentials = Arc::new(credentials);
        let callbacks = Arc::new(Callbacks::default());
        let oauth = oauth(
            &journal,
            &credentials,
            options.http.clone(),
            Arc::clone(&callbacks),
        );
        let mcp = Arc::new(McpServers::new(
            Arc::clone(&options.tools),
            Arc::clone(&journal.announcer),
            Arc::new(oauth.clone()),
            options.http.clone(),
        ));
        let integrations = Integrations::new(IntegrationServices {
            journal: Arc::clone(&journal),
            credentials,
            locations: Arc::clone(&locations),
            servers: Arc::clone(&mcp),
            oauth,
            provider_oauth: options.provider_oauth,
            clients: options.http,
            callbacks,
            timer: Arc::clone(&timer),
            closing: closing.clone(),
        });
        let running_commands = RunningCommands::default();
        let commands = CommandRunner {
            running: running_commands.clone(),
            journal: Arc::clone(&journal),
            locations: Arc::clone(&locations),
            inbox: Arc::clone(&inbox),
            permissions: Arc::clone(&permissions),
            mcp: Arc::clone(&mcp),
            closing: closing.clone(),
        };
        let budgets = Arc::new(Budgets::new(options.budgets));
        if options.refresh_models {
            let refresh = ModelListRefresh {
                locations: Arc::clone(&locations),
                fetch: Arc::clone(&options.fetch),
                timer: Arc::clone(&timer),
                journal: Arc::clone(&journal),
            };
            refresh.begin(closing.clone());
        }
        let drains = Arc::new(Services {
            journal: Arc::clone(&journal),
            locations: Arc::clone(&locations),
            unknown_agents: Arc::clone(&unknown_agents),
            reminders: options.reminders,
            sources: Sources::new(
                environment,
                Arc::clone(&journal.clock),
                options.fetch,
                Arc::clone(&journal.announcer),
                closing.clone(),
            )
            .with_reminders(options.reminders),
            hooks: Arc::clone(&options.hooks),
            compactor: Compactor {
                hooks: options.hooks,
                journal: Arc::clone(&journal),
                provider: Arc::clone(&provider),
                timer: Arc::clone(&timer),
                budgets: Arc::clone(&budgets),
            },
            provider,
            reverts: Arc::clone(&reverts),
            snapshots: Arc::clone(&snapshots),
            tools: options.tools,
            mcp: Arc::clone(&mcp),
            permissions: Arc::clone(&permissions),
            questions: Arc::clone(&questions),
            tasks: Arc::new(TaskSessions {
                journal: Arc::clone(&journal),
                sessions: Arc::clone(&sessions),
                inbox: Arc::clone(&inbox),
                limits: options.limits,
                running: RunningTasks::default(),
                givers,
            }),
            todos: Arc::clone(&todos),
            metrics: Metrics::default(),
            titles: Titles {
                wanted: options.titles,
                closing: closing.clone(),
            },
            budgets,
            fallback: options.fallback.into(),
            tool_calls: options.limits.tool_calls,
            steer_batch: options.limits.steer_batch.max(1),
        });
        let tasks = TaskTracker::new();
        tasks.close();
        let shared = Shared::new(tasks.clone());
        let announcer = Arc::clone(&journal.announcer);
        let coordinator = Coordinator::new(
            begin_drains(&drains, &shared),
            tasks.clone(),
            closing.clone(),
            Box::new(move |session: &_, active| {
                announcer.announce_status(session, active);
                if !active {
                    shares.idle(session);
                }
            }),
        );
        let lifecycle = Arc::new(Lifecycle {
            journal: Arc::clone(&journal),
            coordinator: coordinator.clone(),
            permissions: Arc::clone(&permissions),
            questions: Arc::clone(&questions),
            commands: running_commands,
            unknown_agents: Arc::clone(&unknown_agents),
            shared: Arc::clone(&shared),
            sharing: Arc::clone(&sharing),
            snapshots: Arc::clone(&snapshots),
            outputs: drains.tools.managed_output(),
            closing: closing.clone(),
            tasks: tasks.clone(),
            purging: tokio::sync::Mutex::default(),
        });
        let sharing_waiting = Sharing::share_waiting(
            Arc::downgrade(&sharing),
            waiting_shares,
            tasks.clone(),
            closing.clone(),
        );
        let following = SessionChanges::follow(
            Arc::downgrade(&changes),
            changed_sessions,
            tasks.clone(),
            closing.clone(),
        );
        drop(opencode_log::spawn(following));
        // They end with the host. Their work for each session is tracked.
        drop(opencode_log::spawn(sharing_waiting));
        let runtime = Self {
            journal,
            locations,
            sessions,
            sharing,
            changes,
            todos,
            inbox,
            commands: Arc::new(commands),
            permissions,
            questions,
            unknown_agents,
            reverts,
            terminals: Arc::new(terminals),
            mcp,
            integrations: Arc::new(integrations),
            imports: Arc::new(imports),
            followed: Arc::default(),
            snapshots,
            timer,
            drains,
            coordinator,
            shared,
            lifecycle,
            directory: options.directory.into(),
            closing,
            closed: CancellationToken::new(),
            tasks,
        };
        if options.recovery == Recovery::Resume {
            runtime.resume_interrupted();
        }
        if has_removed_rows {
            // A crash interrupted their deletion.
            runtime.lifecycle.purge_in_background();
        }
        runtime.begin_sweeps();
        Ok(runtime)
    }

    /// Resumes all sessions whose last activity was interrupted, in the background. Unlike [`Recovery::Resume`], the
    /// owner chooses the moment, for example after it has registered its tools.
    pub fn resume_interrupted(&self) {
        let (journal, coordinator) = (Arc::clone(&self.journal), self.coordinator.clone());
        let recovery = recover(journal, coordinator, self.closing.clone());
        opencode_log::spawn_tracked(&self.tasks, recovery);
    }

    /// Starts the regular sweeps of files that are no longer needed.
    fn begin_sweeps(&self) {
        let (tasks, closing) = (self.tasks.clone(), self.closing.clone());
        let snapshots = sweeps::snapshots::sweep_regularly(
            Arc::downgrade(&self.snapshots),
            Arc::clone(&self.timer),
            tasks.clone(),
            closing.clone(),
        );
        let outputs = sweeps::managed_output::sweep_regularly(
            self.drains.tools.managed_output(),
            Arc::clone(&self.timer),
            Arc::clone(&self.journal.clock),
            tasks,
            closing,
        );
        // Both end with the host. They are not tracked, so that a wait for idleness does not include their timers.
        drop(opencode_log::spawn(snapshots));
        drop(opencode_log::spawn(outputs));
    }

    /// Stops every drain at once, without waiting, and records nothing more. For an owner that is dropped without a
    /// close: no user decided to interrupt, so the database is left in the state that a crash would leave, and recovery
    /// can resume the sessions.
    pub fn abandon(&self) {
        self.journal.store.abandon();
        self.closing.cancel();
        self.closed.cancel();
        self.terminals.terminals.abandon();
    }

    /// Interrupts every drain, waits until they have settled, ends the terminals and the streams, and closes the
    /// database. A reader that follows a session without pausing receives all committed events. Later operations are
    /// refused. A second close is harmless.
    pub async fn close(&self) {
        self.closing.cancel();
        let settled = tokio::time::timeout(CLOSE_TIMEOUT, self.tasks.wait());
        let (settled, (), (), ()) = tokio::join!(
            settled,
            self.terminals.terminals.close(),
            self.mcp.close(),
            self.integrations.close(),
        );
        if settled.is_err() {
            tracing::error!(
                "some Session Drains or tools did not end in time; the next host settles what they left"
            );
        }
        self.permissions.end();
        self.questions.end();
        tokio::select! {
            () = self.snapshots.end() => {}
            () = self.timer.after(CAPTURES_TIMEOUT) => {}
        }
        self.journal.announcer.end();
        // Waiting readers receive all events committed so far. A reader that stopped reading does not delay the close.
        tokio::select! {
            () = self.journal.store.tails_caught_up() => {}
            () = self.timer.after(READERS_TIMEOUT) => {}
        }
        self.closed.cancel();
        self.journal.store.close().await;
    }
}
