//! Exclusive files of an open database: no other code in the process opens them, no second host
//! opens them, and a host that lost them reports it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use opencode_handles::{Directory, is_open_database, open_file};
use opencode_store::{Abort, Holder, OpenError, StoreError};
use rusqlite::Connection;

use crate::harness::{Bench, open};

/// Environment variable that passes the database to a second run of this program.
const OTHER_PROGRAM: &str = "OPENCODE_TEST_OTHER_PROGRAM";

/// Exit status of the other program for a database that is in use.
#[cfg(target_os = "linux")]
const IN_USE: i32 = 3;

/// Number of rows that the other program writes.
#[cfg(target_os = "linux")]
const ROWS: u32 = 300;

/// Starts this program again to run one test with a database.
fn other_program(test: &str, database: &Path) -> Command {
    let mut other = Command::new(std::env::current_exe().unwrap());
    other.args(["--exact", test]).env(OTHER_PROGRAM, database);
    other
}

async fn commit(bench: &Bench) -> Result<(), StoreError> {
    bench
        .store
        .write(|_| Ok::<_, Abort<&'static str>>(()))
        .await
        .map_err(Abort::unexpected)
}

fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the number of POSIX locks that this process holds on a file.
#[cfg(target_os = "linux")]
fn locks(file: &Path) -> usize {
    let found = file.metadata().expect("the file is there");
    let inode = format!(":{} ", found.ino());
    let pid = format!(" {} ", std::process::id());
    let locks = fs::read_to_string("/proc/locks").expect("the system tells its locks");
    let is_ours =
        |line: &&str| line.contains("POSIX") && line.contains(&inode) && line.contains(&pid);
    locks.lines().filter(is_ours).count()
}

/// Returns the number of locks when it is `expected`, else the last one. A connection that is opened holds another lock for
/// a moment.
#[cfg(target_os = "linux")]
async fn settled_locks(file: &Path, expected: usize) -> usize {
    for _ in 0..10_000 {
        if locks(file) == expected {
            break;
        }
        tokio::task::yield_now().await;
    }
    locks(file)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn other_files_of_the_process_keep_the_locks_of_the_database() {
    let bench = Bench::new().await;
    let database = bench.path().canonicalize().unwrap();
    commit(&bench).await.unwrap();
    let directory = Directory::open(database.parent().unwrap()).unwrap();
    let before = locks(&database);
    assert!(before > 0);
    fs::hard_link(&database, database.with_file_name("linked")).unwrap();
    std::os::unix::fs::symlink(&database, database.with_file_name("link")).unwrap();
    for name in [
        "opencode.db",
        "opencode.db-wal",
        "opencode.db-shm",
        "linked",
    ] {
        let inode = directory.stat(name).unwrap().unwrap().inode;
        let refused = [
            open_file(&database.with_file_name(name)).map(drop),
            directory.open_file(name).map(drop),
            directory.open_seen_file(name, None).map(drop),
            directory.open_seen_file(name, Some(inode)).map(drop),
            directory.open_file_to_change(name).map(drop),
            directory.put_file(name, b"other", false),
            directory.remove(name),
        ];
        for refused in refused {
            let error = refused.unwrap_err();
            assert!(is_open_database(&error), "{name}: {error}");
            assert!(error.to_string().contains("opencode.db"), "{error}");
        }
    }
    let linked = open_file(&database.with_file_name("link")).unwrap_err();
    assert!(is_open_database(&linked));
    assert_eq!(locks(&database), before);
}

/// SQLite in another process removes the log of a database without locks.
#[tokio::test]
async fn rows_that_another_program_reads_stay_in_the_database() {
    if let Ok(database) = std::env::var(OTHER_PROGRAM) {
        let other = Connection::open(database).unwrap();
        let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        other
            .query_row("SELECT count(*) FROM sqlite_schema", [], count)
            .unwrap();
        return;
    }
    let bench = Bench::new().await;
    let database = bench.path();
    for _ in 0..3 {
        commit(&bench).await.unwrap();
        for suffix in ["", "-wal", "-shm"] {
            assert!(open_file(&beside(&database, suffix)).is_err());
        }
        let test = "held::rows_that_another_program_reads_stay_in_the_database";
        let other = other_program(test, &database).status();
        assert!(other.unwrap().success());
        assert!(beside(&database, "-wal").exists());
    }
    commit(&bench).await.unwrap();
}

#[tokio::test]
async fn a_removed_or_replaced_file_stops_writes() {
    for suffix in ["", "-wal", "-shm"] {
        for replaced in [false, true] {
            let bench = Bench::new().await;
            commit(&bench).await.unwrap();
            let database = bench.path();
            let file = beside(&database, suffix);
            fs::rename(&file, file.with_file_name("moved")).unwrap();
            if replaced {
                fs::write(&file, "").unwrap();
            }
            for _ in 0..2 {
                let refused = commit(&bench).await;
                let Err(StoreError::Poisoned(reason)) = refused else {
                    panic!("{suffix}, replaced: {replaced}: {refused:?}");
                };
                let name = file.file_name().unwrap().to_str().unwrap();
                assert!(reason.contains(name), "{reason}");
                assert!(reason.contains("was removed or replaced"), "{reason}");
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_removed_lock_file_allows_no_second_host() {
    let bench = Bench::new().await;
    let database = bench.path();
    let before = locks(&database);
    fs::remove_file(beside(&database, ".lock")).unwrap();
    let refused = open(&database).await.map(drop).unwrap_err();
    let OpenError::InUse { holder, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(holder, Holder::ThisProcess);
    assert_eq!(settled_locks(&database, before).await, before);
    commit(&bench).await.unwrap();
}

/// A host in another process can take a removed lock file, but not the lock on the database file
/// itself.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_removed_lock_file_allows_no_other_process() {
    if let Ok(database) = std::env::var(OTHER_PROGRAM) {
        let opened = open(Path::new(&database)).await.map(drop);
        let is_in_use = matches!(opened, Err(OpenError::InUse { .. }));
        std::process::exit(if is_in_use { IN_USE } else { 0 });
    }
    let bench = Bench::new().await;
    let database = bench.path();
    fs::remove_file(beside(&database, ".lock")).unwrap();
    let before = locks(&database);
    let test = "held::a_removed_lock_file_allows_no_other_process";
    let other = other_program(test, &database).status().unwrap();
    assert_eq!(other.code(), Some(IN_USE));
    assert_eq!(settled_locks(&database, before).await, before);
    commit(&bench).await.unwrap();
}

/// Another SQLite program writes to the database while this process commits and tries to open the
/// files in every possible way.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn concurrent_writes_of_another_program_damage_nothing() {
    if let Ok(database) = std::env::var(OTHER_PROGRAM) {
        write_rows(Path::new(&database));
        return;
    }
    let bench = Bench::new().await;
    let database = bench.path().canonicalize().unwrap();
    fs::hard_link(&database, database.with_file_name("linked")).unwrap();
    let directory = Directory::open(database.parent().unwrap()).unwrap();
    let before = locks(&database);
    let test = "held::concurrent_writes_of_another_program_damage_nothing";
    let mut other = other_program(test, &database).spawn().unwrap();
    let mut committed = 0_u32;
    let ended = loop {
        for name in [
            "opencode.db",
            "opencode.db-wal",
            "opencode.db-shm",
            "linked",
        ] {
            assert!(open_file(&database.with_file_name(name)).is_err());
            assert!(directory.open_file(name).is_err());
            assert!(directory.open_file_to_change(name).is_err());
            assert!(directory.put_file(name, b"other", false).is_err());
        }
        bench.session(&format!("ses_{committed}")).await;
        committed += 1;
        if let Some(ended) = other.try_wait().unwrap() {
            break ended;
        }
    };
    assert!(ended.success());
    // A commit or a connection that opens can hold another lock for a moment.
    assert!(locks(&database) >= before);
    drop(directory);
    bench.store.close().await;
    let after = Connection::open(&database).unwrap();
    let one = |sql: &str| after.query_row(sql, [], |row| row.get::<_, String>(0));
    assert_eq!(one("PRAGMA integrity_check").unwrap(), "ok");
    let rows = one("SELECT CAST(count(*) AS TEXT) FROM other_program").unwrap();
    assert_eq!(rows, ROWS.to_string());
    let kept = one("SELECT CAST(count(*) AS TEXT) FROM session").unwrap();
    assert_eq!(kept, committed.to_string());
}

/// Each row uses its own connection, so that SQLite checks each time if it is the last one.
#[cfg(target_os = "linux")]
fn write_rows(database: &Path) {
    for number in 0..ROWS {
        let other = Connection::open(database).unwrap();
        other
            .busy_timeout(std::time::Duration::from_secs(60))
            .unwrap();
        let create = "CREATE TABLE IF NOT EXISTS other_program (number INTEGER)";
        other.execute(create, []).unwrap();
        let insert = "INSERT INTO other_program VALUES (?1)";
        other.execute(insert, [number]).unwrap();
    }
}
