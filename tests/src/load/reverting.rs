//! Reverts to earlier prompts, including the files.

use std::fs;

use opencode_runtime::{CreateSession, Order, RuntimeError, StageRevert};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::SessionMessage;
use opencode_schema::prompt::{Delivery, PromptInput};

use super::settings::changing;
use super::{Driver, problem};
use crate::host::{kept, new_session, place};
use crate::line::{Asked, Line, NO_REVERT, Setting, say};
use crate::model::KEEP;

/// End of the error of a revert that left a file alone, because its content changed meanwhile.
const CHANGED_MEANWHILE: &str = "it was changed just now";

impl Driver {
    /// Stages a revert and clears it, commits another one, and leaves a third one staged.
    pub(super) async fn revert(&mut self) {
        let session = self.any_session();
        self.prompt_and_wait(&session).await;
        for end in [Some(true), Some(false), None] {
            self.prompt_and_wait(&session).await;
            let Some(boundary) = self.some_prompt(&session).await else {
                return;
            };
            self.stage(&session, boundary).await;
            if let Some(is_cleared) = end {
                self.unstage(&session, is_cleared).await;
            }
        }
    }

    /// Writes a file twice in a directory that belongs to one session, and stages and clears
    /// reverts. So the expected content of the file is known at each point.
    pub(super) async fn keep(&mut self) {
        let name = self.fresh_name();
        let session = SessionID::parse(&format!("ses_{name}")).expect("it is an id");
        let directory = kept(&self.folder, &name);
        if let Err(error) = fs::create_dir_all(&directory) {
            return problem("keep", &error);
        }
        let request = CreateSession {
            location: place(directory),
            ..new_session(&self.folder, session.clone())
        };
        if self
            .done("create", self.runtime.create_session(request).await)
            .is_none()
        {
            return;
        }
        say(&Line::Created {
            session: session.clone(),
        });
        let mut prompts = Vec::new();
        for content in ["one", "two"] {
            let id = self.message_id();
            let asked = Asked {
                session: session.clone(),
                id: Some(id.clone()),
                prompt: PromptInput {
                    text: format!("Prompt {name}{KEEP}{content}"),
                    files: None,
                    agents: None,
                },
                delivery: Delivery::Steer,
                resume: true,
            };
            self.admit(&asked).await;
            self.wait(&session).await;
            prompts.push(id);
        }
        let boundary = self.random.choose(&prompts).clone();
        self.stage(&session, boundary.clone()).await;
        self.unstage(&session, true).await;
        self.stage(&session, boundary).await;
    }

    async fn stage(&self, session: &SessionID, boundary: MessageID) {
        let change = changing(session.clone(), Setting::Revert, boundary.to_string());
        let request = StageRevert {
            session_id: session.clone(),
            message_id: boundary,
            part_id: None,
            exact: true,
            files: true,
        };
        let staged = self.runtime.stage_revert(request).await;
        if !is_refused(&staged) {
            self.changed(change, staged.map(drop));
        }
    }

    async fn unstage(&self, session: &SessionID, is_cleared: bool) {
        let change = changing(session.clone(), Setting::Revert, NO_REVERT.to_owned());
        let unstaged = if is_cleared {
            self.runtime.clear_revert(session).await
        } else {
            self.runtime.commit_revert(session).await
        };
        if !is_refused(&unstaged) {
            self.changed(change, unstaged);
        }
    }

    /// One of the newer prompts of a session.
    async fn some_prompt(&mut self, session: &SessionID) -> Option<MessageID> {
        let messages = self.runtime.messages(session, Order::Descending, None, 20);
        let messages = self.done("messages", messages.await)?;
        let prompts = messages
            .into_iter()
            .filter_map(|(_, message)| match message {
                SessionMessage::User { id, .. } => Some(id),
                _ => None,
            });
        let prompts: Vec<_> = prompts.collect();
        (!prompts.is_empty()).then(|| self.random.choose(&prompts).clone())
    }
}

/// True if the session runs, or if another session changed a file of the revert at that moment. A
/// host that resumes sessions can run them. Sessions of the load share directories.
fn is_refused<T>(answer: &Result<T, RuntimeError>) -> bool {
    match answer {
        Err(RuntimeError::SessionBusy(_)) => true,
        Err(RuntimeError::Snapshot(error)) => error.to_string().ends_with(CHANGED_MEANWHILE),
        _ => false,
    }
}
