//! Environment variables that the embedding program gives to terminals.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, stream};
use opencode_pty::{Environment, check_variables};
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use crate::asks::notice::RequestNotice;
use crate::error::RuntimeError;
use crate::timer::Timer;

/// Maximum time that a terminal waits for its variables.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of variables for one terminal.
const MOST: usize = 1_000;
/// Maximum size in bytes of one variable, with the `=` and the terminator that the system adds. Linux accepts no larger
/// one.
const LARGEST: usize = 128 * 1024;
/// Maximum size in bytes of all variables together.
const MOST_BYTES: usize = 1024 * 1024;
/// Maximum number of characters of the reason for a failure.
const REASON: usize = 1_000;

/// The request of a starting terminal for its variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentRequest {
    /// The id for the answer.
    pub id: u32,
    /// The directory of the Location, in normal form.
    pub directory: String,
    /// The working directory of the program, absolute.
    pub cwd: String,
}

/// The answer of the embedding program: the variables, or the reason why there are no variables.
pub type EnvironmentAnswer = Result<Environment, String>;

/// The reader that gives variables to terminals, and the terminals that wait for theirs. The number of waiting
/// terminals is limited by the number of terminals that may run.
#[derive(Default)]
pub(crate) struct EnvironmentRequests(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    ended: bool,
    /// The channel to the current reader.
    asking: Option<Asking>,
    last: u32,
    /// Requests that the reader has received.
    waiting: HashMap<u32, oneshot::Sender<EnvironmentAnswer>>,
}

type Asking = mpsc::UnboundedSender<RequestNotice<Asked, u32>>;

/// A request that the reader has not received yet. If it is dropped, it gets no answer.
struct Asked {
    request: EnvironmentRequest,
    answer: oneshot::Sender<EnvironmentAnswer>,
}

/// A terminal that waits for its variables. Dropping it ends its request.
struct PendingEnvironment {
    id: u32,
    asking: Asking,
    answered: oneshot::Receiver<EnvironmentAnswer>,
}

impl Drop for PendingEnvironment {
    fn drop(&mut self) {
        // The send fails if the reader was dropped; then no notice is needed.
        let _ = self.asking.send(RequestNotice::Ended(self.id));
    }
}

impl EnvironmentRequests {
    /// Returns the requests from now on, for this reader only, and the end of each request that ends without an answer.
    /// The stream ends with the host.
    pub(crate) fn attend(
        &self,
    ) -> impl Stream<Item = RequestNotice<EnvironmentRequest, u32>> + Send + use<> {
        let (asking, asked) = mpsc::unbounded_channel();
        let mut state = lock(&self.0);
        // The end notices of these requests went to the previous reader.
        state.waiting.retain(|_, answer| !answer.is_closed());
        if !state.ended {
            state.asking = Some(asking);
        }
        stream::unfold((asked, Arc::clone(&self.0)), |(mut asked, state)| async {
            loop {
                let notice = asked.recv().await?;
                let handed_out = lock(&state).deliver(notice);
                if let Some(notice) = handed_out {
                    return Some((notice, (asked, state)));
                }
            }
        })
    }

    /// Gives a terminal its variables. Does nothing if the terminal does not wait any more.
    pub(crate) fn answer(&self, id: u32, answer: EnvironmentAnswer) {
        let waiting = lock(&self.0).waiting.remove(&id);
        if let Some(waiting) = waiting {
            // The send fails if the terminal was dropped; then it needs no answer.
            let _ = waiting.send(answer);
        }
    }

    /// Ends the stream of requests. The waiting terminals have already been cancelled.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.0);
        state.ended = true;
        state.asking = None;
    }

    /// Returns the variables for a terminal; empty if there is no reader.
    pub(crate) async fn of(
        &self,
        timer: &dyn Timer,
        directory: String,
        cwd: String,
    ) -> Result<Environment, RuntimeError> {
        let Some(mut waits) = self.ask(directory, cwd) else {
            return Ok(Environment::new());
        };
        let answer = tokio::select! {
            answer = &mut waits.answered => answer,
            () = timer.after(TIMEOUT) => {
                let seconds = TIMEOUT.as_secs();
                return Err(failed(&format!("it has not answered within {seconds} seconds")));
            }
        };
        match answer {
            Ok(Ok(variables)) => checked(variables),
            Ok(Err(reason)) => Err(failed(&reason.chars().take(REASON).collect::<String>())),
            // The reader was dropped before it received the request.
            Err(_) => Ok(Environment::new()),
        }
    }

    fn ask(&self, directory: String, cwd: String) -> Option<PendingEnvironment> {
        let mut state = lock(&self.0);
        let asking = state.asking.clone()?;
        state.last = state.last.wrapping_add(1);
        let id = state.last;
        let (answer, answered) = oneshot::channel();
        let request = EnvironmentRequest { id, directory, cwd };
        let asked = RequestNotice::Asked(Asked { request, answer });
        asking.send(asked).is_ok().then_some(PendingEnvironment {
            id,
            asking,
            answered,
        })
    }
}

impl State {
    /// Returns nothing for a request that has already ended, and for the end of a request that was answered.
    fn deliver(
        &mut self,
        notice: RequestNotice<Asked, u32>,
    ) -> Option<RequestNotice<EnvironmentRequest, u32>> {
        match notice {
            RequestNotice::Asked(asked) if asked.answer.is_closed() => None,
            RequestNotice::Asked(Asked { request, answer }) => {
                self.waiting.insert(request.id, answer);
                Some(RequestNotice::Asked(request))
            }
            RequestNotice::Ended(id) => self.waiting.remove(&id).map(|_| RequestNotice::Ended(id)),
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock()
}

/// Refuses variables with which no program can start.
fn checked(variables: Environment) -> Result<Environment, RuntimeError> {
    check_variables(&variables).map_err(|error| failed(&error.to_string()))?;
    let size = |(name, value): (&String, &String)| name.len() + value.len() + 2;
    if variables.len() > MOST {
        let count = variables.len();
        let message = format!("it gave {count} variables, and {MOST} are the most");
        return Err(failed(&message));
    }
    if let Some((name, _)) = variables.iter().find(|it| size(*it) > LARGEST) {
        let name: String = name.chars().take(80).collect();
        let message = format!("the variable {name:?} has more than {LARGEST} bytes");
        return Err(failed(&message));
    }
    if variables.iter().map(size).sum::<usize>() > MOST_BYTES {
        let message = format!("its variables have more than {MOST_BYTES} bytes");
        return Err(failed(&message));
    }
    Ok(variables)
}

fn failed(message: &str) -> RuntimeError {
    RuntimeError::Unavailable {
        service: "pty.environment",
        message: format!(
            "The terminal has not begun, because the program's function for its variables failed: {message}"
        ),
    }
}
