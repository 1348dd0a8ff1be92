//! Functions of the program that publish and remove shared copies of sessions.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_runtime::ShareSessions;
use opencode_schema::session::SessionInfo;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::LOG_TARGET;
use super::calls::ProgramCalls;

/// Names of the functions in calls.
const PUBLISH: &str = "share.publish";
const REMOVE: &str = "share.remove";

/// The service of one host. The program reads the content of a session with an operation of the host.
pub(crate) struct ProgramSharing(ProgramCalls);

/// The input of a function across the border.
#[derive(Serialize)]
struct ShareInput<'a> {
    session: &'a SessionInfo,
}

impl ProgramSharing {
    pub(crate) fn new(calls: ProgramCalls) -> Self {
        Self(calls)
    }

    /// Calls a function. The call begins before this returns.
    fn call<T: DeserializeOwned + Send + 'static>(
        &self,
        function: &'static str,
        session: &SessionInfo,
    ) -> BoxFuture<'static, Result<T, String>> {
        let call = self.0.begin(function, &ShareInput { session });
        let session_id = session.id.clone();
        async move {
            let result = match call {
                Ok(mut call) => call.result().await,
                Err(error) => Err(error),
            };
            result.map_err(|error| {
                tracing::warn!(
                    target: LOG_TARGET,
                    %session_id,
                    "{function} of the option share failed: {}",
                    error.message
                );
                error.message
            })
        }
        .boxed()
    }
}

impl ShareSessions for ProgramSharing {
    fn publish(&self, session: &SessionInfo) -> BoxFuture<'static, Result<String, String>> {
        self.call(PUBLISH, session)
    }

    fn remove(&self, session: &SessionInfo) -> BoxFuture<'static, Result<(), String>> {
        self.call::<Option<bool>>(REMOVE, session)
            .map(|removed| removed.map(|_| ()))
            .boxed()
    }
}
