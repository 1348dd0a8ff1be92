//! A project to read from, and helpers for the results.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::common::{Recorder, built_in_tools, call, context, reason, registry};
use opencode_tools::{Contributions, Materialized, Registration, Settlement};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A Location beside a directory that it may not access.
pub(crate) struct Project {
    _temp: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) turn: Materialized,
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

    pub(crate) fn location(&self) -> PathBuf {
        self.root.join("loc")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.location().join(name);
        fs::write(&path, content).expect("it is writable");
        path
    }

    pub(crate) async fn read(&self, input: Value) -> Settlement {
        let context = context(&self.location());
        self.turn.settle(call("read", input), &context).await
    }

    pub(crate) async fn read_path(&self, path: &str) -> Settlement {
        self.read(json!({"path": path})).await
    }

    /// Like `read_path`, but records all permission requests.
    pub(crate) async fn read_asking(&self, path: &str, permissions: &Arc<Recorder>) -> Settlement {
        let mut context = context(&self.location());
        context.permissions = Arc::clone(permissions) as _;
        self.turn
            .settle(call("read", json!({"path": path})), &context)
            .await
    }
}

/// Returns the reason why a read failed.
pub(crate) fn unreadable(settled: &Settlement, path: &str) -> String {
    reason(settled, format!("Unable to read {path}"))
}

pub(crate) fn whole(path: &Path, content: &str, encoding: &str, mime: &str) -> Value {
    json!({
        "uri": format!("file://{}", path.display()),
        "name": path.file_name().and_then(OsStr::to_str),
        "content": content,
        "encoding": encoding,
        "mime": mime,
    })
}

/// Returns the structured value of a read, which must have succeeded.
pub(crate) fn page(settlement: Settlement) -> Value {
    let Settlement::Success { structured, .. } = settlement else {
        panic!("{settlement:?}");
    };
    structured.into()
}
