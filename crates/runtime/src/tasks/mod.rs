//! Tasks: work that the agent of one session gives to another agent, in a separate session.
//!
//! The child session is an ordinary session: its prompt is admitted, its drain runs concurrently with
//! the drain of its parent, and it has its own events, permission requests and questions. Only the
//! call of the parent waits for it. A crash therefore needs no rollback: the call is failed like any
//! other interrupted call, and the child stays as it was.

mod answer;
mod child;
mod running;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_schema::id::SessionID;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::{Delivery, PromptInput, PromptSettings};
use opencode_store::SessionRow;
use opencode_tools::{TaskError, TaskOutcome, TaskRequest, Tasks};
use tokio_util::sync::CancellationToken;

use self::answer::TaskAnswer;
use crate::asks::permissions::{Giver, RuleScope, TaskGivers};
use crate::coordinator::state::Answer;
use crate::coordinator::{Coordinator, RunAnswer};
use crate::error::RuntimeError;
use crate::inbox::{Inbox, PromptRequest};
use crate::journal::Journal;
use crate::limits::Limits;
use crate::sessions::Sessions;
use crate::subagents::{offered, takes_tasks};

pub(crate) use self::running::RunningTasks;

/// The child sessions that carry out tasks.
pub(crate) struct TaskSessions {
    pub(crate) journal: Arc<Journal>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) limits: Limits,
    pub(crate) running: RunningTasks,
    pub(crate) givers: TaskGivers,
}

/// Runs the tasks of the calls of one turn.
pub(crate) struct TurnTasks {
    pub(crate) tasks: Arc<TaskSessions>,
    pub(crate) coordinator: Coordinator,
    /// The session of the turn.
    pub(crate) parent: SessionRow,
    /// The permission rules of the turn.
    pub(crate) rule_scope: RuleScope,
    /// The model of the turn, with its ids in the catalogue.
    pub(crate) model: ModelRef,
    /// The settings of the prompts that the turn answers.
    pub(crate) settings: Option<Arc<PromptSettings>>,
}

impl Tasks for TurnTasks {
    fn accepts(&self, agent: &str) -> bool {
        let agents = &self.rule_scope.location.agents;
        agents.get(agent).is_some_and(takes_tasks)
    }

    fn agents(&self) -> Vec<String> {
        let agents = offered(&self.rule_scope).into_iter();
        agents.map(|agent| agent.id.clone()).collect()
    }

    fn run(&self, task: TaskRequest) -> BoxFuture<'_, Result<TaskOutcome, TaskError>> {
        self.carry_out(task).boxed()
    }
}

impl TurnTasks {
    async fn carry_out(&self, task: TaskRequest) -> Result<TaskOutcome, TaskError> {
        let limit = self.tasks.limits.subagents;
        let running = &self.tasks.running;
        let _place = running.enter(&self.parent.info.id, limit)?;
        let child = self.child(&task).await?;
        let giver = Giver {
            session: self.parent.info.id.clone(),
            agent: self.rule_scope.agent.clone(),
        };
        let _given = self.tasks.givers.note(&child, giver);
        let prompt = self.tasks.inbox.admit(PromptRequest {
            session_id: child.clone(),
            id: None,
            prompt: PromptInput {
                text: self
                    .rule_scope
                    .location
                    .secrets
                    .verbatim(&task.prompt)
                    .into_owned(),
                files: None,
                agents: None,
            },
            delivery: Delivery::Steer,
            resume: false,
            settings: self.inherited(),
            // A model wrote the text.
            mentions: false,
            command: None,
        });
        let admitted = prompt.await.map_err(unavailable)?.admitted_seq;
        let answer = self.drained(&child, &task.cancel).await?;
        let failed = |reason| TaskError::Failed {
            session_id: child.clone(),
            reason,
        };
        match answer {
            Answer::Done => {}
            Answer::Interrupted => return Err(failed(STOPPED.to_owned())),
            Answer::Failed(error) => return Err(failed(error.to_string())),
        }
        let answered = self.tasks.answer_after(&child, admitted.into()).await;
        match answered.map_err(unavailable)? {
            TaskAnswer::Failure(reason) => Err(failed(reason)),
            TaskAnswer::Text(text, incomplete) => Ok(TaskOutcome {
                session_id: child,
                text,
                incomplete,
            }),
        }
    }

    /// Returns the settings of the prompt of a task. Tools that the caller does not allow in this turn are not
    /// allowed in its tasks either. The prompt of the task replaces the text of the caller, and the agent of the task
    /// decides about its model.
    fn inherited(&self) -> PromptSettings {
        let tools = self.settings.as_ref().and_then(|it| it.tools.clone());
        PromptSettings {
            tools,
            ..PromptSettings::default()
        }
    }

    /// Runs the child until it is idle. Interrupts it if the call is cancelled or dropped.
    async fn drained(
        &self,
        child: &SessionID,
        cancel: &CancellationToken,
    ) -> Result<RunAnswer, TaskError> {
        let coordinator = &self.coordinator;
        if cancel.is_cancelled() {
            return Err(TaskError::Interrupted);
        }
        let mut attended = InterruptOnDrop {
            coordinator,
            child,
            is_over: false,
        };
        let run = coordinator.run(child);
        let answer = cancel.run_until_cancelled(run).await;
        if answer.is_none() {
            coordinator.interrupt(child).await;
        }
        attended.is_over = true;
        // The child and the call may have been interrupted together, for example when the host closes.
        let answer =
            answer.filter(|it| !matches!(it, Answer::Interrupted) || !cancel.is_cancelled());
        answer.ok_or(TaskError::Interrupted)
    }
}

/// The known reason that a child was interrupted.
const STOPPED: &str = "it was interrupted, or the user declined one of its requests";

/// A child session that a call waits for. Dropping this interrupts the child.
struct InterruptOnDrop<'a> {
    coordinator: &'a Coordinator,
    child: &'a SessionID,
    is_over: bool,
}

impl Drop for InterruptOnDrop<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // The call registers the interruption. No caller waits for its end.
            drop(self.coordinator.interrupt(self.child));
        }
    }
}

fn unavailable(error: RuntimeError) -> TaskError {
    TaskError::Unavailable(error.to_string())
}
