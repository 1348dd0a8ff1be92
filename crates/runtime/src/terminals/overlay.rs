//! Variables that the program around a host gives to terminals.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{Stream, stream};
use opencode_pty::{Environment, check_variables};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use crate::error::RuntimeError;
use crate::unanswered::Timer;

/// How long a terminal waits for its variables.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many one terminal is given at most.
const MOST: usize = 1_000;
/// Bytes of one at most, with the `=` and the end that the system adds. Linux takes no larger one.
const LARGEST: usize = 128 * 1024;
/// Bytes of all of them at most.
const MOST_BYTES: usize = 1024 * 1024;
/// Characters that are told of why there are none.
const REASON: usize = 1_000;

/// A terminal is about to begin and wants its variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentRequest {
    /// By which it is answered.
    pub id: u32,
    /// The directory of the Location, in normal form.
    pub directory: String,
    /// The directory the program begins in, absolute.
    pub cwd: String,
}

/// What somebody answered: the variables, or why there are none.
pub type EnvironmentAnswer = Result<Environment, String>;

/// Whoever gives variables to terminals, and the terminals that wait for theirs. These are no more
/// than may run.
#[derive(Default)]
pub(crate) struct Overlays(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    ended: bool,
    /// The way to the one who is asked.
    asking: Option<mpsc::UnboundedSender<Asked>>,
    last: u32,
    /// Those that were handed out.
    waiting: HashMap<u32, oneshot::Sender<EnvironmentAnswer>>,
}

/// One that was not handed out yet. When it is dropped nobody will answer it.
struct Asked {
    directory: String,
    cwd: String,
    answer: oneshot::Sender<EnvironmentAnswer>,
}

impl Overlays {
    /// The requests from now on, which nobody else gets any more. Ends with the host.
    pub(crate) fn attend(&self) -> impl Stream<Item = EnvironmentRequest> + Send + use<> {
        let (asking, asked) = mpsc::unbounded_channel();
        let mut state = lock(&self.0);
        if !state.ended {
            state.asking = Some(asking);
        }
        stream::unfold((asked, Arc::clone(&self.0)), |(mut asked, state)| async {
            let next = asked.recv().await?;
            let request = lock(&state).hand_out(next);
            Some((request, (asked, state)))
        })
    }

    /// Gives a terminal its variables. One that does not wait any more needs none.
    pub(crate) fn answer(&self, id: u32, answer: EnvironmentAnswer) {
        let waiting = lock(&self.0).waiting.remove(&id);
        if let Some(waiting) = waiting {
            // Who has gone needs no answer.
            let _ = waiting.send(answer);
        }
    }

    /// Nobody is asked any more. Those that wait have been given up already.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.0);
        state.ended = true;
        state.asking = None;
    }

    /// What is given to a terminal; nothing when nobody is there to be asked.
    pub(crate) async fn of(
        &self,
        timer: &dyn Timer,
        directory: String,
        cwd: String,
    ) -> Result<Environment, RuntimeError> {
        let Some(answered) = self.ask(directory, cwd) else {
            return Ok(Environment::new());
        };
        let answer = tokio::select! {
            answer = answered => answer,
            () = timer.after(PATIENCE) => {
                let seconds = PATIENCE.as_secs();
                return Err(failed(&format!("it has not answered within {seconds} seconds")));
            }
        };
        match answer {
            Ok(Ok(variables)) => checked(variables),
            Ok(Err(reason)) => Err(failed(&reason.chars().take(REASON).collect::<String>())),
            // Who was asked has gone before it looked.
            Err(_) => Ok(Environment::new()),
        }
    }

    fn ask(&self, directory: String, cwd: String) -> Option<oneshot::Receiver<EnvironmentAnswer>> {
        let (answer, answered) = oneshot::channel();
        let asked = Asked {
            directory,
            cwd,
            answer,
        };
        let asking = lock(&self.0).asking.clone()?;
        asking.send(asked).is_ok().then_some(answered)
    }
}

impl State {
    fn hand_out(&mut self, asked: Asked) -> EnvironmentRequest {
        self.last = self.last.wrapping_add(1);
        self.waiting.retain(|_, answer| !answer.is_closed());
        self.waiting.insert(self.last, asked.answer);
        EnvironmentRequest {
            id: self.last,
            directory: asked.directory,
            cwd: asked.cwd,
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Refuses what no program could begin with.
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
