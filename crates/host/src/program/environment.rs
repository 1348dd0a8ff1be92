//! Functions of the program that give variables to terminals.

use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};
use opencode_runtime::AskEnvironment;
use opencode_runtime::pty::Environment;
use serde::Serialize;

use super::LOG_TARGET;
use super::calls::{ProgramCalls, ProgramError};
use super::registered::Registered;

/// Name of the function in calls.
const FUNCTION: &str = "ptyEnvironment";

/// The registered functions, in the order of their registration.
pub(crate) struct ProgramEnvironment {
    calls: ProgramCalls,
    functions: Registered<()>,
}

/// The input of a function across the border.
#[derive(Serialize)]
struct EnvironmentInput<'a> {
    number: u32,
    directory: &'a str,
    cwd: &'a str,
}

impl ProgramEnvironment {
    pub(crate) fn new(calls: ProgramCalls) -> Self {
        Self {
            calls,
            functions: Registered::default(),
        }
    }

    /// Registers a function. Returns its number.
    pub(crate) fn register(&self) -> u32 {
        let Ok(number) = self
            .functions
            .add(|_| Ok::<_, std::convert::Infallible>(()));
        number
    }

    /// Removes a function. Its running calls continue. Ignores an unknown number.
    pub(crate) fn remove(&self, number: u32) {
        self.functions.remove(number);
    }

    /// Calls a function. The call begins before this returns.
    fn call(
        &self,
        number: u32,
        directory: &str,
        cwd: &str,
    ) -> impl Future<Output = Result<Environment, ProgramError>> + Send + use<> {
        let input = EnvironmentInput {
            number,
            directory,
            cwd,
        };
        let call = self.calls.begin(FUNCTION, &input);
        async move {
            let mut call = call?;
            let variables: Vec<(String, String)> = call.result().await?;
            Ok(variables.into_iter().collect())
        }
    }
}

impl AskEnvironment for ProgramEnvironment {
    /// Calls all functions at the same time. The last registered one wins. If one fails, the others can stop.
    fn ask(&self, directory: &str, cwd: &str) -> BoxFuture<'static, Result<Environment, String>> {
        let functions = self.functions.matching(|()| true);
        let calls = functions
            .into_iter()
            .map(|(number, ())| self.call(number, directory, cwd));
        let calls = try_join_all(calls);
        let (directory, cwd) = (directory.to_owned(), cwd.to_owned());
        async move {
            let given = calls.await.map_err(|error| {
                tracing::warn!(
                    target: LOG_TARGET,
                    location = directory,
                    cwd,
                    "a function of ptys.environment failed, and a terminal does not begin: {}",
                    error.message
                );
                error.message
            })?;
            Ok(given.into_iter().flatten().collect())
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;

    #[tokio::test]
    async fn the_last_function_wins_and_a_failure_ends_the_other_calls() {
        let calls = ProgramCalls::new();
        let environment = ProgramEnvironment::new(calls.clone());
        assert_eq!(environment.ask("/a", "/b").await, Ok(Environment::new()));
        let (first, last) = (environment.register(), environment.register());
        let asked = environment.ask("/a", "/b");
        let mut notices = Box::pin(calls.notices());
        let expected = concat!(
            r#"[{"call":{"id":1,"function":"ptyEnvironment","input":{"number":1,"directory":"/a","cwd":"/b"}}},"#,
            r#"{"call":{"id":2,"function":"ptyEnvironment","input":{"number":2,"directory":"/a","cwd":"/b"}}}]"#
        );
        assert_eq!(notices.next().await.as_deref(), Some(expected));
        calls.receive(last, r#"{"result":[["A","last"]]}"#);
        calls.receive(first, r#"{"result":[["A","first"],["B","first"]]}"#);
        let given = [("A", "last"), ("B", "first")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(asked.await, Ok(Environment::from(given)));

        let failing = environment.ask("/a", "/b");
        calls.receive(4, r#"{"error":{"message":"no token"}}"#);
        assert_eq!(failing.await, Err("no token".to_owned()));
        let notices = notices.next().await.unwrap();
        assert!(notices.contains(r#"{"ended":3}"#), "{notices}");
    }
}
