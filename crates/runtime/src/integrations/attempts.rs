//! Attempts to connect in a browser. They exist in memory only and end with the host.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use opencode_mcp::RemoteServer;
use opencode_mcp::oauth::{AnswerMode, Authorization, AuthorizationError};
use opencode_schema::clock::Millis;
use opencode_schema::integration::{IntegrationAttemptStatus, IntegrationAttemptTime};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{refused, unknown_attempt};
use crate::error::RuntimeError;
use crate::mcp::McpServers;
use crate::timer::Timer;

/// Maximum number of attempts at the same time.
const MAX_ATTEMPTS: usize = 100;

/// Time after which the host abandons an attempt.
const EXPIRY: Duration = Duration::from_secs(10 * 60);

/// Maximum time that the host listens for the browser.
const BROWSER_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Time for which the end of an attempt can be read.
const KEPT: Duration = Duration::from_secs(60);

/// The input of a user, and the receiver of the outcome.
type Entered = (String, oneshot::Sender<Result<(), AuthorizationError>>);

/// The attempts of a host.
pub(super) struct Attempts {
    timer: Arc<dyn Timer>,
    servers: Arc<McpServers>,
    closing: CancellationToken,
    places: Arc<Semaphore>,
    entries: Mutex<HashMap<String, Attempt>>,
}

/// The right to begin an attempt.
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
}

struct Attempt {
    time: IntegrationAttemptTime,
    state: State,
    /// Ends the task of the attempt.
    end: CancellationToken,
    /// Receives the input of the user; `None` if the browser answers.
    entered: Option<mpsc::Sender<Entered>>,
}

#[derive(Clone, Debug)]
enum State {
    Pending,
    Complete,
    Failed(String),
    Expired,
}

impl Attempts {
    pub(super) fn new(
        timer: Arc<dyn Timer>,
        servers: Arc<McpServers>,
        closing: CancellationToken,
    ) -> Self {
        Self {
            timer,
            servers,
            closing,
            places: Arc::new(Semaphore::new(MAX_ATTEMPTS)),
            entries: Mutex::default(),
        }
    }

    /// Returns the right to begin an attempt. Fails if too many exist.
    pub(super) fn reserve(&self) -> Result<Place, RuntimeError> {
        let permit = Arc::clone(&self.places).try_acquire_owned();
        permit
            .map(|permit| Place { _permit: permit })
            .map_err(|_| RuntimeError::Unavailable {
                service: "integration.connect.oauth",
                message: format!("{MAX_ATTEMPTS} attempts exist already; cancel some"),
            })
    }

    /// Begins an attempt, and returns its times.
    pub(super) fn begin(
        self: &Arc<Self>,
        place: Place,
        id: String,
        now: Millis,
        server: RemoteServer,
        authorization: Authorization,
    ) -> IntegrationAttemptTime {
        let expires = now.saturating_add(EXPIRY.as_millis() as Millis);
        let time = IntegrationAttemptTime {
            created: now,
            expires,
        };
        let end = self.closing.child_token();
        let limit = self.timer.after(match authorization.mode() {
            AnswerMode::Entered => EXPIRY,
            AnswerMode::Redirect => BROWSER_LIMIT,
        });
        let (sender, entered) = mpsc::channel(1);
        let attempt = Attempt {
            time,
            state: State::Pending,
            end: end.clone(),
            entered: (authorization.mode() == AnswerMode::Entered).then_some(sender),
        };
        self.entries.lock().insert(id.clone(), attempt);
        let removed = Removed {
            attempts: Arc::clone(self),
            id,
            _place: place,
        };
        let attempts = Arc::clone(self);
        opencode_log::spawn(async move {
            let work = attempts.run(&removed.id, &server, authorization, entered, limit);
            end.run_until_cancelled(work).await;
            drop(removed);
        });
        time
    }

    /// Runs an attempt until its end can no longer be read.
    async fn run(
        &self,
        id: &str,
        server: &RemoteServer,
        authorization: Authorization,
        entered: mpsc::Receiver<Entered>,
        limit: BoxFuture<'static, ()>,
    ) {
        let (state, reply) = outcome(authorization, entered, limit).await;
        let kept = self.timer.after(KEPT);
        let is_complete = matches!(state, State::Complete);
        if let Some(attempt) = self.entries.lock().get_mut(id) {
            attempt.state = state;
            attempt.entered = None;
        }
        if is_complete {
            self.servers.authorized(&server.name, &server.url);
        }
        // The caller reads the state after the reply.
        if let Some((reply, outcome)) = reply {
            let _ = reply.send(outcome);
        }
        kept.await;
    }

    /// Returns the state of an attempt.
    pub(super) fn status(&self, id: &str) -> Option<IntegrationAttemptStatus> {
        let entries = self.entries.lock();
        let attempt = entries.get(id)?;
        let time = attempt.time;
        Some(match &attempt.state {
            State::Pending => IntegrationAttemptStatus::Pending { time },
            State::Complete => IntegrationAttemptStatus::Complete { time },
            State::Expired => IntegrationAttemptStatus::Expired { time },
            State::Failed(message) => IntegrationAttemptStatus::Failed {
                message: message.clone(),
                time,
            },
        })
    }

    /// Completes an attempt with the input of the user.
    pub(super) async fn complete(
        &self,
        id: &str,
        code: Option<String>,
    ) -> Result<(), RuntimeError> {
        let sender = {
            let entries = self.entries.lock();
            let attempt = entries.get(id).ok_or_else(|| unknown_attempt(id))?;
            let message = match (&attempt.state, &attempt.entered) {
                (State::Pending, Some(sender)) => Ok(sender.clone()),
                (State::Pending, None) => Err("The attempt is completed by the browser"),
                _ => Err("The attempt has ended; begin another one"),
            };
            message.map_err(|message| refused("attemptID", message.into()))?
        };
        let code = code.filter(|code| !code.trim().is_empty());
        let code = code.ok_or_else(|| refused("code", "Enter the code of the page".into()))?;
        let (reply, outcome) = oneshot::channel();
        let ended = || unknown_attempt(id);
        sender.send((code, reply)).await.map_err(|_| ended())?;
        match outcome.await.map_err(|_| ended())? {
            Ok(()) => Ok(()),
            Err(AuthorizationError::Failed(message)) => Err(RuntimeError::Unavailable {
                service: "integration.attempt.complete",
                message,
            }),
            Err(error) => Err(refused("code", error.to_string())),
        }
    }

    /// Cancels an attempt.
    pub(super) fn cancel(&self, id: &str) {
        if let Some(attempt) = self.entries.lock().remove(id) {
            attempt.end.cancel();
        }
    }
}

/// Waits for the end of an attempt. Returns the caller who ended it, if there is one.
async fn outcome(
    mut authorization: Authorization,
    mut entered: mpsc::Receiver<Entered>,
    mut limit: BoxFuture<'static, ()>,
) -> (State, Option<Reply>) {
    loop {
        let (answer, reply) = tokio::select! {
            biased;
            () = &mut limit => return (late(authorization.mode()), None),
            Some((input, reply)) = entered.recv() => match authorization.entered(&input) {
                Ok(answer) => (answer, Some(reply)),
                Err(error) => {
                    // The user can enter another one.
                    let _ = reply.send(Err(error));
                    continue;
                }
            },
            answer = authorization.answered() => (answer, None),
        };
        let finished = authorization.finish(answer).await;
        let state = match &finished {
            Ok(()) => State::Complete,
            Err(error) => State::Failed(error.to_string()),
        };
        return (state, reply.map(|reply| (reply, finished)));
    }
}

/// Returns the state of an attempt without an answer.
fn late(mode: AnswerMode) -> State {
    match mode {
        AnswerMode::Entered => State::Expired,
        AnswerMode::Redirect => {
            State::Failed("the browser did not return within five minutes".into())
        }
    }
}

/// A caller who waits for the outcome, and the outcome.
type Reply = (
    oneshot::Sender<Result<(), AuthorizationError>>,
    Result<(), AuthorizationError>,
);

/// Removes an attempt at the end of its task, even after a panic.
struct Removed {
    attempts: Arc<Attempts>,
    id: String,
    _place: Place,
}

impl Drop for Removed {
    fn drop(&mut self) {
        self.attempts.cancel(&self.id);
    }
}
