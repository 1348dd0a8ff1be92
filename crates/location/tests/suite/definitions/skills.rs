//! Skills, which always reflect the current state of the disk.

use std::fs::{self, File, FileTimes};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opencode_location::definitions::skills::{Skills, available};
use opencode_schema::permission::Ruleset;
use opencode_schema::permission::{PermissionEffect, PermissionRule};
use opencode_schema::skill::SkillInfo;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{define, defined, nothing};
use crate::machine::Machine;

fn file(name: &str, description: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n{text}")
}

/// The public view of the skills, without the root of the machine.
async fn shown(machine: &Machine, skills: &Skills) -> Value {
    let text = json!(skills.observe().await).to_string();
    serde_json::from_str(&text.replace(&machine.text(""), "~/")).unwrap()
}

async fn names(skills: &Skills) -> Vec<String> {
    let skills = skills.observe().await;
    skills.iter().map(|it| it.name.clone()).collect()
}

/// The diagnostics of the skills, without the root of the machine.
fn diagnostics_of(machine: &Machine, skills: &Skills) -> Vec<String> {
    let said = skills.diagnostics();
    let text = |it: &opencode_location::config::Diagnostic| it.to_string();
    said.iter()
        .map(|it| text(it).replace(&machine.text(""), ""))
        .collect()
}

#[tokio::test]
async fn without_files_there_are_no_skills() {
    let machine = Machine::new();
    let skills = defined(&machine, nothing()).skills;
    assert_eq!(shown(&machine, &skills).await, json!([]));
}

#[tokio::test]
async fn skills_are_found_in_their_sources_in_order() {
    let machine = Machine::new();
    machine.write(
        "config/skills/one/SKILL.md",
        file("one", "First.", "Do one.\n"),
    );
    machine.write(
        "config/skill/zero/SKILL.md",
        file("zero", "Zero.", "Do zero.\n"),
    );
    machine.write(
        "project/.opencode/skill/.hidden/deep/SKILL.md",
        file("two", "T.", "\nTwo\n"),
    );
    machine.write(
        "project/.opencode/skill/three.md",
        "---\nslash: true\n---\nThree",
    );
    machine.write("project/.opencode/skill/notes/other.md", "no skill");
    machine.write(
        "home/own/four/SKILL.md",
        file("four", "|\n  F\n  4", "Four"),
    );
    machine.write("project/local/five.md", "Five");
    machine.write("elsewhere/six.md", file("named six", "Six.", "Six"));
    machine.write(
        "config/opencode.json",
        json!({"skills": ["~/own", "./local/"]}).to_string(),
    );
    let host = json!({"skills": {"paths": [machine.text("elsewhere")], "urls": []}});
    let skills = defined(&machine, host).skills;
    assert_eq!(
        shown(&machine, &skills).await,
        json!([
            {
                "name": "zero", "description": "Zero.", "content": "Do zero.\n",
                "location": "~/config/skill/zero/SKILL.md",
            },
            {
                "name": "one", "description": "First.", "content": "Do one.\n",
                "location": "~/config/skills/one/SKILL.md",
            },
            {
                "name": "two", "description": "T.", "content": "\nTwo\n",
                "location": "~/project/.opencode/skill/.hidden/deep/SKILL.md",
            },
            {
                "name": "three", "slash": true, "content": "Three",
                "location": "~/project/.opencode/skill/three.md",
            },
            {
                "name": "four", "description": "F\n4", "content": "Four",
                "location": "~/home/own/four/SKILL.md",
            },
            {"name": "five", "content": "Five", "location": "~/project/local/five.md"},
            {
                "name": "named six", "description": "Six.", "content": "Six",
                "location": "~/elsewhere/six.md",
            },
        ])
    );
}

#[tokio::test]
async fn the_last_skill_of_a_name_keeps_the_position_of_the_first() {
    let machine = Machine::new();
    machine.write("config/skill/a.md", "global");
    machine.write("config/skill/b.md", "global");
    machine.write(
        "project/.opencode/skills/x/SKILL.md",
        file("a", "d", "project"),
    );
    let skills = defined(&machine, nothing()).skills;
    let observed = skills.observe().await;
    let found: Vec<_> = observed
        .iter()
        .map(|it| (&*it.name, &*it.content))
        .collect();
    assert_eq!(found, [("a", "project"), ("b", "global")]);
}

#[tokio::test]
async fn invalid_skills_are_reported() {
    let machine = Machine::new();
    let skill = "config/skill";
    machine.write(&format!("{skill}/nameless/SKILL.md"), "text");
    machine.write(&format!("{skill}/empty.md"), "\n");
    machine.write(&format!("{skill}/list.md"), "---\nname: [a]\n---\ntext");
    machine.write(
        &format!("{skill}/lines.md"),
        "---\nname: \"a\\nb\"\n---\ntext",
    );
    machine.write(&format!("{skill}/slash.md"), "---\nslash: 1\n---\ntext");
    machine.write(
        &format!("{skill}/long.md"),
        file("long", &"x".repeat(10_001), ""),
    );
    machine.write(&format!("{skill}/open.md"), "---\nname: x\ntext");
    machine.write(
        &format!("{skill}/bare.md"),
        "---\nname: bare\ndescription: ''\n---\n",
    );
    let host = json!({"skills": ["missing", "https://example.com/skills", "", "~/file"]});
    machine.write("home/file", "");
    let (definitions, said) = define(&machine, host);
    let left_out = "this value is left out";
    assert_eq!(
        said,
        [
            "the host's config option: This place of skills has no effect: it is empty or has a control character".to_owned(),
            "config/skill/empty.md: The file is empty, so it is no skill".to_owned(),
            format!("config/skill/lines.md:2:1: name must be a text without control characters; {left_out}"),
            format!("config/skill/list.md:2:1: name must be a string, found an array; {left_out}"),
            format!("config/skill/long.md:3:1: description must have at most 10000 characters; {left_out}"),
            "config/skill/nameless/SKILL.md: The skill has no name; give it one in the front matter".to_owned(),
            "config/skill/open.md:1:1: The front matter has no end; put a line `---` below it; everything counts as the text".to_owned(),
            format!("config/skill/slash.md:2:1: slash must be true or false, found a number; {left_out}"),
            "project/missing: There is no such directory of skills; it is named by the host's config option".to_owned(),
            "home/file: It is left out of what defines agents, commands and skills: Not a directory (os error 20)".to_owned(),
        ]
    );
    let observed = definitions.skills.observe().await;
    let found: Vec<_> = observed
        .iter()
        .map(|it| (&*it.name, &it.description))
        .collect();
    let names = ["bare", "lines", "list", "long", "open", "slash"];
    assert_eq!(found, names.map(|name| (name, &None)));
}

#[tokio::test]
async fn changes_of_files_are_visible_at_the_next_observation() {
    let machine = Machine::new();
    machine.write("config/skill/a.md", "one");
    let skills = defined(&machine, nothing()).skills;
    assert_eq!(names(&skills).await, ["a"]);

    machine.write("config/skills/new/SKILL.md", file("b", "d", "two"));
    assert_eq!(names(&skills).await, ["a", "b"]);

    machine.write("config/skill/a.md", "one, changed");
    assert_eq!(skills.observe().await[0].content, "one, changed");

    machine.write("config/skill/a.md", "---\nname: [x]\n---\n");
    assert_eq!(names(&skills).await, ["a", "b"]);
    assert_eq!(
        diagnostics_of(&machine, &skills),
        ["config/skill/a.md:2:1: name must be a string, found an array; this value is left out"]
    );

    fs::remove_file(machine.path("config/skill/a.md")).unwrap();
    assert_eq!(names(&skills).await, ["b"]);
    assert_eq!(diagnostics_of(&machine, &skills), Vec::<String>::new());

    fs::rename(
        machine.path("config/skills/new"),
        machine.path("config/skills/other"),
    )
    .unwrap();
    let moved = skills.observe().await;
    assert!(moved[0].location.ends_with("skills/other/SKILL.md"));

    fs::remove_dir_all(machine.path("config/skills")).unwrap();
    assert_eq!(names(&skills).await, Vec::<String>::new());
}

#[tokio::test]
async fn unchanged_files_are_not_read_again() {
    let machine = Machine::new();
    machine.write("config/skill/a.md", "one");
    let skills = defined(&machine, nothing()).skills;
    let before = skills.observe().await;
    assert!(Arc::ptr_eq(&before, &skills.observe().await));

    let path = machine.path("config/skill/a.md");
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    let set = |time: SystemTime| {
        let file = File::options().write(true).open(&path).unwrap();
        file.set_times(FileTimes::new().set_modified(time)).unwrap();
    };
    machine.write("config/skill/a.md", "two");
    set(written);
    assert!(Arc::ptr_eq(&before, &skills.observe().await));

    set(written + Duration::from_secs(1));
    assert_eq!(skills.observe().await[0].content, "two");
    machine.write("config/skill/a.md", "three");
    set(written + Duration::from_secs(1));
    assert_eq!(skills.observe().await[0].content, "three");
}

#[tokio::test]
async fn a_directory_is_listed_again_if_its_time_has_changed() {
    let machine = Machine::new();
    machine.write("config/skill/one/SKILL.md", file("one", "d", "text"));
    let skills = defined(&machine, nothing()).skills;
    let set = |time: SystemTime| {
        let directory = File::open(machine.path("config/skill")).unwrap();
        directory
            .set_times(FileTimes::new().set_modified(time))
            .unwrap();
    };
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    set(long_ago);
    assert_eq!(names(&skills).await, ["one"]);

    // The same time as before the file was added.
    machine.write("config/skill/two/SKILL.md", file("two", "d", "text"));
    set(long_ago);
    assert_eq!(names(&skills).await, ["one"]);

    set(long_ago + Duration::from_nanos(1_000));
    assert_eq!(names(&skills).await, ["one", "two"]);

    // A very recent time is not conclusive: the next change might have the same time.
    for name in ["three", "four", "five"] {
        let now = SystemTime::now();
        set(now);
        assert!(!names(&skills).await.contains(&name.to_owned()));
        machine.write(&format!("config/skill/{name}.md"), "text");
        set(now);
        assert!(names(&skills).await.contains(&name.to_owned()));
    }
}

/// A change in the directories of skills.
#[derive(Debug, Clone)]
enum Change {
    Write { place: usize, name: usize },
    Remove { place: usize },
    Move { from: usize, to: usize },
}

/// Paths of skills. Some of them exclude each other.
const PLACES: [&str; 6] = [
    "config/skill/a.md",
    "config/skill/b/SKILL.md",
    "config/skill/b/c/SKILL.md",
    "config/skills/a.md",
    "config/skills/a.md/SKILL.md",
    "project/.opencode/skill/d/SKILL.md",
];

fn change() -> impl Strategy<Value = Change> {
    let place = || 0..PLACES.len();
    prop_oneof![
        3 => (place(), 0..3_usize).prop_map(|(place, name)| Change::Write { place, name }),
        1 => place().prop_map(|place| Change::Remove { place }),
        1 => (place(), place()).prop_map(|(from, to)| Change::Move { from, to }),
    ]
}

/// Applies a change if possible.
fn make(machine: &Machine, change: &Change, step: usize) {
    let path = |place: usize| machine.path(PLACES[place]);
    match change {
        Change::Write { place, name } => {
            let path = path(*place);
            // Each text has a different length, so that versions with the same time differ in size.
            let text = file(["x", "y", "[]"][*name], "d", &"t".repeat(4 * step));
            if fs::create_dir_all(path.parent().unwrap()).is_ok() {
                let _ = fs::write(path, text);
            }
        }
        Change::Remove { place } => {
            let path = path(*place);
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
        Change::Move { from, to } => {
            let _ = fs::rename(path(*from), path(*to));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_cache_does_not_change_the_result(changes in prop::collection::vec(change(), 1..12)) {
        let machine = Machine::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let kept = define(&machine, nothing()).0.skills;
        for (step, change) in changes.iter().enumerate() {
            make(&machine, change, step);
            let fresh = define(&machine, nothing()).0.skills;
            let [kept_skills, fresh_skills] =
                [&kept, &fresh].map(|it| runtime.block_on(it.observe()));
            prop_assert_eq!(kept_skills, fresh_skills);
            prop_assert_eq!(kept.diagnostics(), fresh.diagnostics());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_observations_return_the_same() {
    let machine = Machine::new();
    for number in 0..20 {
        machine.write(&format!("config/skill/s{number:02}.md"), "text");
    }
    let skills = Arc::new(defined(&machine, nothing()).skills);
    let lookers: Vec<_> = (0..32)
        .map(|_| {
            let skills = Arc::clone(&skills);
            tokio::spawn(async move { skills.observe().await })
        })
        .collect();
    let first = skills.observe().await;
    assert_eq!(first.len(), 20);
    for looker in lookers {
        assert!(Arc::ptr_eq(&first, &looker.await.unwrap()));
    }
}

#[test]
fn an_agent_has_all_skills_that_are_not_denied() {
    let skill = |name: &str| SkillInfo {
        name: name.to_owned(),
        description: None,
        slash: None,
        location: String::new(),
        content: String::new(),
    };
    let rule = |action: &str, resource: &str, effect| PermissionRule {
        action: action.to_owned(),
        resource: resource.to_owned(),
        effect,
    };
    use PermissionEffect::{Allow, Ask, Deny};
    let skills = ["git-a", "git-b", "other"].map(skill);
    for (rules, expected) in [
        (vec![], vec!["git-a", "git-b", "other"]),
        (vec![rule("*", "*", Deny)], vec![]),
        (vec![rule("skill", "git-*", Deny)], vec!["other"]),
        (
            vec![rule("*", "*", Deny), rule("skill", "git-*", Ask)],
            vec!["git-a", "git-b"],
        ),
        (
            vec![rule("skill", "*", Deny), rule("skill", "other", Allow)],
            vec!["other"],
        ),
        (
            vec![rule("read", "*", Deny)],
            vec!["git-a", "git-b", "other"],
        ),
    ] {
        let found: Vec<_> = available(&skills, &Ruleset::of(&rules))
            .iter()
            .map(|it| &*it.name)
            .collect();
        assert_eq!(found, expected, "{rules:?}");
    }
}
