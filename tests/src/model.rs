//! The model of the load. It gives every kind of answer that an engine must record, valid and broken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::unfold;
use opencode_llm::{
    ErrorKind, EventStream, LlmError, LlmErrorReason, LlmRequest, ModelClient, Part, Prefix,
    PrefixReport, Role,
};
use opencode_protocols::adapter;
use opencode_schema::id::SessionID;
use opencode_testkit::{Reply, ScriptedModel, check_request};
use serde_json::json;

use crate::journal::{Act, Journal};
use crate::line::{Line, say};
use crate::point::{FIRST_OUTPUT, FailPoints, SENDING};
use crate::random::Random;
use crate::tools::{BREAKS, SLOW, WORK};

/// The header with the session of a request.
const SESSION_HEADER: &str = "X-Session-Id";
/// Separator in a prompt that requests a file. The text after it is the content of the file.
pub const KEEP: &str = " keep ";
/// Path of that file.
pub const KEPT_FILE: &str = "kept.txt";
/// Suffix of prompts with a delayed answer, so that a caller can interrupt them before the first output.
pub const SILENT: &str = " silent";
/// Delay of such an answer.
const SILENCE: Duration = Duration::from_millis(300);
/// Number of files of a project that the model writes repeatedly.
const FILES: usize = 5;
/// Maximum number of successive turns with tool calls.
const ROUNDS: usize = 3;

/// A kind of answer.
#[derive(Clone, Copy)]
enum Kind {
    Says,
    Thinks,
    Talks,
    CallsOne,
    CallsTwo,
    CallsThree,
    Runs,
    Changes,
    Delegates,
    Plans,
    RefusesMidway,
    RefusesBesideTool,
    NeverAnswers,
    IsBusy,
    BreaksInText,
    BreaksInArguments,
}

const KINDS: [Kind; 21] = [
    Kind::Says,
    Kind::Thinks,
    Kind::Talks,
    Kind::CallsOne,
    Kind::CallsTwo,
    Kind::CallsThree,
    Kind::RefusesMidway,
    Kind::RefusesBesideTool,
    Kind::NeverAnswers,
    Kind::IsBusy,
    Kind::BreaksInText,
    Kind::BreaksInArguments,
    Kind::CallsOne,
    Kind::CallsTwo,
    Kind::CallsThree,
    Kind::Runs,
    Kind::Runs,
    Kind::Changes,
    Kind::Changes,
    Kind::Delegates,
    Kind::Plans,
];

/// Gives every kind of answer in turn, in an order that depends on the seed. It records each
/// request in the journal.
pub struct LoadModel {
    script: ScriptedModel,
    watch: Arc<Watch>,
}

/// The journal and the fail points that each request passes.
struct Watch {
    journal: Arc<Journal>,
    points: Arc<FailPoints>,
    seed: u64,
}

impl LoadModel {
    /// The model for a seed.
    #[must_use]
    pub fn new(seed: u64, journal: Arc<Journal>, points: Arc<FailPoints>) -> Self {
        let mut kinds = KINDS;
        Random::new(seed).shuffle(&mut kinds);
        let asked = AtomicUsize::new(0);
        let watch = Arc::new(Watch {
            journal,
            points,
            seed,
        });
        let script = ScriptedModel::new();
        let answering = Arc::clone(&watch);
        script.otherwise(move |request| {
            let number = asked.fetch_add(1, Ordering::Relaxed);
            answering.answer(kinds[number % kinds.len()], number, request)
        });
        Self { script, watch }
    }
}

impl ModelClient for LoadModel {
    fn stream(&self, request: LlmRequest) -> EventStream {
        enum Reading {
            Fresh(Arc<Watch>, EventStream, Box<LlmRequest>),
            Begun(EventStream, Random),
        }
        let stream = self.script.stream(request.clone());
        let fresh = Reading::Fresh(Arc::clone(&self.watch), stream, Box::new(request));
        Box::pin(unfold(fresh, |reading| async {
            match reading {
                Reading::Fresh(watch, mut stream, request) => {
                    let session = session_of(&request);
                    watch.sends(&request, &session);
                    let mut pauses = Random::part(watch.seed, request.messages.len() as u64);
                    pause(&mut pauses).await;
                    if is_silent(&request) {
                        tokio::time::sleep(SILENCE).await;
                    }
                    let item = stream.next().await?;
                    watch.points.pass(FIRST_OUTPUT, Some(&session));
                    Some((item, Reading::Begun(stream, pauses)))
                }
                Reading::Begun(mut stream, mut pauses) => {
                    pause(&mut pauses).await;
                    let item = stream.next().await?;
                    Some((item, Reading::Begun(stream, pauses)))
                }
            }
        }))
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        adapter(request.model.protocol).prefix(request, former)
    }
}

impl Watch {
    fn answer(&self, kind: Kind, number: usize, request: &LlmRequest) -> Reply {
        if let Some(content) = to_keep(request) {
            return match rounds(request) {
                0 => keeps(&content),
                _ => answer(Kind::Says, number),
            };
        }
        match kind {
            Kind::CallsOne
            | Kind::CallsTwo
            | Kind::CallsThree
            | Kind::Runs
            | Kind::Changes
            | Kind::Delegates
            | Kind::Plans
                if rounds(request) >= ROUNDS =>
            {
                answer(Kind::Says, number)
            }
            Kind::Runs => self.runs(number),
            kind => answer(kind, number),
        }
    }

    /// A command in parallel with another call. Its effect is a line in the journal. It takes a
    /// moment, and it leaves a process in the background.
    fn runs(&self, number: usize) -> Reply {
        let adds = self.journal.adding(&format!("{}-{number}", self.seed));
        let command = format!(
            "sleep 600 > /dev/null 2>&1 & {adds}; sleep 0.00{}",
            number % 10
        );
        let calls = Reply::new().call("call-1", "bash", json!({"command": command}));
        calls
            .call("call-2", SLOW, json!({"number": number}))
            .tool_calls()
    }

    fn sends(&self, request: &LlmRequest, session: &SessionID) {
        if let Err(problem) = check_request(request) {
            say(&Line::Problem {
                text: format!("a request of {session} is not valid: {problem}"),
            });
        }
        if let Some(act) = Act::sending(session, request) {
            self.journal.add(&act);
        }
        self.points.pass(SENDING, Some(session));
    }
}

/// The session of a request.
#[must_use]
pub fn session_of(request: &LlmRequest) -> SessionID {
    let headers = request.http.headers.iter();
    let mut named = headers.filter(|(name, _)| name == SESSION_HEADER);
    let (_, session) = named.next().expect("a request names its session");
    SessionID::parse(session).expect("the header holds a session id")
}

/// Yields to other tasks, and sometimes sleeps, so that kills and prompts hit streams in the middle.
async fn pause(random: &mut Random) {
    match random.below(4) {
        0 => tokio::time::sleep(Duration::from_micros(random.below(1500) as u64)).await,
        _ => tokio::task::yield_now().await,
    }
}

fn answer(kind: Kind, number: usize) -> Reply {
    let text = format!("Answer {number}: \u{e4}\u{1f41a}");
    let call = |reply: Reply, n: usize, tool: &str| {
        reply.call(
            &format!("call-{n}"),
            tool,
            json!({"number": number, "n": n}),
        )
    };
    match kind {
        Kind::Says | Kind::Runs => Reply::says(&text),
        Kind::Thinks => Reply::new()
            .reasoning("Let me see.", None)
            .text(&text)
            .stop(),
        Kind::Talks => {
            let begun = Reply::new().begin_text();
            let long = (0..20).fold(begun, |reply, n| reply.delta(&format!("piece {n} ")));
            long.end_text().stop()
        }
        Kind::CallsOne => call(Reply::new().text(&text), 1, WORK).tool_calls(),
        Kind::CallsTwo => call(call(Reply::new(), 1, SLOW), 2, WORK).tool_calls(),
        Kind::CallsThree => {
            let two = call(call(Reply::new().text(&text), 1, WORK), 2, BREAKS);
            call(two, 3, SLOW).tool_calls()
        }
        Kind::Changes => changes(number),
        // A task starts another session with a prompt.
        Kind::Delegates => {
            let prompt = format!("Prompt of task {number}");
            let task = json!({"description": "Some work", "prompt": prompt, "agent": "general"});
            let calls = call(Reply::new(), 1, WORK);
            calls.call("call-2", "task", task).tool_calls()
        }
        Kind::Plans => {
            let todo = json!({"content": text, "status": "pending", "priority": "low"});
            let calls = call(Reply::new(), 1, WORK);
            calls
                .call("call-2", "todowrite", json!({"todos": [todo]}))
                .tool_calls()
        }
        Kind::RefusesMidway => {
            let begun = Reply::new().begin_text().delta(&text);
            begun.provider_error("The provider is overloaded", ErrorKind::Overloaded)
        }
        Kind::RefusesBesideTool => {
            let calls = call(Reply::new(), 1, SLOW);
            calls.provider_error("The provider is overloaded", ErrorKind::Overloaded)
        }
        Kind::NeverAnswers => Reply::fails(LlmError::invalid_request("The provider refuses")),
        // Another model takes over.
        Kind::IsBusy => {
            let reason = LlmErrorReason::RateLimit {
                retry_after_ms: None,
            };
            Reply::fails(LlmError::new(reason, "The provider is busy"))
        }
        Kind::BreaksInText => Reply::new().begin_text().delta(&text).fail(broken()),
        Kind::BreaksInArguments => {
            let calls = call(Reply::new(), 1, WORK);
            calls.begin_call("call-2", WORK, "{\"n\":").fail(broken())
        }
    }
}

/// The content that the newest prompt requests for the file.
fn to_keep(request: &LlmRequest) -> Option<String> {
    let mut kept = newest_texts(request).filter_map(kept_by);
    kept.next_back().map(str::to_owned)
}

/// True if the answer is delayed.
fn is_silent(request: &LlmRequest) -> bool {
    newest_texts(request).any(|text| text.ends_with(SILENT))
}

/// The texts of the newest user message.
fn newest_texts(request: &LlmRequest) -> impl DoubleEndedIterator<Item = &str> {
    let mut messages = request.messages.iter().rev();
    let newest = messages.find(|message| message.role == Role::User);
    let parts = newest.map_or(&[][..], |message| &message.content);
    parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(&*text.text),
        _ => None,
    })
}

/// The content that a prompt requests for the file, if it is such a prompt.
#[must_use]
pub fn kept_by(prompt: &str) -> Option<&str> {
    prompt.split_once(KEEP).map(|(_, content)| content)
}

fn keeps(content: &str) -> Reply {
    let write = json!({"path": KEPT_FILE, "content": content});
    Reply::new().call("call-1", "write", write).tool_calls()
}

/// Writes one file and edits another in parallel. The edit fails if its file does not exist yet.
fn changes(number: usize) -> Reply {
    let path = |n: usize| format!("file-{}.txt", n % FILES);
    let write = json!({"path": path(number), "content": format!("{number}\n")});
    let edit = json!({"path": path(number + 1), "oldString": "\n", "newString": " once more\n"});
    let calls = Reply::new().call("call-1", "write", write);
    calls.call("call-2", "edit", edit).tool_calls()
}

fn broken() -> LlmError {
    LlmError::invalid_output("mock", "The connection is gone")
}

/// Number of tool messages after the newest user message.
fn rounds(request: &LlmRequest) -> usize {
    let newest = request.messages.iter().rev();
    let since = newest.take_while(|message| message.role != Role::User);
    since.filter(|message| message.role == Role::Tool).count()
}
