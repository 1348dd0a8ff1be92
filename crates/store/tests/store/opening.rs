//! Opening: accepted files, exclusion of other hosts, and unchanged rejected files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opencode_store::{DatabasePath, OpenError, Order, Sequence, Store};
use tokio::task::JoinSet;

use crate::harness::{Bench, admitted, append, create, open, options, prompted, raw, step_started};

/// Newest schema version.
const NEWEST: i64 = 12;

fn outcome(opened: Result<Store, OpenError>) -> Result<(), String> {
    match opened {
        Ok(_) => Ok(()),
        Err(OpenError::InUse { path, .. }) => Err(format!("in use: {}", path.display())),
        Err(OpenError::Version { path, found, known }) => {
            Err(format!("version {found} of {known}: {}", path.display()))
        }
        Err(OpenError::Unavailable { path, reason }) => {
            assert!(!reason.is_empty());
            Err(format!("unavailable: {}", path.display()))
        }
    }
}

/// True if another host cannot open the file and the error has the given path.
async fn is_in_use(path: &Path) -> bool {
    outcome(open(path).await) == Err(format!("in use: {}", path.display()))
}

async fn is_unavailable(path: &Path) -> bool {
    outcome(open(path).await) == Err(format!("unavailable: {}", path.display()))
}

/// Returns the same path relative to the working directory.
#[cfg(unix)]
fn relative(path: &Path) -> PathBuf {
    let up = std::env::current_dir().unwrap().components().count() - 1;
    let root: PathBuf = std::iter::repeat_n("..", up).collect();
    root.join(path.strip_prefix("/").unwrap())
}

#[tokio::test]
async fn missing_folders_are_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/c/opencode.db");
    let store = open(&path).await.unwrap();
    create(&store, "ses_a").await;
    store.close().await;
    assert!(path.is_file());
    let raw = raw(&path);
    let number = |name| raw.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    assert_eq!(number("user_version"), Ok(NEWEST));
    assert_eq!(
        number("application_id"),
        Ok(i64::from(u32::from_be_bytes(*b"OCED")))
    );
}

#[tokio::test]
async fn a_page_of_zeros_that_a_power_failure_left_is_a_new_database() {
    const PAGE: usize = 4096;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    fs::write(&path, [0; PAGE]).unwrap();
    let store = open(&path).await.unwrap();
    create(&store, "ses_a").await;
    store.close().await;
    let store = open(&path).await.unwrap();
    assert!(everything(&store).await.contains("ses_a"));
    for other in [
        vec![0; PAGE - 1],
        vec![0; 2 * PAGE],
        [&[0; PAGE - 1][..], b"x"].concat(),
    ] {
        let path = folder.path().join("other");
        fs::write(&path, &other).unwrap();
        assert!(is_unavailable(&path).await, "{} bytes", other.len());
        assert_eq!(fs::read(&path).unwrap(), other);
    }
}

#[tokio::test]
async fn a_database_whose_creation_was_cut_off_before_its_schema_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let first = raw(&path);
    first.pragma_update(None, "journal_mode", "WAL").unwrap();
    drop(first);
    assert!(fs::metadata(&path).unwrap().len() > 0);
    let store = open(&path).await.unwrap();
    create(&store, "ses_a").await;
    store.close().await;
    let store = open(&path).await.unwrap();
    assert!(everything(&store).await.contains("ses_a"));
}

#[tokio::test]
async fn a_file_can_be_opened_once_under_all_its_names() {
    let bench = Bench::new().await;
    let path = bench.path();
    let folder = bench.folder.path();
    fs::create_dir(folder.join("sub")).unwrap();
    let mut names = vec![
        path.clone(),
        folder.join("sub/../opencode.db"),
        folder.join("./opencode.db"),
    ];
    #[cfg(unix)]
    {
        let link = |to: &Path, name: &str| {
            std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
            folder.join(name)
        };
        names.push(relative(&path));
        names.push(link(&path, "link.db"));
        names.push(link(Path::new("link.db"), "link-to-link.db"));
        names.push(link(folder, "folder").join("opencode.db"));
    }
    for name in &names {
        assert!(is_in_use(name).await, "{}", name.display());
    }
    bench.store.close().await;
    for name in &names {
        let store = open(name).await.unwrap();
        assert!(is_in_use(&path).await, "{}", name.display());
        store.close().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_a_missing_file_is_opened_as_that_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing/opencode.db");
    let link = folder.path().join("link.db");
    let first = folder.path().join("first.db");
    std::os::unix::fs::symlink("missing/opencode.db", &link).unwrap();
    std::os::unix::fs::symlink(&link, &first).unwrap();
    let store = open(&first).await.unwrap();
    for name in [&path, &link, &first] {
        assert!(is_in_use(name).await, "{}", name.display());
    }
    create(&store, "ses_a").await;
    store.close().await;
    assert!(path.is_file());
    // A link to itself is not a file.
    let circle = folder.path().join("circle.db");
    std::os::unix::fs::symlink(&circle, &circle).unwrap();
    assert!(is_unavailable(&circle).await);
}

#[tokio::test]
async fn a_file_that_another_process_has_open_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let other = fs::File::create(folder.path().join("opencode.db.lock")).unwrap();
    other.try_lock().unwrap();
    assert!(is_in_use(&path).await);
    assert!(!path.exists());
    drop(other);
    open(&path).await.unwrap().close().await;
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_unavailable_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let text = file("text", b"short");
    let long = file("long", "not a database\n".repeat(1000).as_bytes());
    let header = file("header", b"SQLite format 3\0 and no more");
    let directory = folder.path().join("directory");
    fs::create_dir(&directory).unwrap();
    let before: Vec<_> = [&text, &long, &header]
        .map(|path| fs::read(path).unwrap())
        .into();
    for path in [
        &text,
        &long,
        &header,
        &directory,
        &text.join("below/a/file.db"),
        Path::new(""),
        Path::new("/"),
        &folder.path().join("missing/.."),
    ] {
        assert!(is_unavailable(path).await, "{}", path.display());
    }
    let after: Vec<_> = [&text, &long, &header]
        .map(|path| fs::read(path).unwrap())
        .into();
    assert_eq!(before, after);
    assert!(!folder.path().join("directory.lock").exists());
    // An empty file is a database without tables.
    open(&file("empty", b"")).await.unwrap().close().await;
}

/// Creates a database, and returns a copy with its last changes in the write-ahead log.
fn with_log(folder: &Path, setup: &str) -> PathBuf {
    let (source, copy) = (folder.join("source.db"), folder.join("copy.db"));
    let raw = raw(&source);
    raw.pragma_update(None, "journal_mode", "WAL").unwrap();
    raw.execute_batch(setup).unwrap();
    fs::copy(&source, &copy).unwrap();
    fs::copy(folder.join("source.db-wal"), folder.join("copy.db-wal")).unwrap();
    assert_ne!(fs::metadata(folder.join("copy.db-wal")).unwrap().len(), 0);
    copy
}

fn without_log(folder: &Path, setup: &str) -> PathBuf {
    let path = folder.join("plain.db");
    raw(&path).execute_batch(setup).unwrap();
    path
}

#[tokio::test]
async fn databases_of_other_programs_and_newer_versions_are_unchanged() {
    let ours = include_str!("../../migrations/0001_sessions.sql");
    let ours = format!(
        "{ours}; PRAGMA application_id = {}; ",
        u32::from_be_bytes(*b"OCED")
    );
    for (setup, expected) in [
        (
            "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1);".to_owned(),
            "unavailable",
        ),
        (
            "CREATE TABLE theirs (a); PRAGMA user_version = 1;".to_owned(),
            "unavailable",
        ),
        ("PRAGMA application_id = 7;".to_owned(), "unavailable"),
        (
            format!("{ours} PRAGMA user_version = {};", NEWEST + 1),
            "version 13 of 12",
        ),
        (
            format!("{ours} PRAGMA user_version = 99;"),
            "version 99 of 12",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            with_log(folder.path(), &setup),
            without_log(folder.path(), &setup),
        ] {
            let before = fs::read(&path).unwrap();
            for _ in 0..2 {
                let refused = outcome(open(&path).await);
                assert_eq!(refused, Err(format!("{expected}: {}", path.display())));
                assert_eq!(fs::read(&path).unwrap(), before, "{setup}");
            }
        }
    }
}

/// Returns all readable data of `ses_a`.
async fn everything(store: &Store) -> String {
    let read = store.read(|db| {
        let id = opencode_schema::id::SessionID::parse("ses_a").unwrap();
        let row = db.session(&id)?.unwrap();
        let messages = db.messages(row.key, Order::Ascending, None, usize::MAX)?;
        let events = db.events(row.key, None, usize::MAX)?;
        Ok(format!("{row:?} {messages:?} {events:?}"))
    });
    read.await.unwrap()
}

#[tokio::test]
async fn a_reopened_database_has_the_same_data() {
    let (bench, session) = Bench::with_session("ses_a").await;
    for event in [
        admitted("msg_1", "one", "steer"),
        prompted("msg_1", "one", "steer"),
        step_started("msg_a"),
    ] {
        bench.append(&session, 5, event).await;
    }
    let before = everything(&bench.store).await;
    let path = bench.path();
    // A copy of the files while the store is open has the state after a crash.
    let crashed = tempfile::tempdir().unwrap();
    for name in ["opencode.db", "opencode.db-wal"] {
        fs::copy(bench.folder.path().join(name), crashed.path().join(name)).unwrap();
    }
    bench.store.close().await;
    for path in [path, crashed.path().join("opencode.db")] {
        let store = open(&path).await.unwrap();
        assert_eq!(everything(&store).await, before);
        let next = append(
            &store,
            &session.info.id,
            6,
            admitted("msg_2", "two", "steer"),
        );
        assert_eq!(next.await, Ok(4));
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_database_in_memory_is_read_and_written_concurrently() {
    let store = Store::open(options(DatabasePath::Memory, Box::new(|_| {})))
        .await
        .unwrap();
    let store = Arc::new(store);
    let other = Store::open(options(DatabasePath::Memory, Box::new(|_| {})))
        .await
        .unwrap();
    let session = create(&store, "ses_a").await;
    let mut tasks = JoinSet::new();
    for task in 0..20 {
        let (store, session) = (Arc::clone(&store), session.clone());
        tasks.spawn(async move {
            for at in 0..10 {
                let event = admitted(&format!("msg_{task}_{at}"), "x", "steer");
                let seq = append(&store, &session.info.id, 5, event).await.unwrap();
                let key = session.key;
                let latest = store.read(move |db| db.latest_seq(key)).await.unwrap();
                assert!(latest >= seq.into());
            }
        });
    }
    tasks.join_all().await;
    let key = session.key;
    let events = store
        .read(move |db| db.events(key, None, usize::MAX))
        .await
        .unwrap();
    assert!(
        events
            .iter()
            .map(|entry| u64::from(entry.seq))
            .eq(1..=200_u64)
    );
    let none = other
        .read(move |db| db.session(&session.info.id))
        .await
        .unwrap();
    assert_eq!(none, None, "each is on its own");
    store.close().await;
    assert!(store.read(|_| Ok(())).await.is_err());
}

#[tokio::test]
async fn a_read_sees_one_state_of_the_database() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let store = Arc::new(bench.store);
    let (began, begins) = tokio::sync::oneshot::channel();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let reading = {
        let (store, key) = (Arc::clone(&store), session.key);
        tokio::spawn(async move {
            let read = store.read(move |db| {
                let before = db.latest_seq(key)?;
                let _ = began.send(());
                let _ = held.recv();
                Ok((before, db.latest_seq(key)?))
            });
            read.await.unwrap()
        })
    };
    begins.await.unwrap();
    // Neither waits for the other.
    let written = append(&store, &session.info.id, 5, admitted("msg_1", "x", "steer"));
    assert_eq!(written.await, Ok(1));
    drop(release);
    assert_eq!(reading.await.unwrap(), (Sequence::FIRST, Sequence::FIRST));
    let key = session.key;
    assert_eq!(
        store.read(move |db| db.latest_seq(key)).await.unwrap(),
        1.into()
    );
}
