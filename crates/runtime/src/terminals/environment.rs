//! Environment variables that the embedding program gives to terminals.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_pty::{Environment, check_variables};

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

/// Asks the embedding program for the variables of a terminal.
pub trait AskEnvironment: Send + Sync {
    /// Returns the variables for a terminal, or the reason why there are none. The directory is that of the Location, in
    /// normal form. `cwd` is the working directory of the program, absolute. Dropping the future ends the request.
    fn ask(&self, directory: &str, cwd: &str) -> BoxFuture<'static, Result<Environment, String>>;
}

/// Gives no variables.
pub struct NoEnvironment;

impl AskEnvironment for NoEnvironment {
    fn ask(&self, _directory: &str, _cwd: &str) -> BoxFuture<'static, Result<Environment, String>> {
        std::future::ready(Ok(Environment::new())).boxed()
    }
}

/// Returns the variables of the embedding program for a terminal.
pub(super) async fn environment_of(
    program: &dyn AskEnvironment,
    timer: &dyn Timer,
    directory: &str,
    cwd: &str,
) -> Result<Environment, RuntimeError> {
    let asked = tokio::select! {
        asked = program.ask(directory, cwd) => asked,
        () = timer.after(TIMEOUT) => {
            Err(format!("it has not answered within {} seconds", TIMEOUT.as_secs()))
        }
    };
    match asked {
        Ok(variables) => checked(variables),
        Err(reason) => Err(failed(&reason.chars().take(REASON).collect::<String>())),
    }
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
