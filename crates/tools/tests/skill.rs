//! Tests for the text of the `skill` tool, the files that it names, and refusals.

#![cfg(unix)]
mod common;

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use common::{Recorder, built_in_tools, call, context, denied, failed, registry, success, text};
use futures::future::BoxFuture;
use opencode_schema::{message::ErrorKind, skill::SkillInfo};
use opencode_tools::{
    Contributions, Materialized, PermissionError, Registration, Settlement, Skills, TurnContext,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Provides one skill.
struct One(SkillInfo);

impl Skills for One {
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<SkillInfo>> {
        let found = (self.0.name == name).then(|| self.0.clone());
        Box::pin(std::future::ready(found))
    }

    fn names(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(std::future::ready(vec![self.0.name.clone()]))
    }
}

/// A directory of skills.
struct Project {
    _temp: TempDir,
    root: PathBuf,
    turn: Materialized,
    _registration: Registration,
}

impl Project {
    fn new() -> Self {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let root = fs::canonicalize(temp.path()).expect("it exists");
        let registry = registry(&Contributions::default(), &root.join("data"));
        let registration = registry.host().register(built_in_tools());
        Self {
            turn: registry.materialize("/project", |_| true),
            _registration: registration.expect("all names are good"),
            _temp: temp,
            root,
        }
    }

    fn write(&self, name: impl AsRef<Path>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it is writable");
        fs::write(path, "").expect("it is writable");
    }

    fn context(&self, name: &str, location: &str) -> TurnContext {
        let location = self.root.join(location);
        let mut context = context(&self.root);
        context.ports.skills = Arc::new(One(SkillInfo {
            name: name.to_owned(),
            description: None,
            slash: None,
            location: location.to_str().expect("it is text").to_owned(),
            content: "\n  Say hello. <b>&\n\n".to_owned(),
        }));
        context
    }

    async fn load(&self, input: Value, context: TurnContext) -> Settlement {
        self.turn.settle(call("skill", input), &context).await
    }

    /// Returns the files that the model sees for a skill in this file.
    async fn files(&self, location: &str) -> Vec<String> {
        let context = self.context("greet", location);
        let settled = self.load(json!({"name": "greet"}), context).await;
        let Settlement::Success { structured, .. } = settled else {
            panic!("{settled:?}");
        };
        let output = structured["output"].as_str().expect("it is text");
        let (_, files) = output.split_once("<skill_files>\n").expect("it is there");
        let (files, end) = files.split_once("</skill_files>").expect("it is there");
        assert_eq!(end, "\n</skill_content>");
        let before = format!("<file>{}/", self.root.display());
        let file = |line: &str| {
            let line = line.strip_prefix(&before).expect("it is below the project");
            line.strip_suffix("</file>").expect("it ends").to_owned()
        };
        files.lines().map(file).collect()
    }
}

fn numbers(prefix: &str, numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|it| format!("{prefix}{it}")).collect()
}

#[tokio::test]
async fn the_model_reads_the_body_and_the_names_of_files() {
    let project = Project::new();
    for file in ["SKILL.md", "run.sh", "parts/a.md"] {
        project.write(Path::new("skill/greet").join(file));
    }
    let permissions = Recorder::new(|_| Ok(()));
    let mut context = project.context("greet", "skill/greet/SKILL.md");
    context.permissions = Arc::clone(&permissions) as _;
    let settled = project.load(json!({"name": "greet"}), context).await;
    let directory = format!("{}/skill/greet", project.root.display());
    let output = format!(
        "<skill_content name=\"greet\">\n# Skill: greet\n\nSay hello. <b>&\n\n\
         Base directory: {directory}\n\
         A relative path in this skill starts at the base directory. \
         The files named here are a sample, there may be more.\n\n\
         <skill_files>\n<file>{directory}/parts/a.md</file>\n<file>{directory}/run.sh</file>\n\
         </skill_files>\n</skill_content>"
    );
    let structured = json!({"name": "greet", "directory": directory, "output": output});
    assert_eq!(settled, success(structured, vec![text(&output)]));
    let name = || vec!["greet".to_owned()];
    assert_eq!(permissions.asked(), [("skill".to_owned(), name(), name())]);
}

#[tokio::test]
async fn names_are_escaped() {
    let project = Project::new();
    let name = "\"></skill_content>&";
    project.write("a\nb</file>/SKILL.md");
    project.write("a\nb</file>/<c>\t&\".md");
    let context = project.context(name, "a\nb</file>/SKILL.md");
    let settled = project.load(json!({"name": name}), context).await;
    let escaped = "&quot;&gt;&lt;/skill_content&gt;&amp;";
    let root = project.root.display();
    let output = format!(
        "<skill_content name=\"{escaped}\">\n# Skill: {escaped}\n\nSay hello. <b>&\n\n\
         Base directory: {root}/a&#10;b&lt;/file&gt;\n\
         A relative path in this skill starts at the base directory. \
         The files named here are a sample, there may be more.\n\n\
         <skill_files>\n\
         <file>{root}/a&#10;b&lt;/file&gt;/&lt;c&gt;&#9;&amp;&quot;.md</file>\n\
         </skill_files>\n</skill_content>"
    );
    let directory = format!("{root}/a\nb</file>");
    let structured = json!({"name": name, "directory": directory, "output": output});
    assert_eq!(settled, success(structured, vec![text(&output)]));
}

#[tokio::test]
async fn the_first_files_are_listed_in_the_order_of_their_paths() {
    let files = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    for (location, written, expected) in [
        ("s/SKILL.md", files(&["s/SKILL.md"]), files(&[])),
        // A skill that is a single file, with other files beside it.
        (
            "s/greet.md",
            files(&["s/greet.md", "s/a", "s/b/c"]),
            files(&[]),
        ),
        (
            "s/SKILL.md",
            files(&[
                "s/SKILL.md",
                "s/.b/.c",
                "s/.a",
                "s/sub/SKILL.md",
                "s/skill.md",
            ]),
            files(&["s/.a", "s/.b/.c", "s/skill.md"]),
        ),
        // In byte order: `.` comes before `/`, and `/` before `0`.
        (
            "s/SKILL.md",
            files(&["s/a0", "s/a/b", "s/a.txt", "s/a/B", "s/SKILL.md"]),
            files(&["s/a.txt", "s/a/B", "s/a/b", "s/a0"]),
        ),
        ("s/SKILL.md", numbers("s/", 0..10), numbers("s/", 0..10)),
        (
            "s/SKILL.md",
            numbers("s/d/", 1..12),
            files(&[
                "s/d/1", "s/d/10", "s/d/11", "s/d/2", "s/d/3", "s/d/4", "s/d/5", "s/d/6", "s/d/7",
                "s/d/8",
            ]),
        ),
        // The skill was removed meanwhile.
        ("gone/SKILL.md", files(&[]), files(&[])),
    ] {
        let project = Project::new();
        written.iter().for_each(|file| project.write(file));
        assert_eq!(project.files(location).await, expected, "{written:?}");
    }
}

#[tokio::test]
async fn only_files_are_listed() {
    let project = Project::new();
    for file in [
        "s/SKILL.md",
        "s/a",
        "s/SKILL.md.d/x",
        "elsewhere/file",
        "t/SKILL.md/x",
    ] {
        project.write(file);
    }
    let s = project.root.join("s");
    symlink(project.root.join("elsewhere"), s.join("directory")).expect("it is writable");
    symlink(project.root.join("elsewhere/file"), s.join("file")).expect("it is writable");
    symlink(&s, s.join("loop")).expect("it is writable");
    let fifo = Command::new("mkfifo").arg(s.join("fifo")).status();
    assert!(fifo.expect("it runs").success());
    project.write(Path::new("s").join(OsStr::from_bytes(b"\xff")));
    assert_eq!(project.files("s/SKILL.md").await, ["s/SKILL.md.d/x", "s/a"]);
    // The directory of a skill may be a link itself.
    symlink(&s, project.root.join("linked")).expect("it is writable");
    assert_eq!(
        project.files("linked/SKILL.md").await,
        ["linked/SKILL.md.d/x", "linked/a"]
    );
    // A directory never contains the text of a skill, even if it has that name.
    assert_eq!(project.files("t/SKILL.md").await, ["t/SKILL.md/x"]);
}

#[tokio::test]
async fn the_listing_of_files_is_bounded() {
    let project = Project::new();
    let depth = |levels: usize| format!("s/{}file", "d/".repeat(levels));
    project.write(depth(32));
    project.write(depth(33));
    assert_eq!(project.files("s/SKILL.md").await, [depth(32)]);
    // The maximum number of names that are read. Most of them are not files.
    project.write("w/directory/file");
    let link = |number: usize| {
        let path = project.root.join(format!("w/{number}"));
        symlink("nowhere", path).expect("it is writable");
    };
    (0..9_998).for_each(link);
    assert_eq!(project.files("w/SKILL.md").await, ["w/directory/file"]);
    link(9_998);
    assert_eq!(project.files("w/SKILL.md").await, Vec::<String>::new());
}

#[tokio::test]
async fn refusals_fail_the_call_or_end_the_turn() {
    let refused = |message: &str| Settlement::Failed {
        message: message.to_owned(),
        kind: ErrorKind::Permission,
    };
    let unknown = |name: &str| {
        failed(format!(
            "Unable to load skill {name}: there is no skill of this name. The skills are: greet"
        ))
    };
    let corrected = PermissionError::Corrected {
        feedback: "not now".to_owned(),
    };
    for (name, permission, expected, asked) in [
        ("absent", Ok(()), unknown("absent"), 0),
        ("Greet", Ok(()), unknown("Greet"), 0),
        ("", Ok(()), unknown(""), 0),
        (
            "greet",
            Err(PermissionError::Blocked),
            denied("Unable to load skill greet"),
            1,
        ),
        (
            "greet",
            Err(corrected),
            refused("Unable to load skill greet: not now"),
            1,
        ),
        (
            "greet",
            Err(PermissionError::Declined),
            Settlement::Declined,
            1,
        ),
    ] {
        let project = Project::new();
        let permissions = Recorder::new(move |_| permission.clone());
        let mut context = project.context("greet", "s/SKILL.md");
        context.permissions = Arc::clone(&permissions) as _;
        let settled = project.load(json!({"name": name}), context).await;
        assert_eq!((settled, permissions.asked().len()), (expected, asked));
    }
    let project = Project::new();
    let settled = project.load(json!({}), project.context("greet", "s/SKILL.md"));
    let missing = "Invalid tool input: Missing key\n  at [\"name\"]";
    assert_eq!(settled.await, failed(missing));
}

#[tokio::test]
async fn an_interruption_ends_the_call() {
    let project = Project::new();
    let mut context = project.context("greet", "s/SKILL.md");
    let cancel = context.cancel.clone();
    context.permissions = Recorder::new(move |_| {
        cancel.cancel();
        Ok(())
    });
    let settled = project.load(json!({"name": "greet"}), context).await;
    assert_eq!(settled, Settlement::Interrupted);
}
