//! Functions of the program that keep the values of credentials.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_runtime::CredentialValues;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::calls::ProgramCalls;

/// The store of one host. The log has no value, because it is a secret.
pub(crate) struct ProgramCredentials(ProgramCalls);

/// The input of a function across the border.
#[derive(Serialize)]
struct CredentialInput<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
}

impl ProgramCredentials {
    pub(crate) fn new(calls: ProgramCalls) -> Self {
        Self(calls)
    }

    fn call<T: DeserializeOwned + Send + 'static>(
        &self,
        function: &'static str,
        input: &CredentialInput<'_>,
    ) -> BoxFuture<'static, Result<T, String>> {
        let call = self.0.begin(function, input);
        async move {
            let result = match call {
                Ok(mut call) => call.result().await,
                Err(error) => Err(error),
            };
            result.map_err(|error| error.message)
        }
        .boxed()
    }
}

impl CredentialValues for ProgramCredentials {
    fn get(&self, key: &str) -> BoxFuture<'static, Result<Option<String>, String>> {
        self.call("credentials.get", &CredentialInput { key, value: None })
    }

    fn set(&self, key: &str, value: &str) -> BoxFuture<'static, Result<(), String>> {
        let value = Some(value);
        let set = self.call::<Option<bool>>("credentials.set", &CredentialInput { key, value });
        set.map(|stored| stored.map(|_| ())).boxed()
    }

    fn remove(&self, key: &str) -> BoxFuture<'static, Result<(), String>> {
        let input = CredentialInput { key, value: None };
        let removed = self.call::<Option<bool>>("credentials.remove", &input);
        removed.map(|removed| removed.map(|_| ())).boxed()
    }
}
