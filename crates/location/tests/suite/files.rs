//! The files of a Location for clients, with valid and malicious requests.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencode_location::files::{FileContent, FileSystemError, MAX_CHILDREN, MAX_FILE_BYTES};
use opencode_location::location::Location;
use opencode_schema::file_system::{FileSystemEntry, FileSystemEntryType};

use crate::machine::{Machine, git};

/// A project next to a directory outside of it, with links between the two.
async fn open() -> (Machine, Arc<Location>) {
    let machine = Machine::new();
    for (path, content) in [
        ("project/a.txt", "a"),
        ("project/src/main.ts", "main"),
        ("project/src/deep/Main.md", "deep"),
        ("project/.hidden", "hidden"),
        ("outside/secret.txt", "secret"),
        ("outside/deep/secret.txt", "secret"),
    ] {
        machine.write(path, content);
    }
    symlink("src", machine.path("project/link")).unwrap();
    symlink("a.txt", machine.path("project/file-link")).unwrap();
    symlink(machine.path("outside"), machine.path("project/out")).unwrap();
    symlink(
        machine.path("outside/secret.txt"),
        machine.path("project/out-file"),
    )
    .unwrap();
    symlink("missing", machine.path("project/dangling")).unwrap();
    let fifo = Command::new("mkfifo")
        .arg(machine.path("project/fifo"))
        .status();
    assert!(fifo.unwrap().success());
    let directory = machine.text("project");
    let location = machine.locations(None).get(&directory).await.unwrap();
    (machine, location)
}

fn named(path: &str) -> String {
    path.to_owned()
}

/// The paths of entries. Fails if the type of an entry does not match its path.
fn paths(entries: Vec<FileSystemEntry>) -> Vec<String> {
    let path = |entry: FileSystemEntry| {
        let is_directory = entry.r#type == FileSystemEntryType::Directory;
        assert_eq!(is_directory, entry.path.ends_with('/'), "{entry:?}");
        entry.path
    };
    entries.into_iter().map(path).collect()
}

#[tokio::test]
async fn a_file_is_read_with_the_type_of_its_name() {
    let (machine, location) = open().await;
    machine.write("project/bytes.bin", [0, 255, 254]);
    machine.write("project/page.HTML", "");
    machine.write("project/new\nline.txt", "odd");
    for (path, bytes, media_type) in [
        ("a.txt", &b"a"[..], "text/plain"),
        ("src/deep/Main.md", b"deep", "text/markdown"),
        // The extension alone means a video.
        ("src/main.ts", b"main", "application/octet-stream"),
        ("bytes.bin", b"\0\xff\xfe", "application/octet-stream"),
        ("page.HTML", b"", "text/html"),
        (".hidden", b"hidden", "application/octet-stream"),
        ("new\nline.txt", b"odd", "text/plain"),
        ("src/../a.txt", b"a", "text/plain"),
        // A link inside the Location is resolved.
        ("link/main.ts", b"main", "application/octet-stream"),
        ("file-link", b"a", "text/plain"),
    ] {
        let expected = FileContent {
            bytes: bytes.to_vec(),
            media_type,
        };
        assert_eq!(location.read_file(path).await, Ok(expected), "{path}");
    }
}

#[tokio::test]
async fn only_files_of_the_location_are_read() {
    let (machine, location) = open().await;
    let _socket = UnixListener::bind(machine.path("project/socket")).unwrap();
    fs::create_dir(machine.path("project/folder")).unwrap();
    let absolute = machine.text("project/a.txt");
    let deep = "d/".repeat(100_000);
    for (path, expected) in [
        (
            "..",
            FileSystemError::Escapes as fn(String) -> FileSystemError,
        ),
        ("../outside/secret.txt", FileSystemError::Escapes),
        ("src/../../outside/secret.txt", FileSystemError::Escapes),
        (&absolute, FileSystemError::Absolute),
        ("/etc/passwd", FileSystemError::Absolute),
        ("/proc/self/environ", FileSystemError::Absolute),
        // The errors do not reveal what exists outside.
        ("out/secret.txt", FileSystemError::Missing),
        ("out/missing", FileSystemError::Missing),
        ("out/secret.txt/below", FileSystemError::Missing),
        ("out-file", FileSystemError::Missing),
        ("dangling", FileSystemError::Missing),
        ("missing", FileSystemError::Missing),
        ("a.txt/below", FileSystemError::Missing),
        ("nul\0byte", FileSystemError::Missing),
        (&deep, FileSystemError::Missing),
        ("", FileSystemError::NotAFile),
        (".", FileSystemError::NotAFile),
        ("folder", FileSystemError::NotAFile),
        ("fifo", FileSystemError::NotAFile),
        ("socket", FileSystemError::NotAFile),
    ] {
        let told = location.read_file(path).await;
        assert_eq!(told, Err(expected(named(path))), "{path:?}");
    }
}

#[tokio::test]
async fn a_large_file_is_refused_before_it_fills_memory() {
    let (machine, location) = open().await;
    for (path, size) in [
        ("fits", MAX_FILE_BYTES),
        ("grown", MAX_FILE_BYTES + 1),
        ("huge", 1 << 40),
    ] {
        let file = fs::File::create(machine.path("project").join(path)).unwrap();
        file.set_len(size).unwrap();
        let read = location.read_file(path).await;
        let read = read.map(|content| content.bytes.len() as u64);
        let too_large = FileSystemError::TooLarge { path: named(path) };
        let expected = if path == "fits" {
            Ok(size)
        } else {
            Err(too_large)
        };
        assert_eq!(read, expected, "{path}");
    }
}

#[tokio::test]
async fn a_directory_is_listed_without_links_and_in_collation_order() {
    let (machine, location) = open().await;
    let _socket = UnixListener::bind(machine.path("project/socket")).unwrap();
    machine.write("project/Zdir/x", "");
    machine.write("project/.git/HEAD", "");
    machine.write("project/B.txt", "");
    let root = [".git/", "src/", "Zdir/", ".hidden", "a.txt", "B.txt"];
    for (path, expected) in [
        ("", &root[..]),
        (".", &root),
        ("src/..", &root),
        ("src", &["src/deep/", "src/main.ts"]),
        ("src/", &["src/deep/", "src/main.ts"]),
        // Listed under its real name.
        ("link", &["src/deep/", "src/main.ts"]),
        ("src/deep", &["src/deep/Main.md"]),
    ] {
        assert_eq!(
            paths(location.list_files(path).await.unwrap()),
            expected,
            "{path}"
        );
    }
}

#[tokio::test]
async fn only_directories_of_the_location_are_listed() {
    let (machine, location) = open().await;
    let absolute = machine.text("project/src");
    for (path, expected) in [
        (
            "..",
            FileSystemError::Escapes as fn(String) -> FileSystemError,
        ),
        ("src/../../outside", FileSystemError::Escapes),
        (&absolute, FileSystemError::Absolute),
        ("/", FileSystemError::Absolute),
        ("out", FileSystemError::Missing),
        ("out/deep", FileSystemError::Missing),
        ("missing", FileSystemError::Missing),
        ("dangling", FileSystemError::Missing),
        ("a.txt", FileSystemError::NotADirectory),
        ("fifo", FileSystemError::NotADirectory),
    ] {
        let told = location.list_files(path).await;
        assert_eq!(told, Err(expected(named(path))), "{path:?}");
    }
}

#[tokio::test]
async fn a_directory_of_a_hundred_thousand_entries_is_accepted_and_a_larger_one_is_not() {
    let (machine, location) = open().await;
    fs::create_dir(machine.path("project/many")).unwrap();
    let many = machine.path("project/many");
    for number in 0..MAX_CHILDREN {
        // Creating hard links is much faster than creating files, but the number of links per file is limited.
        let path = many.join(format!("n{number:05}"));
        match number % 10_000 {
            0 => fs::write(path, "").unwrap(),
            place => fs::hard_link(many.join(format!("n{:05}", number - place)), path).unwrap(),
        }
    }
    let listed = location.list_files("many").await.unwrap();
    assert_eq!(listed.len(), MAX_CHILDREN);
    assert_eq!(
        (&*listed[0].path, &*listed[99_999].path),
        ("many/n00000", "many/n99999")
    );
    let found = location.find_files("n9999", None, Some(3)).await.unwrap();
    assert_eq!(paths(found), ["many/n99990", "many/n99991", "many/n99992"]);
    machine.write("project/many/one more", "");
    let too_many = FileSystemError::TooManyEntries {
        path: named("many"),
    };
    assert_eq!(location.list_files("many").await, Err(too_many));
}

#[tokio::test]
async fn names_with_invalid_utf8_or_line_ends_are_listed_and_found() {
    let (machine, location) = open().await;
    fs::write(
        machine
            .path("project/src")
            .join(OsStr::from_bytes(b"n\xff")),
        "",
    )
    .unwrap();
    machine.write("project/src/n\nl", "");
    let expected = ["src/deep/", "src/main.ts", "src/n\nl", "src/n\u{fffd}"];
    let mut listed = paths(location.list_files("src").await.unwrap());
    listed.sort();
    assert_eq!(listed, expected);
    let found = paths(location.find_files("src/n", None, None).await.unwrap());
    assert_eq!(
        found,
        [
            "src/n\u{fffd}",
            "src/n\nl",
            "src/main.ts",
            "src/deep/Main.md"
        ]
    );
}

#[tokio::test]
async fn paths_that_resemble_a_text_are_found_closest_first() {
    let (machine, location) = open().await;
    git(&machine.path("project"), &["init", "--quiet"]);
    for path in [
        "project/main/x",
        "project/src/domain.ts",
        "project/m/a/i/n",
        "project/ignored/main",
        "project/.ignored/main",
    ] {
        machine.write(path, "");
    }
    machine.write("project/.gitignore", "ignored\n.ignored\n");
    use FileSystemEntryType::{Directory, File};
    let all = [
        "main/",
        "src/main.ts",
        "src/deep/Main.md",
        "src/domain.ts",
        "main/x",
        "m/a/i/n",
    ];
    for (query, kind, limit, expected) in [
        ("main", None, None, &all[..]),
        ("main", None, Some(2), &all[..2]),
        ("main", Some(Directory), None, &all[..1]),
        ("main", Some(File), Some(1), &all[1..2]),
        ("MAIN", None, Some(2), &["main/", "src/main.ts"]),
        (
            "Main",
            None,
            Some(3),
            &["main/", "src/deep/Main.md", "src/main.ts"],
        ),
        (
            "src/main",
            None,
            None,
            &["src/main.ts", "src/domain.ts", "src/deep/Main.md"],
        ),
        (".hid", None, None, &[".hidden"]),
        ("", None, Some(3), &["m/", "m/a/", "src/"]),
        ("secret", None, None, &[]),
        ("HEAD", None, None, &[]),
        ("link", None, None, &[]),
        ("nothing like it", None, None, &[]),
    ] {
        let found = location.find_files(query, kind, limit).await.unwrap();
        assert_eq!(paths(found), expected, "{query} {kind:?} {limit:?}");
    }
}

#[tokio::test]
async fn fifty_paths_are_found_by_default_and_at_most_a_thousand() {
    let (machine, location) = open().await;
    for number in 0..1200 {
        machine.write(&format!("project/many/{number:04}"), "");
    }
    for (limit, expected) in [
        (None, 50),
        (Some(1), 1),
        (Some(1000), 1000),
        (Some(u32::MAX), 1000),
    ] {
        let found = location.find_files("many/", Some(FileSystemEntryType::File), limit);
        assert_eq!(found.await.unwrap().len(), expected, "{limit:?}");
    }
}

#[tokio::test]
async fn an_endless_ignore_file_hides_its_directory_and_blocks_no_thread() {
    let (machine, location) = open().await;
    machine.write("project/held/x-marks", "");
    let held = machine.path("project/held/.gitignore");
    assert!(Command::new("mkfifo").arg(held).status().unwrap().success());
    machine.write("project/zero/x-marks", "");
    symlink("/dev/zero", machine.path("project/zero/.ignore")).unwrap();
    machine.write("project/pointer/x-marks", "");
    machine.write("project/pointer/.git", "gitdir: ../held\n");
    let common = machine.path("project/held/commondir");
    assert!(
        Command::new("mkfifo")
            .arg(common)
            .status()
            .unwrap()
            .success()
    );
    let pointer = format!("gitdir: {}\n", machine.text("project/held"));
    machine.write("project/pointer/.git", pointer);
    machine.write("project/free/x-marks", "");
    let found = location.find_files("x-marks", None, None).await.unwrap();
    assert_eq!(paths(found), ["free/x-marks"]);
}

#[tokio::test]
async fn links_that_are_created_during_a_read_are_not_followed() {
    let (machine, location) = open().await;
    machine.write("project/door/secret.txt", "mine");
    let (door, away) = (machine.path("project/door"), machine.path("project/away"));
    let (lure, outside) = (machine.path("lure"), machine.path("outside"));
    symlink(outside, &lure).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let swapping = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            fs::rename(&door, &away).unwrap();
            fs::rename(&lure, &door).unwrap();
            fs::rename(&door, &lure).unwrap();
            fs::rename(&away, &door).unwrap();
        }
    });
    for _ in 0..2000 {
        if let Ok(content) = location.read_file("door/secret.txt").await {
            assert_eq!(content.bytes, b"mine");
        }
        if let Ok(entries) = location.list_files("door").await {
            assert_eq!(paths(entries), ["door/secret.txt"]);
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}
