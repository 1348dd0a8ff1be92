//! Credentials: in the database, or with their values in a store of the program.
//!
//! A row of the database says that a credential exists. With a store of the program, the row has no value.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Either, join_all, select};
use opencode_mcp::oauth::{CredentialError, CredentialStore, StoredCredential};
use opencode_secrets::Secret;
use opencode_store::{Abort, Credential, StoreError, Transaction};

use crate::error::RuntimeError;
use crate::journal::Journal;
use crate::timer::Timer;

/// Maximum time for one function of the program.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Keeps the values of credentials outside of the database, for example in the key chain of an editor. Values are opaque
/// texts. The errors are texts for users.
pub trait CredentialValues: Send + Sync {
    /// Returns the value with this key; `None` if there is none.
    fn get(&self, key: &str) -> BoxFuture<'static, Result<Option<String>, String>>;

    /// Stores a value.
    fn set(&self, key: &str, value: &str) -> BoxFuture<'static, Result<(), String>>;

    /// Removes a value. Ignores an unknown key.
    fn remove(&self, key: &str) -> BoxFuture<'static, Result<(), String>>;
}

/// The credentials of a host.
pub(crate) struct Credentials {
    journal: Arc<Journal>,
    values: Option<Arc<dyn CredentialValues>>,
    timer: Arc<dyn Timer>,
}

impl Credentials {
    pub(crate) fn new(
        journal: Arc<Journal>,
        values: Option<Arc<dyn CredentialValues>>,
        timer: Arc<dyn Timer>,
    ) -> Self {
        Self {
            journal,
            values,
            timer,
        }
    }

    /// Returns all credentials. Those in a store of the program lack their values.
    pub(crate) async fn listed(&self) -> Result<Vec<Credential>, StoreError> {
        self.journal.store.read(|it| it.all_credentials()).await
    }

    /// Returns the credentials of an integration with their values, oldest first.
    pub(crate) async fn of(&self, integration: &str) -> Result<Vec<Credential>, RuntimeError> {
        let integration = integration.to_owned();
        let read = self
            .journal
            .store
            .read(move |it| it.credentials(&integration));
        self.with_values(read.await?).await
    }

    /// Adds the values to credentials. Omits those without a value.
    pub(crate) async fn with_values(
        &self,
        stored: Vec<Credential>,
    ) -> Result<Vec<Credential>, RuntimeError> {
        let Some(values) = &self.values else {
            return Ok(stored);
        };
        let reading = stored.into_iter().map(|credential| async {
            let value = self.bounded(values.get(&credential.id)).await?;
            Ok(value.map(|value| Credential {
                value,
                ..credential
            }))
        });
        let found: Result<Vec<_>, RuntimeError> = join_all(reading).await.into_iter().collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// Stores a new credential and returns its id. If `replaces`, removes the former ones of the integration.
    pub(crate) async fn insert(
        &self,
        integration: &str,
        label: &str,
        value: Secret,
        replaces: bool,
    ) -> Result<String, RuntimeError> {
        let (id, now) = (self.journal.ids.next("cred", false), self.journal.now());
        if let Some(values) = &self.values {
            self.bounded(values.set(&id, value.expose())).await?;
        }
        let credential = Credential {
            id: id.clone(),
            integration_id: integration.to_owned(),
            label: label.to_owned(),
            value: match self.values {
                Some(_) => String::new(),
                None => value.expose().to_owned(),
            },
        };
        let insert = move |transaction: &mut Transaction<'_>| {
            let mut former = Vec::new();
            if replaces {
                let stored = transaction
                    .reader()
                    .credentials(&credential.integration_id)?;
                for Credential { id, .. } in stored {
                    transaction.remove_credential(&id)?;
                    former.push(id);
                }
            }
            transaction.insert_credential(&credential, now)?;
            Ok(former)
        };
        match self.write(insert).await {
            Ok(former) => {
                for id in former {
                    self.forget(&id).await;
                }
                Ok(id)
            }
            Err(error) => {
                self.forget(&id).await;
                Err(error.into())
            }
        }
    }

    /// Changes the label of a credential. Returns its integration; `None` for an unknown id.
    pub(crate) async fn rename(
        &self,
        id: String,
        label: String,
    ) -> Result<Option<String>, RuntimeError> {
        let now = self.journal.now();
        let rename = move |transaction: &mut Transaction<'_>| {
            transaction.update_credential(&id, Some(&label), None, now)
        };
        Ok(self.write(rename).await?)
    }

    /// Removes the row of a credential. Returns its integration; `None` for an unknown id. The value in a store of the
    /// program stays until `forget`.
    pub(crate) async fn remove_row(&self, id: &str) -> Result<Option<String>, RuntimeError> {
        let id = id.to_owned();
        let remove = move |transaction: &mut Transaction<'_>| transaction.remove_credential(&id);
        Ok(self.write(remove).await?)
    }

    /// Replaces the value of a credential. Returns false if the credential was removed.
    pub(crate) async fn update(
        &self,
        id: &str,
        label: Option<&str>,
        value: Secret,
    ) -> Result<bool, RuntimeError> {
        let now = self.journal.now();
        if let Some(values) = &self.values {
            self.bounded(values.set(id, value.expose())).await?;
        }
        let (row, label) = (id.to_owned(), label.map(str::to_owned));
        let own = self.values.is_none().then_some(value);
        let update = move |transaction: &mut Transaction<'_>| {
            let value = own.as_ref().map(Secret::expose);
            transaction.update_credential(&row, label.as_deref(), value, now)
        };
        let is_known = self.write(update).await?.is_some();
        if !is_known {
            self.forget(id).await;
        }
        Ok(is_known)
    }

    /// Removes a value from the store of the program. The row is gone, so a failure only leaves an unused value.
    pub(crate) async fn forget(&self, id: &str) {
        let Some(values) = &self.values else {
            return;
        };
        if let Err(error) = self.bounded(values.remove(id)).await {
            tracing::warn!(credential = id, %error, "the value of a removed credential stays in the store of the program");
        }
    }

    async fn bounded<T>(
        &self,
        call: BoxFuture<'static, Result<T, String>>,
    ) -> Result<T, RuntimeError> {
        let message = match select(call, self.timer.after(TIMEOUT)).await {
            Either::Left((Ok(value), _)) => return Ok(value),
            Either::Left((Err(error), _)) => error,
            Either::Right(_) => "it took more than ten seconds".to_owned(),
        };
        Err(RuntimeError::Unavailable {
            service: "credentials",
            message: format!("The option credentials failed: {message}"),
        })
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let written = self
            .journal
            .store
            .write(move |transaction| Ok::<_, Abort<StoreError>>(work(transaction)?));
        written.await.map_err(|abort| match abort {
            Abort::Refused(error) | Abort::Failed(error) => error,
        })
    }
}

fn failed(error: impl ToString) -> CredentialError {
    CredentialError(error.to_string())
}

impl CredentialStore for Credentials {
    fn load<'a>(
        &'a self,
        integration: &'a str,
    ) -> BoxFuture<'a, Result<Vec<StoredCredential>, CredentialError>> {
        let load = async move {
            let stored = self.of(integration).await.map_err(failed)?.into_iter();
            let secret = |credential: Credential| StoredCredential {
                id: credential.id,
                value: Secret::new(credential.value),
            };
            Ok(stored.map(secret).collect())
        };
        load.boxed()
    }

    fn insert<'a>(
        &'a self,
        integration: &'a str,
        label: &'a str,
        value: Secret,
    ) -> BoxFuture<'a, Result<String, CredentialError>> {
        let insert = self.insert(integration, label, value, false);
        insert.map(|stored| stored.map_err(failed)).boxed()
    }

    fn update<'a>(
        &'a self,
        id: &'a str,
        label: Option<&'a str>,
        value: Secret,
    ) -> BoxFuture<'a, Result<bool, CredentialError>> {
        let update = self.update(id, label, value);
        update.map(|found| found.map_err(failed)).boxed()
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CredentialError>> {
        let remove = async move {
            self.remove_row(id).await.map_err(failed)?;
            self.forget(id).await;
            Ok(())
        };
        remove.boxed()
    }
}
