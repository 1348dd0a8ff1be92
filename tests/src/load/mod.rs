//! The load: concurrent callers that use every operation of a session engine.
//!
//! Each driver has its own sessions, so an acknowledged value of a session stays valid until the
//! driver changes it. Several calls may run at once in one session.

mod asking;
mod reverting;
mod settings;
mod watching;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use opencode_runtime::{DatabasePath, Order, Recovery, Runtime, RuntimeError, SessionFilter};
use opencode_schema::id::SessionID;
use tokio::task::JoinHandle;

use crate::folder::Folder;
use crate::host::{Host, HostOptions, is_kept, new_session};
use crate::journal::Journal;
use crate::line::{Asked, Line, say};
use crate::model::LoadModel;
use crate::plan::{Death, Plan};
use crate::point::FailPoints;
use crate::random::Random;
use crate::tools::load_tools;

/// Number of concurrent drivers.
const DRIVERS: u64 = 3;
/// Number of operations of each driver in addition to one of each kind.
const MORE: usize = 6;
/// Number of known sessions that get more work. Older sessions get none.
const SESSIONS: usize = 9;
/// Number of listed sessions that are searched for them. The list includes child sessions.
const LISTED: usize = 200;

/// One operation of a driver.
#[derive(Clone, Copy)]
enum Operation {
    Create,
    Steer,
    SteerTogether,
    Queue,
    LeaveAndWait,
    Retry,
    RetryAtOnce,
    Withdraw,
    Redeliver,
    Interrupt,
    InterruptUnanswered,
    SwitchAgent,
    SwitchModel,
    Move,
    Instruct,
    Import,
    Resume,
    Compact,
    Limit,
    Revert,
    Keep,
    Look,
}

const OPERATIONS: [Operation; 22] = [
    Operation::Create,
    Operation::Steer,
    Operation::SteerTogether,
    Operation::Queue,
    Operation::LeaveAndWait,
    Operation::Retry,
    Operation::RetryAtOnce,
    Operation::Withdraw,
    Operation::Redeliver,
    Operation::Interrupt,
    Operation::InterruptUnanswered,
    Operation::SwitchAgent,
    Operation::SwitchModel,
    Operation::Move,
    Operation::Instruct,
    Operation::Import,
    Operation::Resume,
    Operation::Compact,
    Operation::Limit,
    Operation::Revert,
    Operation::Keep,
    Operation::Look,
];

/// One caller.
struct Driver {
    runtime: Runtime,
    random: Random,
    folder: PathBuf,
    /// Prefix of all names that this driver makes. It is unique among all drivers and generations.
    name: String,
    made: u32,
    sessions: Vec<SessionID>,
    /// Admitted prompts, which the driver can retry.
    asked: Vec<Asked>,
}

/// Carries out the load of a plan on the file of a folder. Returns when the load is complete. A
/// plan with a deadly fail point prevents that.
pub async fn carry_out(folder: &Folder, plan: &Plan) {
    say(&Line::Begun);
    let deadly = match &plan.death {
        Death::Point { point, nth } => Some((point.clone(), *nth)),
        Death::Instant { .. } | Death::None => None,
    };
    let points = Arc::new(FailPoints::new(deadly));
    let journal = Journal::open(&folder.journal()).expect("the journal can be opened");
    let journal = Arc::new(journal);
    let model = LoadModel::new(plan.seed, Arc::clone(&journal), Arc::clone(&points));
    let host = Host::open(HostOptions {
        folder: folder.path(),
        database: DatabasePath::File(folder.database()),
        model: Arc::new(model),
        tools: load_tools(&journal, &points),
        test_hook: Some(Arc::clone(&points) as Arc<_>),
        recovery: if plan.resume {
            Recovery::Resume
        } else {
            Recovery::Manual
        },
    });
    let host = host.await.expect("the file of a killed process opens");
    if plan.dies_recovering() {
        host.runtime.until_idle().await;
    }
    let known = known_sessions(&host.runtime).await;
    let listener = tokio::spawn(watching::listen(host.runtime.clone()));
    let drivers = (0..DRIVERS).map(|index| {
        let driver = Driver::new(folder.path(), plan, index, &host.runtime, &known);
        tokio::spawn(driver.work())
    });
    let mut watchers = vec![listener];
    for ended in join_all(drivers).await {
        match ended {
            Ok(follower) => watchers.push(follower),
            Err(error) => problem("a driver ended", &error),
        }
    }
    host.runtime.close().await;
    for ended in join_all(watchers).await {
        if let Err(error) = ended {
            problem("a reader ended", &error);
        }
    }
    let passed: BTreeMap<_, _> = points.passed();
    say(&Line::Ended { passed });
}

/// The newest sessions of callers that are open to all kinds of work, newest first.
async fn known_sessions(runtime: &Runtime) -> Vec<SessionID> {
    let listed = runtime.sessions(SessionFilter::default(), Order::Descending, None, LISTED);
    match listed.await {
        Ok(sessions) => {
            let made = sessions
                .into_iter()
                .filter(|it| it.parent_id.is_none() && !is_kept(&it.location.directory))
                // Another operation waits for its budget.
                .filter(|it| it.budget.is_none());
            made.map(|session| session.id).take(SESSIONS).collect()
        }
        Err(error) => {
            problem("sessions", &error);
            Vec::new()
        }
    }
}

fn problem(what: &str, error: &dyn Display) {
    say(&Line::Problem {
        text: format!("{what}: {error}"),
    });
}

impl Driver {
    fn new(folder: &Path, plan: &Plan, index: u64, runtime: &Runtime, known: &[SessionID]) -> Self {
        let own = known.iter().skip(index as usize).step_by(DRIVERS as usize);
        Self {
            runtime: runtime.clone(),
            random: Random::part(plan.seed, index + 1),
            folder: folder.to_owned(),
            name: format!("g{}d{index}", plan.generation),
            made: 0,
            sessions: own.cloned().collect(),
            asked: Vec::new(),
        }
    }

    /// Carries out all operations. Returns the task that follows the events of its newest session until
    /// the host closes.
    async fn work(mut self) -> JoinHandle<()> {
        let mut operations = OPERATIONS.to_vec();
        for _ in 0..MORE {
            operations.push(*self.random.choose(&OPERATIONS));
        }
        self.random.shuffle(&mut operations);
        self.create().await;
        let newest = self.sessions.last().expect("there is a session").clone();
        let follower = tokio::spawn(watching::follow(self.runtime.clone(), newest));
        for operation in operations {
            self.carry_out(operation).await;
        }
        for session in self.sessions.clone() {
            self.wait(&session).await;
        }
        follower
    }

    async fn carry_out(&mut self, operation: Operation) {
        match operation {
            Operation::Create => self.create().await,
            Operation::Steer => self.steer().await,
            Operation::SteerTogether => self.steer_together().await,
            Operation::Queue => self.queue().await,
            Operation::LeaveAndWait => self.leave_and_wait().await,
            Operation::Retry => self.retry().await,
            Operation::RetryAtOnce => self.retry_at_once().await,
            Operation::Withdraw => self.withdraw().await,
            Operation::Redeliver => self.redeliver().await,
            Operation::Interrupt => self.interrupt().await,
            Operation::InterruptUnanswered => self.interrupt_unanswered().await,
            Operation::SwitchAgent => self.switch_agent().await,
            Operation::SwitchModel => self.switch_model().await,
            Operation::Move => self.relocate().await,
            Operation::Instruct => self.instruct().await,
            Operation::Import => self.import().await,
            Operation::Resume => self.resume().await,
            Operation::Compact => self.compact().await,
            Operation::Limit => self.limit().await,
            Operation::Revert => self.revert().await,
            Operation::Keep => self.keep().await,
            Operation::Look => self.look().await,
        }
    }

    async fn create(&mut self) {
        let id = SessionID::parse(&format!("ses_{}", self.fresh_name())).expect("it is an id");
        let request = new_session(&self.folder, id);
        if let Some(info) = self.done("create", self.runtime.create_session(request).await) {
            say(&Line::Created {
                session: info.id.clone(),
            });
            self.sessions.push(info.id);
        }
    }

    /// Reads concurrently with all other work.
    async fn look(&mut self) {
        let session = self.any_session();
        let messages = self.runtime.messages(&session, Order::Descending, None, 20);
        let (messages, inbox, history, context) = tokio::join!(
            messages,
            self.runtime.inbox(&session),
            self.runtime.history(&session, None, 50),
            self.runtime.context(&session),
        );
        self.done("messages", messages);
        self.done("inbox", inbox);
        self.done("history", history);
        self.done("context", context);
        self.done("interrupted", self.runtime.interrupted().await);
    }

    async fn wait(&self, session: &SessionID) {
        if self
            .done("wait", self.runtime.wait(session).await)
            .is_some()
        {
            say(&Line::Quiet {
                session: session.clone(),
            });
        }
    }

    /// The value of an answer that must not be an error. Reports an error as a problem.
    fn done<T>(&self, what: &str, answer: Result<T, RuntimeError>) -> Option<T> {
        answer
            .inspect_err(|error| problem(&format!("{} {what}", self.name), error))
            .ok()
    }

    fn any_session(&mut self) -> SessionID {
        self.random.choose(&self.sessions).clone()
    }

    /// A name that no other driver and no other generation uses.
    fn fresh_name(&mut self) -> String {
        self.made += 1;
        format!("{}n{}", self.name, self.made)
    }

    /// Gives running work some time.
    async fn pause(&mut self) {
        let micros = self.random.below(3000) as u64;
        tokio::time::sleep(Duration::from_micros(micros)).await;
    }
}
