//! Continues the work: every prompt can be repeated, and every session settles.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use opencode_llm::{
    EventStream, LlmError, LlmRequest, ModelClient, Part, Prefix, PrefixReport, Role,
};
use opencode_runtime::{Runtime, RuntimeError, StageRevert, UpdateSession};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::SessionMessage;
use opencode_schema::prompt::{Delivery, PromptInput, SessionInputAdmitted};
use opencode_schema::session::SessionBudget;
use opencode_testkit::{Reply, ScriptedModel, check_request};

use super::calls::call_of;
use super::found::{Entry, Found, Session, done};
use super::{Check, CheckError};
use super::{kept, told};
use crate::folder::Folder;
use crate::journal::{Act, ActingCall, Journal};
use crate::ledger::{Ledger, Progress, Prompt};
use crate::line::{Asked, Line};
use crate::model::session_of;

/// Maximum wait for a session. It is far longer than any session needs.
const DEADLINE: Duration = Duration::from_secs(30);

/// Number of sessions that get work although they have no open work.
const OTHERS: usize = 6;

/// A model that never calls tools and keeps its requests.
#[derive(Clone)]
pub(super) struct Recorder {
    script: ScriptedModel,
    journal: Arc<Journal>,
    requests: Arc<Mutex<BTreeMap<SessionID, Vec<LlmRequest>>>>,
}

impl Recorder {
    pub(super) fn new(folder: &Folder) -> io::Result<Self> {
        let script = ScriptedModel::new();
        script.otherwise(|_| Reply::says("Settled."));
        Ok(Self {
            script,
            journal: Arc::new(Journal::open(&folder.journal())?),
            requests: Arc::default(),
        })
    }

    fn requests_of(&self, session: &SessionID) -> Vec<LlmRequest> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.get(session).cloned().unwrap_or_default()
    }
}

impl ModelClient for Recorder {
    fn stream(&self, request: LlmRequest) -> EventStream {
        let session = session_of(&request);
        if let Some(act) = Act::sending(&session, &request) {
            self.journal.add(&act);
        }
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.entry(session).or_default().push(request.clone());
        self.script.stream(request)
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        self.script.prefix(request, former)
    }
}

impl Check {
    /// Repeats every prompt, like a caller that does not know the outcome.
    pub(super) async fn repeat(&mut self, runtime: &Runtime, found: &Found, ledger: &Ledger) {
        let prompts = ledger.prompts.values();
        // If the creation of a session was lost, only its creator can repeat it.
        let prompts = prompts.filter(|it| found.sessions.contains_key(&it.asked.session));
        let asked = prompts.filter_map(|prompt| {
            let asked = Asked {
                id: Some(prompt.id.clone()?),
                resume: false,
                ..prompt.asked.clone()
            };
            Some((prompt, asked))
        });
        let asked: Vec<_> = asked.collect();
        let answers = asked
            .iter()
            .map(|(_, asked)| runtime.prompt(asked.request()));
        let answers = join_all(answers).await;
        for ((prompt, asked), answer) in asked.into_iter().zip(answers) {
            if let Some(problem) = retry_problem(prompt, &answer) {
                let text = &asked.prompt.text;
                self.finding(format!(
                    "{text} asked again: {problem}: {answer:?}, {prompt:?}"
                ));
            }
            if let Ok(receipt) = answer {
                self.lines.push(Line::Asked(asked));
                self.lines.push(Line::Admitted { receipt });
            }
        }
    }

    /// Prompts or resumes every session with open work and some others, and checks the new entries.
    pub(super) async fn settle(
        &mut self,
        runtime: &Runtime,
        found: &Found,
        recorder: &Recorder,
    ) -> Result<(), CheckError> {
        let mut sessions: BTreeMap<_, _> = found.newest(OTHERS).into_iter().collect();
        for (id, session) in &found.sessions {
            let is_cut = found.interrupted.iter().any(|cut| cut.session_id == *id);
            let is_open = !open_calls(id, &session.entries).is_empty();
            if is_cut || is_open || !session.inbox.is_empty() || session.info.revert.is_some() {
                sessions.insert(id, session);
            }
        }
        // The budget of a session also limits the sessions below it.
        for (id, session) in &found.sessions {
            if session.info.budget.is_some() {
                let unlimited = UpdateSession {
                    budget: Some(SessionBudget::default()),
                    ..UpdateSession::default()
                };
                done("update", runtime.update_session(id, unlimited).await)?;
            }
        }
        for (index, (id, before)) in sessions.into_iter().enumerate() {
            if let Some(revert) = &before.info.revert {
                self.stage_again(runtime, id, before, &revert.message_id)
                    .await?;
            }
            // A session without any prompt cannot be resumed.
            let mut entries = before.entries.iter();
            let is_begun = entries.any(|entry| entry.name() == "prompted");
            if index % 3 == 2 && (is_begun || !before.inbox.is_empty()) {
                self.lines.push(Line::Waking {
                    session: id.clone(),
                });
                match runtime.resume(id).await {
                    // Only a prompt of this host continues it.
                    Err(RuntimeError::ImportedPrompt(_)) => {
                        self.prompt(runtime, id, before.entries.len()).await?;
                    }
                    resumed => done("resume", resumed)?,
                }
            } else {
                self.prompt(runtime, id, before.entries.len()).await?;
            }
            let waited = tokio::time::timeout(DEADLINE, runtime.wait(id)).await;
            done("wait", waited.map_err(|_| CheckError::Hangs("a session"))?)?;
            let after = Session::read(runtime, id).await?;
            self.compare_calls(id, before, &after);
            self.compare_requests(id, &after, &recorder.requests_of(id));
        }
        let left = done("interrupted", runtime.interrupted().await)?;
        if !left.is_empty() {
            self.finding(format!(
                "everything is settled, but interrupted() is {left:?}"
            ));
        }
        Ok(())
    }

    /// A staged revert can be staged again, cleared, and staged once more.
    async fn stage_again(
        &mut self,
        runtime: &Runtime,
        id: &SessionID,
        before: &Session,
        boundary: &MessageID,
    ) -> Result<(), CheckError> {
        for is_cleared in [false, true, false] {
            if is_cleared {
                done("clear", runtime.clear_revert(id).await)?;
            } else {
                let request = StageRevert {
                    session_id: id.clone(),
                    message_id: boundary.clone(),
                    part_id: None,
                    exact: true,
                    files: true,
                };
                done("stage", runtime.stage_revert(request).await)?;
            }
            let staged = done("session", runtime.session(id).await)?.revert;
            let staged = staged.map(|revert| revert.message_id);
            kept::compare(before, staged.as_ref(), &mut self.findings);
            if staged != (!is_cleared).then(|| boundary.clone()) {
                self.finding(format!("{id} has {staged:?} staged, cleared {is_cleared}"));
            }
        }
        Ok(())
    }

    async fn prompt(
        &mut self,
        runtime: &Runtime,
        session: &SessionID,
        entries: usize,
    ) -> Result<(), CheckError> {
        let text = format!("Prompt after all, {session} {entries}");
        let id = format!("msg_after-{session}-{entries}");
        let asked = Asked {
            session: session.clone(),
            id: MessageID::parse(&id).ok(),
            prompt: PromptInput {
                text,
                files: None,
                agents: None,
            },
            delivery: Delivery::Steer,
            resume: true,
        };
        let receipt = done("prompt", runtime.prompt(asked.request()).await)?;
        self.lines.push(Line::Asked(asked));
        self.lines.push(Line::Admitted { receipt });
        Ok(())
    }

    fn compare_calls(&mut self, id: &SessionID, before: &Session, after: &Session) {
        let news = &after.entries[before.entries.len()..];
        let first_step = news.iter().position(|entry| entry.name() == "step.started");
        let first = first_step.map_or(news, |step| &news[..step]);
        let is_reverted = first.iter().any(|entry| entry.name() == "revert.committed");
        let open = match is_reverted {
            false => open_calls(id, &before.entries),
            true => Vec::new(),
        };
        let failed = first.iter();
        let failed = failed.filter(|entry| entry.name() == "tool.failed");
        let failed: Vec<_> = failed.filter_map(|entry| call_of(id, entry)).collect();
        if failed != open {
            self.finding(format!(
                "the calls {open:?} of {id} were open; failed were {failed:?}"
            ));
        }
        let left = open_calls(id, &after.entries);
        let answers = open_answers(after);
        if !left.is_empty()
            || !answers.is_empty()
            || !after.inbox.is_empty()
            || first_step.is_none()
        {
            let inbox = &after.inbox;
            self.finding(format!(
                "{id} is not settled: calls {left:?}, answers {answers:?}, inbox {inbox:?}"
            ));
        }
    }

    fn compare_requests(&mut self, id: &SessionID, after: &Session, requests: &[LlmRequest]) {
        for request in requests {
            if let Err(problem) = check_request(request) {
                self.finding(format!("a request of {id} is not valid: {problem}"));
            }
            told::check(id, request, &mut self.findings);
        }
        let said = requests.last().map(assistant_texts).unwrap_or_default();
        let promoted = promoted_in(after);
        if said != promoted {
            self.finding(format!(
                "the model heard {said:?} in {id}, promoted is {promoted:?}"
            ));
        }
    }
}

/// The problem with the answer to a repeated prompt, if there is one.
fn retry_problem(
    prompt: &Prompt,
    answer: &Result<SessionInputAdmitted, RuntimeError>,
) -> Option<&'static str> {
    match (answer, prompt.withdrawal) {
        (Err(RuntimeError::PromptConflict(_)), Progress::Asked | Progress::Done) => None,
        (Err(_), _) => Some("it was refused"),
        (Ok(_), Progress::Done) => Some("it was withdrawn and is there again"),
        (Ok(receipt), _) => {
            let former = prompt.receipts.first()?;
            let same = former.admitted_seq == receipt.admitted_seq && former.id == receipt.id;
            (!same).then_some("it was admitted once more")
        }
    }
}

/// The calls without an end, in the order of their beginnings.
fn open_calls(session: &SessionID, entries: &[Entry]) -> Vec<ActingCall> {
    let mut open = Vec::new();
    for entry in entries {
        if entry.name() == "revert.committed" {
            // All open calls were in the newest answer, which the revert has removed.
            open.clear();
        }
        let Some(call) = call_of(session, entry) else {
            continue;
        };
        match entry.name() {
            "tool.input.started" => open.push(call),
            "tool.success" | "tool.failed" => open.retain(|other| *other != call),
            _ => {}
        }
    }
    open
}

/// The assistant messages that are not completed.
fn open_answers(session: &Session) -> Vec<&MessageID> {
    let messages = session.messages.iter();
    let answers = messages.filter_map(|(_, message)| match message {
        SessionMessage::Assistant(answer) => Some(answer),
        _ => None,
    });
    let open = answers.filter(|answer| answer.time.completed.is_none());
    open.map(|answer| &answer.id).collect()
}

fn is_checkpoint(message: &SessionMessage) -> bool {
    matches!(message, SessionMessage::Compaction { .. })
}

/// The prompts in a request, in their order.
fn assistant_texts(request: &LlmRequest) -> Vec<String> {
    let users = request.messages.iter().filter(|it| it.role == Role::User);
    let parts = users.flat_map(|message| message.content.iter());
    let texts = parts.filter_map(|part| match part {
        Part::Text(text) => Some(text.text.to_string()),
        _ => None,
    });
    texts.filter(|text| text.starts_with("Prompt ")).collect()
}

/// The prompts that were promoted since the newest checkpoint, in their order.
fn promoted_in(session: &Session) -> Vec<String> {
    let mut parts = session
        .messages
        .rsplit(|(_, message)| is_checkpoint(message));
    let messages = parts.next().unwrap_or_default();
    let users = messages.iter().filter_map(|(_, message)| match message {
        SessionMessage::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    users.collect()
}
