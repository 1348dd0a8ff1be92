//! Credentials in the database.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_mcp::oauth::{CredentialError, CredentialStore, Secret, StoredCredential};
use opencode_store::{Abort, Credential, StoreError, Transaction};

use crate::error::RuntimeError;
use crate::journal::Journal;

/// The credentials of a host.
pub(super) struct StoredCredentials(pub(super) Arc<Journal>);

/// Changes the label of a credential. Returns its integration; `None` for an unknown id.
pub(super) async fn rename(
    journal: &Journal,
    id: String,
    label: String,
) -> Result<Option<String>, RuntimeError> {
    let now = journal.now();
    let rename = move |transaction: &mut Transaction<'_>| {
        transaction.update_credential(&id, Some(&label), None, now)
    };
    Ok(write(journal, rename).await?)
}

/// Removes a credential. Returns its integration; `None` for an unknown id.
pub(super) async fn remove(journal: &Journal, id: String) -> Result<Option<String>, RuntimeError> {
    let remove = move |transaction: &mut Transaction<'_>| transaction.remove_credential(&id);
    Ok(write(journal, remove).await?)
}

async fn write<T: Send + 'static>(
    journal: &Journal,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let written = journal
        .store
        .write(move |transaction| Ok::<_, Abort<StoreError>>(work(transaction)?));
    written.await.map_err(|abort| match abort {
        Abort::Refused(error) | Abort::Failed(error) => error,
    })
}

fn failed(error: StoreError) -> CredentialError {
    CredentialError(error.to_string())
}

impl CredentialStore for StoredCredentials {
    fn load<'a>(
        &'a self,
        integration: &'a str,
    ) -> BoxFuture<'a, Result<Vec<StoredCredential>, CredentialError>> {
        let integration = integration.to_owned();
        let load = async move {
            let read = self.0.store.read(move |it| it.credentials(&integration));
            let stored = read.await.map_err(failed)?.into_iter();
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
        let insert = async move {
            let (id, now) = (self.0.ids.next("cred", false), self.0.now());
            let credential = Credential {
                id: id.clone(),
                integration_id: integration.to_owned(),
                label: label.to_owned(),
                value: value.expose().to_owned(),
            };
            let insert = move |transaction: &mut Transaction<'_>| {
                transaction.insert_credential(&credential, now)
            };
            write(&self.0, insert).await.map_err(failed)?;
            Ok(id)
        };
        insert.boxed()
    }

    fn update<'a>(
        &'a self,
        id: &'a str,
        label: Option<&'a str>,
        value: Secret,
    ) -> BoxFuture<'a, Result<bool, CredentialError>> {
        let (id, label, now) = (id.to_owned(), label.map(str::to_owned), self.0.now());
        let update = async move {
            let update = move |transaction: &mut Transaction<'_>| {
                let value = Some(value.expose());
                transaction.update_credential(&id, label.as_deref(), value, now)
            };
            let found = write(&self.0, update).await.map_err(failed)?;
            Ok(found.is_some())
        };
        update.boxed()
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CredentialError>> {
        let id = id.to_owned();
        let removed = async move {
            let remove =
                move |transaction: &mut Transaction<'_>| transaction.remove_credential(&id);
            write(&self.0, remove).await.map(drop).map_err(failed)
        };
        removed.boxed()
    }
}
