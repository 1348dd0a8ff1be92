//! Repositories that Git does not write.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, Instant},
};

use opencode_git::{Hash, ObjectId, Objects, first_root_commit};
use opencode_handles::{OpenDatabase, is_open_database};
use support::{Entry, Folder, Repository, copy, make_fifo, write_pack};

const A: [u8; 20] = [0x11; 20];
const B: [u8; 20] = [0x22; 20];

fn found(repository: &Repository) -> io::Result<Option<ObjectId>> {
    let git_dir = repository.below("");
    first_root_commit(&git_dir, &git_dir, Instant::now() + Duration::from_secs(60))
}

/// Returns the message of the failure.
fn refusal(repository: &Repository) -> String {
    found(repository).unwrap_err().to_string()
}

/// Creates a repository with HEAD at the commit `A`.
fn at_a(folder: &Folder) -> Repository {
    let repository = folder.repository("r");
    fs::write(repository.below("HEAD"), "1".repeat(40)).unwrap();
    repository
}

fn commit(parents: &[&str]) -> Vec<u8> {
    let mut text = format!("tree {}\n", "0".repeat(40));
    for parent in parents {
        text += &format!("parent {parent}\n");
    }
    text.into_bytes()
}

fn with_header(content: &[u8]) -> Vec<u8> {
    let header = format!("commit {}\0", content.len());
    [header.as_bytes(), content].concat()
}

#[test]
fn deltas_that_are_based_on_each_other_are_refused() {
    let folder = Folder::new();
    let repository = at_a(&folder);
    let entries = [Entry::delta(A, B, copy(100)), Entry::delta(B, A, copy(100))];
    repository.write_pack(&entries);
    assert!(refusal(&repository).contains("a chain of deltas is too long"));
    repository.write_pack(&[Entry::delta(A, A, copy(100))]);
    assert!(refusal(&repository).contains("a chain of deltas is too long"));
    repository.write_pack(&[Entry::delta(A, B, copy(100))]);
    assert!(refusal(&repository).contains("the base of a delta is missing"));
}

#[test]
fn a_chain_of_deltas_is_read_up_to_its_limit() {
    let id = |number: u16| {
        let mut id = [0; 20];
        id[..2].copy_from_slice(&number.to_be_bytes());
        ObjectId::from(id)
    };
    let folder = Folder::new();
    let repository = folder.repository("r");
    let content = commit(&[]);
    let bytes = |number| id(number).as_slice().try_into().unwrap();
    let mut entries = vec![Entry::commit(bytes(0), &content)];
    let copy = copy(u8::try_from(content.len()).unwrap());
    entries.extend(
        (1..=4097).map(|number| Entry::delta(bytes(number), bytes(number - 1), copy.clone())),
    );
    repository.write_pack(&entries);
    let objects = Objects::open(&repository.below("objects"), Hash::Sha1).unwrap();
    let read = objects.read(&id(4096), 1000).unwrap().unwrap();
    assert_eq!(read.content, content);
    let error = objects.read(&id(4097), 1000).unwrap_err();
    assert_eq!(error.to_string(), "a chain of deltas is too long");
}

#[test]
fn sizes_are_checked_before_memory_is_allocated() {
    let folder = Folder::new();
    let repository = at_a(&folder);
    let base = commit(&[]);
    let size = u8::try_from(base.len()).unwrap();
    let huge = [size, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x90, size].to_vec();
    let mut lying = Entry::commit(A, &base);
    lying.size = 1 << 40;
    let mut lying_delta = Entry::delta(A, B, copy(size));
    lying_delta.size = 1 << 40;
    for entry in [lying, lying_delta, Entry::delta(A, B, huge)] {
        repository.write_pack(&[entry, Entry::commit(B, &base)]);
        found(&repository).unwrap_err();
    }
    repository.write_pack(&[]);
    repository.write_loose(
        &"1".repeat(40),
        format!("commit {}\0", 1u64 << 40).as_bytes(),
    );
    assert!(refusal(&repository).contains("larger than 1048576 bytes"));
}

#[test]
fn a_commit_that_is_damaged_or_missing_is_reported() {
    let folder = Folder::new();
    let repository = at_a(&folder);
    assert!(refusal(&repository).contains("it is missing"));
    let mut large = commit(&[]);
    large.resize(2 * 1024 * 1024, b'\n');
    let sha256 = "3".repeat(64);
    for object in [
        with_header(&large),
        with_header(b""),
        with_header(b"author x"),
        with_header(&commit(&["zz"])),
        with_header(&commit(&[&sha256])),
        with_header(&commit(&["0000000000000000000000000000000000000000"])),
        b"commit 3\0tree x".to_vec(),
        b"commit 300\0tree x".to_vec(),
        b"commit -1\0".to_vec(),
        b"blob 0\0".to_vec(),
        b"thing 0\0".to_vec(),
        vec![b'x'; 100],
        Vec::new(),
    ] {
        repository.write_loose(&"1".repeat(40), &object);
        found(&repository).unwrap_err();
    }
    fs::write(repository.loose(&"1".repeat(40)), "no zlib").unwrap();
    found(&repository).unwrap_err();
}

#[test]
fn commits_that_descend_from_each_other_have_no_root() {
    let folder = Folder::new();
    let repository = at_a(&folder);
    let (a, b) = ("1".repeat(40), "2".repeat(40));
    repository.write_loose(&a, &with_header(&commit(&[&b, &a])));
    repository.write_loose(&b, &with_header(&commit(&[&a])));
    assert_eq!(found(&repository).unwrap(), None);
}

#[test]
fn a_file_that_is_no_pack_or_index_is_refused() {
    let folder = Folder::new();
    let repository = at_a(&folder);
    let entries = [Entry::commit(A, &commit(&[]))];
    repository.write_pack(&entries);
    assert!(found(&repository).unwrap().is_some());
    for end in ["idx", "pack"] {
        let name = format!("objects/pack/pack-{}.{end}", "1".repeat(40));
        let whole = fs::read(repository.below(&name)).unwrap();
        for length in 0..whole.len() {
            fs::write(repository.below(&name), &whole[..length]).unwrap();
            // The checksum at the end of a pack is not needed to read it.
            if length < whole.len() - 20 {
                found(&repository).unwrap_err();
            }
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0xff;
            fs::write(repository.below(&name), changed).unwrap();
            // Some changes are harmless. None ends the process.
            let _ = found(&repository);
        }
        fs::write(repository.below(&name), whole).unwrap();
    }
}

#[test]
fn references_end() {
    let folder = Folder::new();
    let repository = folder.repository("r");
    let first = repository.commit("one");
    let head = |text: &str| fs::write(repository.below("HEAD"), text).unwrap();
    let link = |name: &str, to: &str| fs::write(repository.below(name), to).unwrap();
    link("refs/heads/a", "ref: refs/heads/main\n");
    head("ref: refs/heads/a");
    assert_eq!(found(&repository).unwrap().unwrap().to_string(), first);
    link("refs/heads/a", "ref: refs/heads/a\n");
    assert_eq!(
        refusal(&repository),
        "too many references refer to each other"
    );
    for name in [
        "refs/../../r/.git/refs/heads/main",
        "/etc/passwd",
        "config",
        "refs//../../x",
        "",
    ] {
        head(&format!("ref: {name}\n"));
        assert_eq!(
            refusal(&repository),
            "a reference has an invalid name",
            "{name}"
        );
    }
    for text in ["", "\n", "zz", "ref", &"x".repeat(10_000), &"1".repeat(39)] {
        head(text);
        found(&repository).unwrap_err();
    }
}

#[test]
fn neither_a_fifo_nor_a_device_nor_a_directory_is_read() {
    let names = [
        "HEAD",
        "refs/heads/main",
        "packed-refs",
        "shallow",
        "objects/info/alternates",
    ];
    let replacements: [fn(&Path); 3] = [
        make_fifo,
        |path| {
            let _ = fs::remove_file(path);
            symlink("/dev/zero", path).unwrap();
        },
        |path| {
            let _ = fs::remove_file(path);
            fs::create_dir_all(path.join("below")).unwrap();
        },
    ];
    for name in names {
        for (number, replace) in replacements.iter().enumerate() {
            let folder = Folder::new();
            let repository = folder.repository("r");
            repository.commit("one");
            if name == "packed-refs" {
                repository.git(&["pack-refs", "--all"]);
            }
            replace(&repository.below(name));
            let found = found(&repository);
            // A directory with the name of a branch means that the branch has no commit.
            let is_branch = number == 2 && name == "refs/heads/main";
            assert!(found.is_err() || is_branch, "{name} {number}");
        }
    }
    for packed in [false, true] {
        let folder = Folder::new();
        let repository = folder.repository("r");
        let first = repository.commit("one");
        if packed {
            repository.git(&["gc", "--quiet"]);
            for entry in fs::read_dir(repository.below("objects/pack")).unwrap() {
                make_fifo(&entry.unwrap().path());
            }
        } else {
            make_fifo(&repository.loose(&first));
        }
        assert!(refusal(&repository).contains(&first), "{packed}");
    }
}

#[test]
fn no_file_of_an_open_database_is_opened() {
    let folder = Folder::new();
    let repository = at_a(&folder);
    let pack = format!("objects/pack/pack-{}", "1".repeat(40));
    write_pack(
        &repository.below("objects/pack"),
        &[Entry::commit(A, &commit(&[]))],
    );
    found(&repository).unwrap();
    for name in [
        format!("{pack}.idx"),
        format!("{pack}.pack"),
        "HEAD".to_owned(),
    ] {
        let path = repository.below(&name);
        let _open = OpenDatabase::register(&path).unwrap().unwrap();
        let error = found(&repository).unwrap_err();
        assert!(
            name != "HEAD" || is_open_database(&error),
            "{name}: {error}"
        );
    }
    found(&repository).unwrap();
}

#[test]
fn a_walk_ends_at_its_deadline() {
    let folder = Folder::new();
    let repository = folder.repository("r");
    repository.commit("one");
    let git_dir = repository.below("");
    let error = first_root_commit(&git_dir, &git_dir, Instant::now()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}
