//! A project to change, and helpers that change it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::common::{Recorder, built_in_tools, call, context, registry};
use opencode_schema::message::{ErrorKind, ToolContent};
use opencode_tools::{Contributions, Materialized, Registration, Settlement, TurnContext};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A Location beside a directory that it may not access.
pub(crate) struct Project {
    _temp: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) turn: Arc<Materialized>,
    _registration: Registration,
}

impl Project {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let root = fs::canonicalize(temp.path()).expect("it exists");
        fs::create_dir_all(root.join("loc")).expect("it is writable");
        fs::create_dir_all(root.join("outside")).expect("it is writable");
        let registry = registry(&Contributions::default(), &root.join("data"));
        let registration = registry.host().register(built_in_tools());
        Self {
            turn: Arc::new(registry.materialize("/project", |_| true)),
            _registration: registration.expect("all names are good"),
            _temp: temp,
            root,
        }
    }

    pub(crate) fn location(&self) -> PathBuf {
        self.root.join("loc")
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root.join("outside").join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.location().join(name);
        fs::create_dir_all(path.parent().expect("it is in the Location")).expect("it is writable");
        fs::write(&path, content).expect("it is writable");
        path
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.location().join(name)).expect("it is there")
    }

    /// Returns all files of the Location and outside with their content; links with their target.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.root, &self.root, &mut files);
        files
    }

    pub(crate) fn context(&self) -> TurnContext {
        context(&self.location())
    }

    pub(crate) async fn run(&self, tool: &str, input: Value) -> Settlement {
        self.turn.settle(call(tool, input), &self.context()).await
    }

    /// Like `run`, but records all permission requests.
    pub(crate) async fn ask(
        &self,
        tool: &str,
        input: Value,
        permissions: &Arc<Recorder>,
    ) -> Settlement {
        let mut context = self.context();
        context.permissions = Arc::clone(permissions) as _;
        self.turn.settle(call(tool, input), &context).await
    }

    pub(crate) async fn patch(&self, body: &str) -> Settlement {
        self.run("apply_patch", patch(body)).await
    }
}

fn collect(root: &Path, directory: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).expect("it is readable") {
        let path = entry.expect("it is readable").path();
        let kind = fs::symlink_metadata(&path).expect("it is there");
        let name = path.strip_prefix(root).expect("it is below");
        let name = name.to_str().expect("it is Unicode").to_owned();
        if kind.is_dir() {
            collect(root, &path, files);
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).expect("it is a link");
            files.insert(name, target.into_os_string().into_encoded_bytes());
        } else if kind.is_file() {
            files.insert(name, fs::read(&path).expect("it is readable"));
        }
    }
}

pub(crate) fn patch(body: &str) -> Value {
    json!({"patchText": format!("*** Begin Patch\n{body}*** End Patch")})
}

/// Returns the input of each tool to change the file at `path`.
pub(crate) fn changes(path: &str) -> [(&'static str, Value, String); 4] {
    let refused = "Unable to apply patch at patch".to_owned();
    [
        (
            "write",
            json!({"path": path, "content": "new"}),
            format!("Unable to write {path}"),
        ),
        (
            "edit",
            json!({"path": path, "oldString": "old", "newString": "new"}),
            format!("Unable to edit {path}"),
        ),
        (
            "apply_patch",
            patch(&format!("*** Update File: {path}\n@@\n-old\n+new\n")),
            refused.clone(),
        ),
        (
            "apply_patch",
            patch(&format!("*** Delete File: {path}\n")),
            refused,
        ),
    ]
}

/// Returns the message for the model, which must be one text.
pub(crate) fn text_of(settlement: Settlement) -> Result<String, String> {
    match settlement {
        Settlement::Success { content, .. } => match &content[..] {
            [ToolContent::Text { text }] => Ok(text.clone()),
            other => panic!("{other:?}"),
        },
        Settlement::Failed {
            message,
            kind: ErrorKind::Tool,
        } => Err(message),
        other => panic!("{other:?}"),
    }
}
