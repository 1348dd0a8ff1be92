//! Known secrets are removed at two borders: from each event before the store appends it, and from each announcement.
//!
//! Texts of the user and of the project stay: prompts of callers, the System Context, and the names of files. So do
//! names that identify something, because others refer to them.

use std::borrow::Cow;
use std::sync::Arc;

use opencode_location::location::AllSecrets;
use opencode_location::secret::Redactor;
use opencode_schema::event::{LiveEvent, Notice, SessionEvent};
use opencode_schema::todo::Todo;
use opencode_store::Draft;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Members that identify something, or whose words decide.
const KEPT: &[&str] = &[
    "id",
    "sessionID",
    "messageID",
    "assistantMessageID",
    "callID",
    "textID",
    "reasoningID",
    "parentID",
    "projectID",
    "providerID",
    "workspaceID",
    "budgetID",
    "requestID",
    "partID",
    "agent",
    "model",
    "variant",
    "snapshot",
    "directory",
    "path",
    "subdirectory",
    "worktree",
    "location",
    "type",
    "status",
    "delivery",
    "finish",
    "reason",
    "scope",
    "limit",
    "kind",
    "outputPaths",
    "mime",
    "permission",
    "revert",
    "files",
    "signature",
];

/// Members whose content has the form of a tool, a provider or a program. The names in it mean nothing to the host.
const FOREIGN: &[&str] = &["input", "structured", "result", "output", "metadata"];

/// Removes the secrets of all Locations of a host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redaction(Arc<AllSecrets>);

impl Redaction {
    pub(crate) fn new(secrets: &Arc<AllSecrets>) -> Self {
        Self(Arc::clone(secrets))
    }

    /// Removes secrets from an event before it is stored. Its metadata is cleaned where it is made: it has hashes.
    pub(crate) fn draft(&self, draft: &mut Draft) {
        if is_of_user(&draft.payload) {
            return;
        }
        let secrets = self.0.redactor();
        let Some(cleaned) = cleaned(&draft.payload, &secrets) else {
            return;
        };
        match SessionEvent::read(draft.payload.number(), &cleaned.to_string()) {
            Ok(payload) => draft.payload = payload,
            Err(error) => tracing::error!(%error, "an event with a secret is stored as it is"),
        }
    }

    /// The payload of a notice as JSON text, without secrets.
    pub(crate) fn notice(&self, notice: &Notice) -> String {
        let data = notice.data();
        match cleaned_text(&data, &self.0.redactor()) {
            Some(cleaned) => cleaned.to_string(),
            None => data,
        }
    }

    /// The live event without secrets. Fragments of text are announced as they arrive.
    pub(crate) fn live(&self, event: &LiveEvent) -> Option<LiveEvent> {
        let LiveEvent::ToolReported(_) = event else {
            return None;
        };
        let cleaned = cleaned(event, &self.0.redactor())?;
        LiveEvent::read(event.number(), &cleaned.to_string()).ok()
    }

    /// Removes secrets from a to-do list.
    pub(crate) fn todos(&self, todos: &mut [Todo]) {
        let secrets = self.0.redactor();
        for todo in todos {
            for text in [&mut todo.content, &mut todo.status, &mut todo.priority] {
                secrets.clean(text);
            }
        }
    }

    /// Removes secrets from a value that users read.
    pub(crate) fn shown<T: Clone + Serialize + DeserializeOwned>(&self, value: &T) -> T {
        clean(value, &self.0.redactor()).into_owned()
    }
}

/// True if the texts of an event belong to the user or to the project.
fn is_of_user(event: &SessionEvent) -> bool {
    matches!(
        event,
        SessionEvent::PromptAdmitted(_)
            | SessionEvent::Prompted(_)
            | SessionEvent::ContextUpdated(_)
    )
}

fn clean<'v, T: Clone + Serialize + DeserializeOwned>(
    value: &'v T,
    secrets: &Redactor,
) -> Cow<'v, T> {
    match cleaned(value, secrets).map(serde_json::from_value) {
        None => Cow::Borrowed(value),
        Some(Ok(cleaned)) => Cow::Owned(cleaned),
        Some(Err(error)) => {
            tracing::error!(%error, "an announcement with a secret is sent as it is");
            Cow::Borrowed(value)
        }
    }
}

/// The value without secrets. `None` if it has none, which one search of its text finds.
fn cleaned(value: &impl Serialize, secrets: &Redactor) -> Option<Value> {
    if secrets.is_empty() {
        return None;
    }
    cleaned_text(&serde_json::to_string(value).ok()?, secrets)
}

fn cleaned_text(text: &str, secrets: &Redactor) -> Option<Value> {
    if secrets.is_empty() || !secrets.finds(text) {
        return None;
    }
    let mut value = serde_json::from_str(text).ok()?;
    clean_members(&mut value, secrets);
    Some(value)
}

fn clean_members(value: &mut Value, secrets: &Redactor) {
    match value {
        Value::String(text) => secrets.clean(text),
        Value::Array(elements) => {
            let elements = elements.iter_mut();
            elements.for_each(|it| clean_members(it, secrets));
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if FOREIGN.contains(&name.as_str()) {
                    secrets.clean_value(member);
                } else if !KEPT.contains(&name.as_str()) {
                    clean_members(member, secrets);
                }
            }
            if members.keys().any(|name| secrets.finds(name)) {
                let named = std::mem::take(members).into_iter();
                let named = named.map(|(name, it)| (secrets.verbatim(&name).into_owned(), it));
                *members = named.collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use opencode_schema::event::{
        PromptAdmitted, SessionError, ToolCalled, ToolInputStarted, ToolProgress, ToolReported,
    };
    use opencode_secrets::Secrets;
    use serde_json::json;

    use super::*;

    const SECRET: &str = "sk-secret-4711\"x";

    fn redaction() -> Redaction {
        let mut secrets = Secrets::default();
        secrets.learn_credential(SECRET);
        let all = Arc::<AllSecrets>::default();
        all.learn(&secrets);
        Redaction::new(&all)
    }

    fn stored<T: DeserializeOwned + Into<SessionEvent>>(payload: Value) -> String {
        let payload: T = serde_json::from_value(payload).unwrap();
        let mut draft = Draft::new(0, payload);
        redaction().draft(&mut draft);
        serde_json::to_string(&draft.payload).unwrap()
    }

    #[test]
    fn events_lose_their_secrets_and_keep_their_identities() {
        let part = json!([{"type": "text", "text": format!("it is {SECRET}")}]);
        let ids = json!({"assistantMessageID": "msg_1", "callID": "call_1"});
        let with = |more: Value| {
            let mut all = ids.clone();
            all.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            all
        };
        for text in [
            stored::<ToolInputStarted>(with(json!({"name": SECRET}))),
            stored::<ToolCalled>(with(
                json!({"tool": SECRET, "input": {SECRET: [SECRET]}, "provider": {"executed": false}}),
            )),
            stored::<ToolProgress>(with(
                json!({"structured": {"a": {"b": SECRET}}, "content": part}),
            )),
            // The names of the host's own members mean nothing in the data of a tool.
            stored::<ToolProgress>(with(
                json!({"structured": {"path": SECRET, "model": [{"reason": SECRET}]}, "content": []}),
            )),
        ] {
            assert!(
                !text.contains("sk-secret") && text.contains("<redacted>"),
                "{text}"
            );
            assert!(text.contains("msg_1") && text.contains("call_1"), "{text}");
        }
    }

    #[test]
    fn prompts_of_callers_stay() {
        let text = stored::<PromptAdmitted>(json!({
            "messageID": "msg_1", "prompt": {"text": SECRET}, "delivery": "steer",
        }));
        assert!(text.contains("sk-secret"), "{text}");
    }

    #[test]
    fn announcements_lose_their_secrets() {
        let error: SessionError = serde_json::from_value(json!({
            "sessionID": "ses_1", "error": {"name": "UnknownError", "data": {"message": SECRET}},
        }))
        .unwrap();
        let shown = redaction().notice(&Notice::SessionError(error));
        assert!(
            !shown.contains("sk-secret") && shown.contains("ses_1"),
            "{shown}"
        );
        let reported: ToolReported = serde_json::from_value(json!({
            "assistantMessageID": "msg_1", "callID": "c", "structured": {"a": SECRET}, "content": [],
        }))
        .unwrap();
        let shown = redaction().live(&reported.into()).unwrap();
        assert!(!format!("{shown:?}").contains("sk-secret"), "{shown:?}");
    }
}
