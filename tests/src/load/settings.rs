//! Agent, model and Location of a session, and imports of whole sessions.

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use futures::stream;
use opencode_runtime::{CreateSession, ImportChoices, RuntimeError, UpdateSession};
use opencode_schema::id::SessionID;
use opencode_schema::message::SessionMessage;
use opencode_schema::session::{SessionBudget, SessionInfo};

use super::{Driver, problem};
use crate::export;
use crate::host::{AGENTS, PROJECTS, mock, new_session, place, project};
use crate::line::{Change, Line, Setting, say};

/// Maximum number of attempts to get a checkpoint.
const COMPACTIONS: u32 = 5;

impl Driver {
    pub(super) async fn switch_agent(&mut self) {
        let agent = (*self.random.choose(&AGENTS)).to_owned();
        let session = self.any_session();
        let change = changing(session, Setting::Agent, agent.clone());
        let switched = self.runtime.switch_agent(&change.session, agent).await;
        self.changed(change, switched);
    }

    pub(super) async fn switch_model(&mut self) {
        let session = self.any_session();
        // Switches twice, so that at least one switch changes the model.
        for model in ["m2", "m1"] {
            let change = changing(session.clone(), Setting::Model, model.to_owned());
            let switched = self
                .runtime
                .switch_model(&change.session, mock(model))
                .await;
            self.changed(change, switched);
        }
    }

    pub(super) async fn relocate(&mut self) {
        let session = self.any_session();
        for index in [1, 0] {
            let directory = project(&self.folder, index);
            let change = changing(session.clone(), Setting::Directory, directory.clone());
            let moved = self.runtime.move_session(&change.session, place(directory));
            let moved = moved.await.map(|_| ());
            self.changed(change, moved);
        }
    }

    /// Changes the instructions of the projects, and lets a session observe the change.
    pub(super) async fn instruct(&mut self) {
        let session = self.any_session();
        self.prompt_and_wait(&session).await;
        let name = self.fresh_name();
        for index in 0..PROJECTS.len() {
            let text = format!("These are the rules of {name}.\n");
            let draft = self.folder.join(format!("rules-{name}"));
            let rules = Path::new(&project(&self.folder, index)).join("AGENTS.md");
            // The rename is atomic, so a reader gets either the old or the new instructions.
            let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, rules));
            if let Err(error) = written {
                problem("instruct", &error);
            }
        }
        self.prompt_and_wait(&session).await;
    }

    /// Lets a session of its own pause at its budget, and continues it without one.
    pub(super) async fn limit(&mut self) {
        let id = SessionID::parse(&format!("ses_{}", self.fresh_name())).expect("it is an id");
        let request = CreateSession {
            budget: Some(SessionBudget {
                turns: Some(1),
                ..SessionBudget::default()
            }),
            ..new_session(&self.folder, id)
        };
        let created = self.runtime.create_session(request).await;
        let Some(SessionInfo { id: session, .. }) = self.done("create", created) else {
            return;
        };
        say(&Line::Created {
            session: session.clone(),
        });
        for _ in 0..2 {
            self.prompt_in(&session).await;
            self.done("wait", self.runtime.wait(&session).await);
        }
        let unlimited = UpdateSession {
            budget: Some(SessionBudget::default()),
            ..UpdateSession::default()
        };
        let updated = self.runtime.update_session(&session, unlimited).await;
        if self.done("update", updated).is_none() {
            return;
        }
        say(&Line::Waking {
            session: session.clone(),
        });
        self.done("resume", self.runtime.resume(&session).await);
        self.wait(&session).await;
    }

    /// Compacts a session until its context has a checkpoint, or until the attempts are used up.
    pub(super) async fn compact(&mut self) {
        let session = self.any_session();
        for _ in 0..COMPACTIONS {
            self.prompt_and_wait(&session).await;
            match self.runtime.compact(&session).await {
                // The model of the load does not always return a summary.
                Ok(()) | Err(RuntimeError::Unavailable { .. }) => {}
                Err(error) => problem("compact", &error),
            }
            let context = self.runtime.context(&session).await;
            let context = self.done("context", context).unwrap_or_default();
            let is_checkpoint =
                |it: &SessionMessage| matches!(it, SessionMessage::Compaction { .. });
            if context.iter().any(is_checkpoint) {
                return;
            }
        }
    }

    pub(super) fn changed(&self, change: Change, answer: Result<(), RuntimeError>) {
        if self.done("change", answer).is_some() {
            say(&Line::Changed(change));
        }
    }

    /// Imports the log of a session under other identifiers.
    pub(super) async fn import(&mut self) {
        let from = self.any_session();
        let suffix = format!("-{}", self.fresh_name());
        let Some(lines) = self.done("export", export::lines(&self.runtime, &from).await) else {
            return;
        };
        let lines: Vec<_> = lines
            .iter()
            .map(|line| export::renamed(line, &suffix))
            .collect();
        let name = format!("{from}{suffix}");
        let session = SessionID::parse(&name).expect("a longer id is an id");
        let entries = lines.len() as u64 - 1;
        say(&Line::Importing {
            session: session.clone(),
            entries,
        });
        let imported = self.runtime.import(
            stream::iter(lines.into_iter().map(Ok::<_, Infallible>)),
            confirmed(),
        );
        let Some(imported) = self.done("import", imported.await) else {
            return;
        };
        if (imported.applied, imported.skipped) != (entries, 0) {
            problem(
                "import",
                &format!("{imported:?} instead of {entries} entries"),
            );
        }
        say(&Line::Imported { session });
    }
}

/// The choices of a caller that knows the import.
fn confirmed() -> ImportChoices {
    ImportChoices {
        confirm: true,
        ..ImportChoices::default()
    }
}

pub(super) fn changing(session: SessionID, what: Setting, to: String) -> Change {
    let change = Change { session, what, to };
    say(&Line::Changing(change.clone()));
    change
}
