//! Existing files that cannot be read, for each kind.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::{Seen, Site, texts};

/// Creates an unreadable file at a path, with the expected reason.
type PathSetup = (fn(&Path), &'static str);

const OBSTACLES: [PathSetup; 5] = [
    (
        |path| fs::create_dir(path).unwrap(),
        "it is not a regular file",
    ),
    (
        |path| symlink(path.file_name().unwrap(), path).unwrap(),
        "Too many levels of symbolic links (os error 40)",
    ),
    (
        |path| fs::write(path, vec![b'a'; 10_000_000]).unwrap(),
        "it is larger than 1048576 bytes",
    ),
    (
        |path| fs::write(path, b"caf\xe9").unwrap(),
        "it is not UTF-8 text",
    ),
    (
        |path| drop(UnixListener::bind(path).unwrap()),
        "it is not a regular file",
    ),
];

/// Replaces a readable file with each obstacle in turn.
fn swapped(site: &Site, file: &str, kind: impl Fn(Seen) -> Vec<String>) {
    let path = site.machine.path(file);
    for (obstruct, reason) in OBSTACLES {
        site.write(file, "rules");
        assert_eq!(kind(site.seen()), [format!("{file}: rules")]);
        fs::remove_file(&path).unwrap();
        obstruct(&path);
        let told = format!("the instructions in {file} cannot be read: {reason}");
        assert_eq!(kind(site.seen()), [told]);
        if path.is_dir() {
            fs::remove_dir(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn general_files() {
    swapped(&Site::new(), "config/AGENTS.md", |seen| seen.general);
    swapped(&Site::new(), "project/a/AGENTS.md", |seen| seen.general);
}

#[test]
fn configured_files() {
    let site = Site::new().ask("project", &["rules.md"]);
    swapped(&site, "project/rules.md", |seen| seen.configured);
}

#[test]
fn nearby_files() {
    let site = Site::new().read_in(&["project/a/b/c"]);
    swapped(&site, "project/a/b/c/AGENTS.md", |seen| seen.nearby);
}

/// Patterns do not match directories.
#[test]
fn files_of_a_pattern() {
    let site = Site::new().ask("project", &["docs/*.md"]);
    site.write("project/docs/a.md", "a");
    for (obstruct, reason) in &OBSTACLES[1..] {
        let path = site.machine.path("project/docs/b.md");
        obstruct(&path);
        let told = format!("the instructions in project/docs/b.md cannot be read: {reason}");
        assert_eq!(site.seen().configured, [told]);
        fs::remove_file(&path).unwrap();
    }
    site.machine.directory("project/docs/b.md");
    assert_eq!(site.seen().configured, texts(["project/docs/a.md: a"]));
}

#[test]
fn an_unreadable_kind_does_not_affect_the_others() {
    let site = Site::new()
        .ask("project", &["rules.md"])
        .read_in(&["project/a/b/c"]);
    site.write("project/AGENTS.md", b"caf\xe9")
        .write("project/a/AGENTS.md", "above")
        .write("project/rules.md", "rules")
        .write("project/a/b/c/AGENTS.md", "nearby");
    let expected = Seen {
        general: texts([
            "the instructions in project/AGENTS.md cannot be read: it is not UTF-8 text",
        ]),
        configured: texts(["project/rules.md: rules"]),
        nearby: texts(["project/a/b/c/AGENTS.md: nearby"]),
    };
    assert_eq!(site.seen(), expected);
}

/// Otherwise a file would be listed again under another kind because a different file cannot be read.
#[test]
fn an_unreadable_kind_still_covers_its_files() {
    let site = Site::new()
        .ask("project", &["AGENTS.md", "a/AGENTS.md", "rules.md"])
        .read_in(&["project/a/b/c"]);
    site.write("project/AGENTS.md", "rules");
    let link = site.machine.path("project/a/AGENTS.md");
    symlink("AGENTS.md", &link).unwrap();
    let loop_of = |file: &str| {
        format!(
            "the instructions in {file} cannot be read: Too many levels of symbolic links (os error 40)"
        )
    };
    let expected = Seen {
        general: vec![loop_of("project/a/AGENTS.md")],
        configured: vec![loop_of("project/a/AGENTS.md")],
        nearby: texts([]),
    };
    assert_eq!(site.seen(), expected);
    site.write("project/rules.md", "rules");
    fs::remove_file(&link).unwrap();
    fs::create_dir(&link).unwrap();
    let expected = Seen {
        general: texts([
            "the instructions in project/a/AGENTS.md cannot be read: it is not a regular file",
        ]),
        configured: texts(["project/rules.md: rules"]),
        nearby: texts([]),
    };
    assert_eq!(site.seen(), expected);
}

#[test]
fn the_total_size_of_a_kind_is_bounded() {
    let site = Site::new();
    site.write("project/a/AGENTS.md", vec![b'a'; 1024 * 1024]);
    assert_eq!(site.seen().general.len(), 1);
    site.write("project/AGENTS.md", "b");
    assert_eq!(
        site.seen().general,
        texts([
            "the instructions in project/AGENTS.md cannot be read: with it they would have more than 1048576 bytes"
        ])
    );
}

#[test]
fn a_removed_directory_cannot_be_observed() {
    let site = Site::new().read_in(&["project/a/b/c"]);
    site.write("config/AGENTS.md", "of the user");
    fs::remove_dir(site.machine.path("project/a/b")).unwrap();
    let gone =
        "the instructions in project/a/b cannot be read: No such file or directory (os error 2)";
    let expected = Seen {
        general: texts([gone]),
        configured: texts([]),
        nearby: texts([gone]),
    };
    assert_eq!(site.seen(), expected);
}
