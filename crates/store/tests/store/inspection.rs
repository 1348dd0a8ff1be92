//! Opening after a host that did not close its database: the check and the effect of damage.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use opencode_store::{Abort, LifecycleConflict, OpenError, Store, StoreError};
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{admitted, append, create, event, incompressible, open, raw};

const FILES: [&str; 2] = ["opencode.db", "opencode.db-wal"];

/// Returns the files of a killed host: most data is in the file, the rest in the log. Each of the
/// `entries` has a page of text.
async fn killed(entries: usize) -> (TempDir, PathBuf) {
    let (alive, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = alive.path().join("opencode.db");
    let store = open(&path).await.unwrap();
    let session = create(&store, "ses_a").await;
    let id = session.info.id.clone();
    let write = store.write(move |transaction| {
        for at in 0..entries {
            let payload = json!({"messageID": format!("msg_{at}"), "text": incompressible(4096)});
            let draft = opencode_store::Draft::new(5, event("synthetic", payload));
            transaction.append(&id, None, draft)?;
        }
        Ok::<_, Abort<LifecycleConflict>>(())
    });
    write.await.unwrap();
    store.close().await;
    let store = open(&path).await.unwrap();
    project(&store).await.unwrap();
    for name in FILES {
        fs::copy(alive.path().join(name), killed.path().join(name)).unwrap();
    }
    store.close().await;
    let path = killed.path().join("opencode.db");
    (killed, path)
}

/// Writes a row that belongs to no session.
async fn project(store: &Store) -> Result<(), StoreError> {
    let write = store.write(|transaction| {
        transaction.add_project("p", "/", 5)?;
        Ok::<_, Abort<&'static str>>(())
    });
    write.await.map_err(Abort::unexpected)
}

/// Overwrites the first page of the table `event`.
fn damage(path: &Path) {
    let copy = tempfile::tempdir().unwrap();
    let name = copy.path().join("copy.db");
    fs::copy(path, &name).unwrap();
    let raw = raw(&name);
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'event'";
    let page: u32 = raw.query_row(sql, [], |row| row.get(0)).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(u64::from(page - 1) * 4096))
        .unwrap();
    file.write_all(&[0xff; 4096]).unwrap();
}

fn contents(path: &Path) -> Vec<Option<Vec<u8>>> {
    let folder = path.parent().unwrap();
    FILES.map(|name| fs::read(folder.join(name)).ok()).into()
}

/// Returns the reason that the database cannot be opened.
async fn refused(path: &Path) -> String {
    match open(path).await.map(|_| ()) {
        Err(OpenError::Unavailable { path: at, reason }) => {
            assert_eq!(at, path);
            reason
        }
        other => panic!("{other:?}"),
    }
}

fn is_advice(reason: &str) -> bool {
    let advice = "; put a copy from before in its place, or move it away together with its -wal file to begin with an empty one";
    let found = reason.strip_prefix("it is damaged (");
    let found = found.and_then(|found| found.strip_suffix(advice));
    found.is_some_and(|found| found.len() > 5 && found.ends_with(')') && !found.contains('\n'))
}

#[tokio::test]
async fn a_database_of_a_killed_host_opens_unchanged() {
    for entries in [1, 3000] {
        let (folder, path) = killed(entries).await;
        let store = open(&path).await.unwrap();
        project(&store).await.unwrap();
        let session = store.read(|db| {
            db.sessions(
                &Default::default(),
                opencode_store::Order::Ascending,
                None,
                9,
            )
        });
        let session = session.await.unwrap().remove(0);
        let next = append(&store, &session.info.id, 5, admitted("msg_n", "x", "steer"));
        assert_eq!(next.await, Ok(entries as u64 + 1));
        // A running check delays neither closing nor the checkpoint.
        store.close().await;
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["opencode.db", "opencode.db.lock"]);
    }
}

#[tokio::test]
async fn a_small_damaged_database_is_refused_and_unchanged() {
    let (_folder, path) = killed(3).await;
    let good = contents(&path);
    damage(&path);
    let before = contents(&path);
    for _ in 0..2 {
        let reason = refused(&path).await;
        assert!(is_advice(&reason), "{reason}");
        assert_eq!(contents(&path), before);
    }
    for (name, content) in FILES.iter().zip(good) {
        fs::write(path.with_file_name(name), content.unwrap()).unwrap();
    }
    open(&path).await.unwrap().close().await;
}

#[tokio::test]
async fn a_large_damaged_database_opens_and_then_refuses_writes() {
    let (_folder, path) = killed(3000).await;
    damage(&path);
    let store = open(&path).await.unwrap();
    let refused = async {
        loop {
            match project(&store).await {
                Ok(()) => tokio::task::yield_now().await,
                Err(StoreError::Poisoned(reason)) => return reason,
                Err(other) => panic!("{other}"),
            }
        }
    };
    let reason = tokio::time::timeout(Duration::from_secs(30), refused)
        .await
        .unwrap();
    assert!(is_advice(&reason), "{reason}");
    // Intact data can still be read.
    let id = opencode_schema::id::SessionID::parse("ses_a").unwrap();
    let session = store.read(move |db| db.session(&id)).await.unwrap();
    assert!(session.is_some());
    store.close().await;
    assert!(path.with_file_name("opencode.db-wal").exists());
}

#[tokio::test]
async fn a_host_that_failed_leaves_the_file_for_an_inspection() {
    let (_folder, path) = killed(3).await;
    open(&path).await.unwrap().close().await;
    damage(&path);
    // The last host closed the database, so no check runs.
    let store = open(&path).await.unwrap();
    let id = opencode_schema::id::SessionID::parse("ses_a").unwrap();
    let written = append(&store, &id, 5, admitted("msg_n", "x", "steer")).await;
    assert!(
        matches!(written, Err(Abort::Failed(StoreError::Poisoned(_)))),
        "{written:?}"
    );
    store.close().await;
    let reason = refused(&path).await;
    assert!(is_advice(&reason), "{reason}");
}
