//! A project to search in, and helpers for the results.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use opencode_schema::message::ToolContent;
use opencode_tools::{Contributions, Materialized, Registration, Settlement, TurnContext};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Recorder, built_in_tools, call, context, reason, registry};

/// A Location beside a directory that it may not access.
pub(crate) struct Project {
    _temp: TempDir,
    pub(crate) root: PathBuf,
    turn: Materialized,
    _registration: Registration,
}

impl Project {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let root = fs::canonicalize(temp.path()).expect("it exists");
        fs::create_dir_all(root.join("loc")).expect("it is writable");
        fs::create_dir_all(root.join("outside")).expect("it is writable");
        let registry = registry(&Contributions::default(), &root);
        let registration = registry.host().register(built_in_tools());
        Self {
            turn: registry.materialize("/project", |_| true),
            _registration: registration.expect("all names are good"),
            _temp: temp,
            root,
        }
    }

    /// Creates a Location with these files. Each file contains its own name and a newline.
    pub(crate) fn with(files: &[&str]) -> Self {
        let project = Self::new();
        for file in files {
            project.write(file, format!("{file}\n"));
        }
        project
    }

    pub(crate) fn location(&self) -> PathBuf {
        self.root.join("loc")
    }

    pub(crate) fn text(&self, below: &str) -> String {
        let path = self.root.join(below);
        path.to_str().expect("it is text").to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.location().join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("it is writable");
        fs::write(path, content).expect("it is writable");
    }

    pub(crate) fn fifo(&self, name: &str) {
        let path = self.location().join(name);
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.expect("it runs").success());
    }

    /// Makes the Location a repository, so that `.gitignore` applies.
    pub(crate) fn repository(&self) {
        fs::create_dir_all(self.location().join(".git/info")).expect("it is writable");
        self.write(".git/config", "needle\n");
    }

    pub(crate) fn context(&self) -> TurnContext {
        context(&self.location())
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> Settlement {
        self.turn.settle(call(name, input), &self.context()).await
    }

    pub(crate) async fn call_in(
        &self,
        name: &str,
        input: Value,
        context: TurnContext,
    ) -> Settlement {
        self.turn.settle(call(name, input), &context).await
    }

    /// Like `call`, but records all permission requests.
    pub(crate) async fn call_asking(
        &self,
        name: &str,
        input: Value,
        permissions: &Arc<Recorder>,
    ) -> Settlement {
        let mut context = self.context();
        context.permissions = Arc::clone(permissions) as _;
        self.call_in(name, input, context).await
    }

    /// Returns the paths that `glob` finds. Checks that the model gets them as absolute paths.
    pub(crate) async fn glob(&self, input: Value) -> Vec<String> {
        let (found, text) = taken(self.call("glob", input).await);
        let found = found.iter().map(|entry| {
            let path = entry["path"].as_str().expect("it is text").to_owned();
            assert_eq!(*entry, json!({"path": path, "type": "file"}));
            path
        });
        let found: Vec<String> = found.collect();
        let absolute = found.iter().map(|path| self.absolute(path));
        let expected = absolute.collect::<Vec<_>>().join("\n");
        assert_eq!(
            text,
            if found.is_empty() {
                "No files found"
            } else {
                &expected
            }
        );
        found
    }

    /// Returns path, number and text of the lines that `grep` finds.
    pub(crate) async fn grep(&self, input: Value) -> Vec<(String, u64, String)> {
        let (found, _) = taken(self.call("grep", input).await);
        let line = |found: &Value| {
            let text = |value: &Value| value.as_str().expect("it is text").to_owned();
            let number = found["line"].as_u64().expect("it is a number");
            (text(&found["entry"]["path"]), number, text(&found["text"]))
        };
        found.iter().map(line).collect()
    }

    /// Returns the paths of files in which `grep` finds a line.
    pub(crate) async fn grep_files(&self, input: Value) -> Vec<String> {
        let mut found: Vec<_> = self.grep(input).await;
        found.dedup_by(|(left, ..), (right, ..)| left == right);
        found.into_iter().map(|(path, ..)| path).collect()
    }

    fn absolute(&self, path: &str) -> String {
        let path = self.location().join(Path::new(path));
        path.to_str().expect("it is text").to_owned()
    }
}

/// Returns the values and the text of a success.
pub(crate) fn taken(settlement: Settlement) -> (Vec<Value>, String) {
    let Settlement::Success {
        mut structured,
        content,
        output_paths,
        explored,
    } = settlement
    else {
        panic!("{settlement:?}");
    };
    assert_eq!(explored, Vec::<String>::new());
    let [ToolContent::Text { text }] = &content[..] else {
        panic!("{content:?}");
    };
    assert_eq!(output_paths.is_empty(), !text.contains("output truncated"));
    match structured.remove("value") {
        Some(Value::Array(found)) => (found, text.clone()),
        other => panic!("{other:?}"),
    }
}

/// Returns the reason why `glob` failed.
pub(crate) fn unfound(settled: &Settlement, pattern: &str) -> String {
    reason(settled, format!("Unable to find files matching {pattern}"))
}

/// Returns the reason why `grep` failed.
pub(crate) fn unsearched(settled: &Settlement, pattern: &str) -> String {
    reason(settled, format!("Unable to grep for {pattern}"))
}
