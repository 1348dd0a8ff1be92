//! Step snapshots and reverts, with real files in a real repository.

mod boundaries;
mod busy;
mod commits;
mod conflicts;
mod crashes;
mod logged;
mod many;
mod retention;
mod staging;
mod steps;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use opencode_runtime::{RuntimeError, RuntimeOptions, StageRevert};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::session::RevertState;
use opencode_testkit::{Fixture, Reply, output};
use serde_json::{Value, json};

/// A repository whose files a tool changes.
struct World {
    f: Fixture,
    session: SessionID,
}

/// The new content of each file, or `None` to remove it.
type Changes<'a> = &'a [(&'a str, Option<&'a str>)];

impl World {
    /// A repository with the file `a.txt`.
    async fn open() -> Self {
        Self::with(|_| {}, |f| f.project.git(), "").await
    }

    /// Opens a project that `prepare` completes, with a session in one of its folders.
    async fn with(
        change: impl Fn(&mut RuntimeOptions) + Send + Sync + 'static,
        prepare: impl FnOnce(&Fixture),
        folder: &str,
    ) -> Self {
        let f = Fixture::with(change).await;
        f.project.write("a.txt", "one\n");
        prepare(&f);
        let root = f.project.path("");
        f.tool("change", move |input, _| {
            let root = root.clone();
            async move {
                apply(&root, &input);
                output(json!({}))
            }
        });
        let mut request = f.new_session();
        let directory = f.project.path(folder);
        request.location.directory = directory.to_string_lossy().trim_end_matches('/').into();
        let session = f.create(request).await.id;
        Self { f, session }
    }

    /// A prompt with two steps: one makes these changes, one answers with text. Returns the id of
    /// the prompt.
    async fn turn(&self, text: &str, changes: Changes<'_>) -> MessageID {
        self.turn_of(&self.session, text, changes).await
    }

    async fn turn_of(&self, session: &SessionID, text: &str, changes: Changes<'_>) -> MessageID {
        self.f.model.reply(changing("c", changes));
        self.f.model.reply(Reply::says("Done."));
        self.f.ask(session, text).await.id
    }

    async fn stage(&self, boundary: &MessageID) -> RevertState {
        let staged = self.try_stage(boundary, None, true).await;
        staged.expect("the session is idle")
    }

    /// Stages without `exact`, as clients do by default.
    async fn stage_prompt_of(&self, boundary: &MessageID, part: Option<&str>) -> RevertState {
        let staged = self.f.runtime().stage_revert(StageRevert {
            session_id: self.session.clone(),
            message_id: boundary.clone(),
            part_id: part.map(str::to_owned),
            exact: false,
            files: true,
        });
        let staged = self.f.within("stage", staged).await;
        staged.expect("the session is idle")
    }

    async fn try_stage(
        &self,
        boundary: &MessageID,
        part: Option<&str>,
        files: bool,
    ) -> Result<RevertState, RuntimeError> {
        let staged = self.f.runtime().stage_revert(StageRevert {
            session_id: self.session.clone(),
            message_id: boundary.clone(),
            part_id: part.map(str::to_owned),
            exact: true,
            files,
        });
        self.f.within("stage", staged).await
    }

    async fn clear(&self) {
        let cleared = self.f.runtime().clear_revert(&self.session);
        self.f.within("clear", cleared).await.expect("it is idle");
    }

    async fn commit(&self) {
        let committed = self.f.runtime().commit_revert(&self.session);
        let committed = self.f.within("commit", committed).await;
        committed.expect("it is idle");
    }

    async fn staged(&self) -> Option<RevertState> {
        self.f.info(&self.session).await.revert
    }

    /// Every file of the project outside `.git`, with its content.
    fn files(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let root = self.f.project.path("");
        collect(&root, &root, &mut found);
        found
    }

    /// The messages, each with its type.
    async fn story(&self) -> Vec<String> {
        let messages = self.f.messages(&self.session).await;
        messages.iter().map(|it| text_of(&json!(it))).collect()
    }
}

/// A call of the tool that changes files.
fn changing(id: &str, changes: Changes<'_>) -> Reply {
    let changes: BTreeMap<_, _> = changes.iter().copied().collect();
    Reply::calls(id, "change", json!(changes))
}

fn apply(root: &Path, changes: &Value) {
    for (path, content) in changes.as_object().expect("the test gives an object") {
        let path = root.join(path);
        match content.as_str() {
            None => fs::remove_file(path).expect("the file is there"),
            Some(content) => {
                fs::create_dir_all(path.parent().expect("it has one")).expect("it is ours");
                fs::write(path, content).expect("it is ours");
            }
        }
    }
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("it is ours") {
        let path = entry.expect("it is ours").path();
        let name = path.strip_prefix(root).expect("it lies there");
        if name == Path::new(".git") {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            let content = fs::read(&path).expect("it is ours");
            let content = String::from_utf8(content);
            let content = content.unwrap_or_else(|it| format!("{:?}", it.as_bytes()));
            found.insert(name.to_string_lossy().into_owned(), content);
        }
    }
}

fn text_of(message: &Value) -> String {
    let kind = message["type"].as_str().unwrap_or_default();
    match kind {
        "assistant" => {
            let parts = message["content"].as_array().into_iter().flatten();
            let parts = parts.map(|part| match part["type"].as_str() {
                Some("text") => part["text"].as_str().unwrap_or_default().to_owned(),
                _ => format!("{} {}", part["type"], part["id"]).replace('"', ""),
            });
            format!("assistant: {}", parts.collect::<Vec<_>>().join(" | "))
        }
        _ => format!("{kind}: {}", message["text"].as_str().unwrap_or_default()),
    }
}

fn is(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    let files = files.iter();
    files
        .map(|(path, content)| ((*path).into(), (*content).into()))
        .collect()
}

/// The paths that a staged revert changes, each with its status.
fn changed(revert: &RevertState) -> Vec<String> {
    let files = revert.files.iter().flatten();
    files
        .map(|file| {
            let status = format!("{:?}", file.status).to_lowercase();
            format!(
                "{status} {} +{} -{}",
                file.path, file.additions, file.deletions
            )
        })
        .collect()
}
