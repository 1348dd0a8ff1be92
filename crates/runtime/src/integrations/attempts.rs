//! Attempts to connect in a browser. They exist in memory only and end with the host.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use opencode_oauth::{AnswerMode, AuthorizationError, Browser, BrowserAnswer};
use opencode_schema::clock::Millis;
use opencode_schema::integration::{IntegrationAttemptStatus, IntegrationAttemptTime};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{refused, unknown_attempt};
use crate::error::RuntimeError;
use crate::timer::Timer;

/// Maximum number of attempts at the same time.
const MAX_ATTEMPTS: usize = 100;

/// Time after which the host abandons an attempt.
const EXPIRY: Duration = Duration::from_secs(10 * 60);

/// Maximum time that the host listens for the browser.
const BROWSER_LIMIT: Duration = Duration::from_secs(5 * 60);

/// The failure of an attempt to which the browser did not return.
const NOT_RETURNED: &str = "the browser did not return within five minutes";

/// Time for which the end of an attempt can be read.
const KEPT: Duration = Duration::from_secs(60);

/// The outcome of an attempt.
pub(super) type Outcome = Result<(), AuthorizationError>;

/// Exchanges the answer of a browser for a stored credential.
pub(super) type Finish = Box<dyn FnOnce(BrowserAnswer) -> BoxFuture<'static, Outcome> + Send>;

/// An attempt that waits for the user.
pub(super) struct Begun {
    /// The page that the user opens.
    pub(super) url: String,
    /// The next step, for the user.
    pub(super) instructions: String,
    pub(super) consent: Consent,
}

/// A consent that waits for the user.
pub(super) enum Consent {
    /// The browser of the user, or the user, answers.
    Browser { browser: Browser, finish: Finish },
    /// The host asks the service until the user has answered on any device.
    Device {
        granted: BoxFuture<'static, Outcome>,
        /// The time for which the service waits for the user.
        life: Duration,
    },
}

impl Begun {
    pub(super) fn in_browser(page: Url, browser: Browser, finish: Finish) -> Self {
        let instructions = match browser.mode() {
            AnswerMode::Redirect => "Open the page and give your consent there.",
            AnswerMode::Entered => {
                "Open the page and give your consent there. Then enter the code, or the address to which the browser was redirected."
            }
        };
        Self {
            url: page.into(),
            instructions: instructions.to_owned(),
            consent: Consent::Browser { browser, finish },
        }
    }
}

impl Consent {
    /// True if the user enters the answer.
    pub(super) fn is_entered(&self) -> bool {
        matches!(self, Self::Browser { browser, .. } if browser.mode() == AnswerMode::Entered)
    }

    /// Returns the time after which the attempt ends without an answer, and its state then.
    fn limit(&self) -> (Duration, State) {
        match self {
            Self::Browser { browser, .. } => match browser.mode() {
                AnswerMode::Entered => (EXPIRY, State::Expired),
                AnswerMode::Redirect => (BROWSER_LIMIT, State::Failed(NOT_RETURNED.into())),
            },
            Self::Device { life, .. } => (*life, State::Expired),
        }
    }

    /// Returns the time after which the host abandons the attempt.
    fn expiry(&self) -> Duration {
        match self {
            Self::Browser { .. } => EXPIRY,
            Self::Device { life, .. } => *life,
        }
    }
}

/// The input of a user, and the receiver of the outcome.
type Entered = (String, oneshot::Sender<Outcome>);

/// The attempts of a host.
pub(super) struct Attempts {
    timer: Arc<dyn Timer>,
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
    pub(super) fn new(timer: Arc<dyn Timer>, closing: CancellationToken) -> Self {
        Self {
            timer,
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
        consent: Consent,
    ) -> IntegrationAttemptTime {
        let expires = now.saturating_add(consent.expiry().as_millis() as Millis);
        let time = IntegrationAttemptTime {
            created: now,
            expires,
        };
        let end = self.closing.child_token();
        let (limit, late) = consent.limit();
        let limit = Limit {
            passed: self.timer.after(limit),
            late,
        };
        let (sender, entered) = mpsc::channel(1);
        let attempt = Attempt {
            time,
            state: State::Pending,
            end: end.clone(),
            entered: consent.is_entered().then_some(sender),
        };
        self.entries.lock().insert(id.clone(), attempt);
        let removed = Removed {
            attempts: Arc::clone(self),
            id,
            _place: place,
        };
        let attempts = Arc::clone(self);
        opencode_log::spawn(async move {
            let work = attempts.run(&removed.id, consent, entered, limit);
            end.run_until_cancelled(work).await;
            drop(removed);
        });
        time
    }

    /// Runs an attempt until its end can no longer be read.
    async fn run(
        &self,
        id: &str,
        consent: Consent,
        entered: mpsc::Receiver<Entered>,
        limit: Limit,
    ) {
        let (state, reply) = outcome(consent, entered, limit).await;
        let kept = self.timer.after(KEPT);
        if let Some(attempt) = self.entries.lock().get_mut(id) {
            attempt.state = state;
            attempt.entered = None;
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
                (State::Pending, None) => Err("The attempt needs no code"),
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

/// The time limit of an attempt.
struct Limit {
    passed: BoxFuture<'static, ()>,
    /// The state of the attempt after it.
    late: State,
}

/// Waits for the end of an attempt. Returns the caller who ended it, if there is one.
async fn outcome(
    consent: Consent,
    entered: mpsc::Receiver<Entered>,
    limit: Limit,
) -> (State, Option<Reply>) {
    match consent {
        Consent::Browser { browser, finish } => answered(browser, finish, entered, limit).await,
        Consent::Device { granted, .. } => tokio::select! {
            biased;
            granted = granted => (State::of(&granted), None),
            () = limit.passed => (limit.late, None),
        },
    }
}

/// Waits for the answer of a browser.
async fn answered(
    mut browser: Browser,
    finish: Finish,
    mut entered: mpsc::Receiver<Entered>,
    mut limit: Limit,
) -> (State, Option<Reply>) {
    loop {
        let (answer, reply) = tokio::select! {
            biased;
            () = &mut limit.passed => return (limit.late, None),
            Some((input, reply)) = entered.recv() => match browser.entered(&input) {
                Ok(answer) => (answer, Some(reply)),
                Err(error) => {
                    // The user can enter another one.
                    let _ = reply.send(Err(error));
                    continue;
                }
            },
            answer = browser.answered() => (answer, None),
        };
        let finished = finish(answer).await;
        return (State::of(&finished), reply.map(|reply| (reply, finished)));
    }
}

impl State {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Ok(()) => Self::Complete,
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

/// A caller who waits for the outcome, and the outcome.
type Reply = (oneshot::Sender<Outcome>, Outcome);

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
