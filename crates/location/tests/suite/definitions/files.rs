//! Files with unverified content in folders of definitions.

#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use opencode_location::definitions::Definitions;

use super::{define, nothing};
use crate::machine::Machine;

/// Folders of each kind of definition.
const FOLDERS: [&str; 3] = ["agent", "command", "skill"];

async fn found(definitions: &Definitions) -> [Vec<String>; 3] {
    let agents = definitions.agents.list()[6..].iter();
    let commands = definitions.commands.list()[2..].iter();
    let skills = definitions.skills.observe().await;
    [
        agents.map(|it| it.id.clone()).collect(),
        commands.map(|it| it.name.clone()).collect(),
        skills.iter().map(|it| it.name.clone()).collect(),
    ]
}

/// The given lines for each folder.
fn each(lines: &[&str]) -> Vec<String> {
    let of = |folder| lines.iter().map(move |line| line.replace("{}", folder));
    FOLDERS.into_iter().flat_map(of).collect()
}

#[tokio::test]
async fn an_unreadable_file_is_reported_and_does_not_affect_others() {
    let machine = Machine::new();
    let large = vec![b'x'; 10 * 1024 * 1024];
    for folder in FOLDERS {
        let at = |name: &str| format!("config/{folder}/{name}");
        machine.write(&at("good.md"), "text");
        machine.write(&at("large.md"), &large);
        machine.write(&at("limit.md"), &large[..1024 * 1024]);
        machine.write(&at("bytes.md"), b"a\n\xff");
        machine.write(&at("line\nend.md"), "text");
        machine.directory(&at("directory.md"));
        let fifo = machine.path(&at("pipe.md"));
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        symlink("nowhere", machine.path(&at("dangling.md"))).unwrap();
        symlink("/dev/zero", machine.path(&at("endless.md"))).unwrap();
        symlink("itself.md", machine.path(&at("itself.md"))).unwrap();
        let odd = OsStr::from_bytes(b"\xff.md");
        fs::write(machine.path(&format!("config/{folder}")).join(odd), "").unwrap();
    }
    let (definitions, said) = define(&machine, nothing());
    let unsearched = "It is left out of what defines agents, commands and skills";
    assert_eq!(
        said,
        each(&[
            &format!("config/{{}}/line\\nend.md: {unsearched}: its name has a control character"),
            &format!("config/{{}}/\u{fffd}.md: {unsearched}: its name is not Unicode"),
            "config/{}/bytes.md:2:1: The text is not UTF-8; the whole file is left out",
            "config/{}/dangling.md: The file cannot be read: it is a link to nothing",
            "config/{}/endless.md: The file cannot be read: it is not a regular file",
            "config/{}/itself.md: The file cannot be read: Too many levels of symbolic links (os error 40)",
            "config/{}/large.md: The file cannot be read: it is larger than 1048576 bytes",
            "config/{}/pipe.md: The file cannot be read: it is not a regular file",
        ])
    );
    let expected = || vec!["good".to_owned(), "limit".to_owned()];
    assert_eq!(found(&definitions).await, [(); 3].map(|()| expected()));
}

#[tokio::test]
async fn circular_links_end() {
    let machine = Machine::new();
    for folder in FOLDERS {
        let at = |name: &str| format!("config/{folder}/{name}");
        machine.write(&at("a/b/SKILL.md"), "---\nname: x\n---\ntext");
        symlink("../..", machine.path(&at("a/b/up"))).unwrap();
        symlink(".", machine.path(&at("here"))).unwrap();
        symlink("a", machine.path(&at("again"))).unwrap();
        symlink(machine.path("config"), machine.path(&at("everything"))).unwrap();
    }
    let (definitions, said) = define(&machine, nothing());
    assert_eq!(said, Vec::<String>::new());
    // Each folder leads to the others through `everything`.
    let others = |own: &str| {
        let mut names = vec!["a/b/SKILL".to_owned()];
        let rest = FOLDERS.iter().filter(|it| **it != own);
        names.extend(rest.map(|it| format!("everything/{it}/a/b/SKILL")));
        names
    };
    assert_eq!(
        found(&definitions).await,
        [others("agent"), others("command"), vec!["x".to_owned()]]
    );
}

#[tokio::test]
async fn a_folder_of_another_kind_is_reported() {
    let machine = Machine::new();
    for folder in FOLDERS {
        machine.write(&format!("config/{folder}"), "a file");
        symlink("nowhere", machine.path(&format!("config/{folder}s"))).unwrap();
        symlink("mode", machine.path("config/mode")).unwrap_or_default();
    }
    let (definitions, said) = define(&machine, nothing());
    let unsearched = "It is left out of what defines agents, commands and skills";
    assert_eq!(
        said,
        [
            format!("config/agent: {unsearched}: Not a directory (os error 20)"),
            format!("config/mode: {unsearched}: Too many levels of symbolic links (os error 40)"),
            format!("config/command: {unsearched}: Not a directory (os error 20)"),
            format!("config/skill: {unsearched}: Not a directory (os error 20)"),
        ]
    );
    assert_eq!(
        found(&definitions).await,
        [(); 3].map(|()| Vec::<String>::new())
    );
}

#[tokio::test]
async fn files_beyond_the_limits_are_reported_and_the_others_are_read() {
    let machine = Machine::new();
    for folder in FOLDERS {
        let deep = "d/".repeat(20);
        machine.write(&format!("config/{folder}/{deep}SKILL.md"), "text");
        machine.write(&format!("config/{folder}/a.md"), "text");
    }
    for number in 0..1_100 {
        machine.write(&format!("project/.opencode/skill/s{number:04}.md"), "text");
    }
    let (definitions, said) = define(&machine, nothing());
    let deep = "d/".repeat(17);
    let deep = deep.trim_end_matches('/');
    let unsearched = "It is left out of what defines agents, commands and skills";
    let reason = "it lies more than 16 directories deep";
    let mut expected = each(&[&format!("config/{{}}/{deep}: {unsearched}: {reason}")]);
    expected.push(format!(
        "project/.opencode/skill/s0999.md: {unsearched}: it and what follows, because there are more files of definitions than a Location reads"
    ));
    assert_eq!(said, expected);
    let [agents, commands, skills] = found(&definitions).await;
    assert_eq!(
        (agents, commands),
        (vec!["a".to_owned()], vec!["a".to_owned()])
    );
    assert_eq!(skills.len(), 1_000);
    assert_eq!(skills[..2], ["a", "s0000"]);
}

#[tokio::test]
async fn a_file_that_becomes_a_directory_and_back_is_followed() {
    let machine = Machine::new();
    machine.write("config/skill/a.md", "text");
    let (definitions, _) = define(&machine, nothing());
    let path = machine.path("config/skill/a.md");
    fs::remove_file(&path).unwrap();
    machine.write("config/skill/a.md/SKILL.md", "---\nname: inner\n---\n");
    assert_eq!(found(&definitions).await[2], ["inner"]);
    fs::remove_dir_all(&path).unwrap();
    machine.write("config/skill/a.md", "text");
    assert_eq!(found(&definitions).await[2], ["a"]);
}

#[tokio::test]
async fn an_unreadable_file_is_read_again() {
    let machine = Machine::new();
    machine.directory("config/skill");
    symlink("../later", machine.path("config/skill/a.md")).unwrap();
    let (definitions, said) = define(&machine, nothing());
    assert_eq!(
        said,
        ["config/skill/a.md: The file cannot be read: it is a link to nothing"]
    );
    machine.write("config/later", "text");
    assert_eq!(found(&definitions).await[2], ["a"]);
    assert_eq!(*definitions.skills.diagnostics(), []);
}
