//! Credentials of integrations: in the order of creation, until removed, and in no log.

use opencode_store::{Abort, Credential, Transaction};

use crate::harness::{Bench, open};

fn credential(id: &str, integration: &str, value: &str) -> Credential {
    Credential {
        id: id.into(),
        integration_id: integration.into(),
        label: "default".into(),
        value: value.into(),
    }
}

async fn of(bench: &Bench, integration: &'static str) -> Vec<Credential> {
    let read = bench
        .store
        .read(move |reader| reader.credentials(integration));
    read.await.unwrap()
}

async fn write<T: Send + 'static>(
    bench: &Bench,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T, opencode_store::StoreError> + Send + 'static,
) -> T {
    let written = bench
        .store
        .write(move |transaction| Ok::<_, Abort<&'static str>>(work(transaction)?));
    written.await.unwrap()
}

#[tokio::test]
async fn credentials_are_listed_by_integration_and_changed_by_id() {
    let bench = Bench::new().await;
    write(&bench, |transaction| {
        for (id, integration) in [
            ("cred_b", "mcp:x"),
            ("cred_a", "mcp:x"),
            ("cred_c", "mcp:y"),
        ] {
            transaction.insert_credential(&credential(id, integration, "secret"), 5)?;
        }
        Ok(())
    })
    .await;
    let ids = |found: Vec<Credential>| found.into_iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(of(&bench, "mcp:x").await), ["cred_b", "cred_a"]);
    assert_eq!(ids(of(&bench, "mcp").await), [""; 0]);

    let renamed = write(&bench, |it| {
        it.update_credential("cred_b", Some("mine"), None, 6)
    })
    .await;
    assert_eq!(renamed.as_deref(), Some("mcp:x"));
    write(&bench, |it| {
        it.update_credential("cred_b", None, Some("new"), 7)
    })
    .await;
    let first = of(&bench, "mcp:x").await.remove(0);
    assert_eq!(
        (first.label.as_str(), first.value.as_str()),
        ("mine", "new")
    );
    assert!(!format!("{first:?}").contains("new"));

    let removed = write(&bench, |it| it.remove_credential("cred_b")).await;
    assert_eq!(removed.as_deref(), Some("mcp:x"));
    assert_eq!(
        write(&bench, |it| it.remove_credential("cred_b")).await,
        None
    );
    let changed = write(&bench, |it| {
        it.update_credential("cred_b", Some("x"), None, 8)
    })
    .await;
    assert_eq!(changed, None);
    assert_eq!(ids(of(&bench, "mcp:x").await), ["cred_a"]);
}

#[tokio::test]
async fn credentials_survive_a_close() {
    let bench = Bench::new().await;
    let path = bench.path();
    let stored = credential("cred_a", "mcp:x", "secret");
    let expected = stored.clone();
    write(&bench, move |it| it.insert_credential(&stored, 5)).await;
    bench.store.close().await;
    let store = open(&path).await.unwrap();
    let read = store.read(|reader| reader.credentials("mcp:x")).await;
    assert_eq!(read.unwrap(), [expected]);
    store.close().await;
}
