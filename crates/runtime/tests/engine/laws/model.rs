//! The model of the stories: it answers by plan, can hang, and checks its requests.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use futures::{StreamExt, stream};
use opencode_llm::{
    ErrorKind, EventStream, LlmError, LlmRequest, ModelClient, Prefix, PrefixReport, Role,
};
use opencode_schema::id::SessionID;
use opencode_testkit::{Gate, Reply};
use proptest::prelude::*;
use serde_json::json;

/// The answer of the model to one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    says: Says,
    /// True if the answer hangs in the middle until it is released.
    held: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Text,
    /// No output until the answer is released, then a text.
    Late,
    Call,
    /// Two calls. One of them hangs.
    Calls,
    /// The exchange breaks.
    Breaks,
    /// The exchange breaks within the arguments of a call.
    BreaksCall,
    /// The provider reports an error.
    Errs,
}

pub(super) fn answer() -> impl Strategy<Value = Answer> {
    let says = prop_oneof![
        3 => Just(Says::Text),
        1 => Just(Says::Late),
        2 => Just(Says::Call),
        2 => Just(Says::Calls),
        1 => Just(Says::Breaks),
        1 => Just(Says::BreaksCall),
        1 => Just(Says::Errs),
    ];
    (says, prop::bool::weighted(0.6)).prop_map(|(says, held)| Answer { says, held })
}

/// The shared state of all models of a story.
pub(super) struct Board {
    plan: Mutex<Plan>,
}

struct Plan {
    answers: VecDeque<Answer>,
    /// The gates that are still closed, oldest first.
    gates: VecDeque<Gate>,
    /// True if nothing hangs.
    open: bool,
    made: usize,
    asked: HashMap<String, Asked>,
    problems: Vec<String>,
}

/// The requests of one session.
#[derive(Default)]
struct Asked {
    requests: usize,
    /// Number of prompts that have had a turn or were stopped.
    prompts: usize,
    /// True if the newest answer waits for results, and nothing has come in between.
    continues: bool,
    /// Number of requests without a new prompt that a caller has asked for.
    allowed: usize,
}

impl Board {
    pub(super) fn new(answers: Vec<Answer>) -> Self {
        Self {
            plan: Mutex::new(Plan {
                answers: answers.into(),
                gates: VecDeque::new(),
                open: false,
                made: 0,
                asked: HashMap::new(),
                problems: Vec::new(),
            }),
        }
    }

    /// The next answer.
    pub(super) fn reply(&self, request: &LlmRequest) -> Reply {
        let mut plan = self.plan();
        let (says, held) = match plan.answers.pop_front() {
            Some(Answer { says, held }) => (says, held),
            None => (Says::Text, false),
        };
        plan.note(request, matches!(says, Says::Call | Says::Calls));
        plan.made += 1;
        let id = |n| format!("c{}-{n}", plan.made);
        let reply = match says {
            Says::Text => Reply::new().begin_text().delta("Half. "),
            Says::Late => Reply::nothing(),
            Says::Call => Reply::new().call(&id(1), "echo", json!({})),
            Says::Calls => {
                Reply::new()
                    .call(&id(1), "slow", json!({}))
                    .call(&id(2), "echo", json!({}))
            }
            Says::Breaks | Says::Errs => Reply::new().begin_text().delta("Not "),
            Says::BreaksCall => {
                Reply::new()
                    .call(&id(1), "echo", json!({}))
                    .begin_call(&id(2), "echo", "{")
            }
        };
        let reply = match held || says == Says::Late {
            true => reply.hold(&plan.gate()),
            false => reply,
        };
        match says {
            Says::Text => reply.delta("All.").end_text().stop(),
            Says::Late => reply.text("Late.").stop(),
            Says::Call | Says::Calls => reply.tool_calls(),
            Says::Breaks | Says::BreaksCall => reply.fail(LlmError::invalid_output("mock", "cut")),
            Says::Errs => reply.provider_error("overloaded", ErrorKind::Overloaded),
        }
    }

    /// A gate that stays closed until it is released.
    pub(super) fn gate(&self) -> Gate {
        self.plan().gate()
    }

    pub(super) fn release(&self) {
        if let Some(gate) = self.plan().gates.pop_front() {
            gate.release();
        }
    }

    /// Opens all gates, also those made from now on.
    pub(super) fn open(&self) {
        let mut plan = self.plan();
        plan.open = true;
        plan.gates.drain(..).for_each(|gate| gate.release());
    }

    pub(super) fn close(&self) {
        self.plan().open = false;
    }

    /// Makes every further answer a text.
    pub(super) fn forget_answers(&self) {
        self.plan().answers.clear();
    }

    /// Records that a caller asked for a run.
    pub(super) fn may_run(&self, session: &SessionID) {
        self.plan().asked(session.as_str()).allowed += 1;
    }

    /// Records that an interruption has returned or a new process has begun, after this number of
    /// promotions. Returns the number of requests until then.
    pub(super) fn stopped(&self, session: &SessionID, promoted: usize) -> usize {
        let mut plan = self.plan();
        let asked = plan.asked(session.as_str());
        (asked.prompts, asked.continues) = (promoted, false);
        asked.requests
    }

    pub(super) fn requests(&self, session: &SessionID) -> usize {
        self.plan().asked(session.as_str()).requests
    }

    /// True if the newest answer waits for results that the model has not received.
    pub(super) fn has_pending_work(&self, session: &SessionID) -> bool {
        self.plan().asked(session.as_str()).continues
    }

    pub(super) fn problems(&self) -> Vec<String> {
        self.plan().problems.clone()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap()
    }
}

impl Plan {
    fn gate(&mut self) -> Gate {
        let gate = Gate::new();
        if self.open {
            gate.release();
        } else {
            self.gates.push_back(gate.clone());
        }
        gate
    }

    fn asked(&mut self, session: &str) -> &mut Asked {
        self.asked.entry(session.to_owned()).or_default()
    }

    /// Records a request. It needs a reason: a new prompt, results, or a caller that asked for it.
    fn note(&mut self, request: &LlmRequest, calls: bool) {
        let session = session(request);
        let prompts = request.messages.iter().filter(|it| it.role == Role::User);
        let prompts = prompts.count();
        let results = request
            .messages
            .last()
            .is_some_and(|it| it.role == Role::Tool);
        let asked = self.asked(session);
        asked.requests += 1;
        let has_reason = prompts > asked.prompts || results && asked.continues;
        (asked.prompts, asked.continues) = (prompts, calls);
        if has_reason {
            return;
        }
        if asked.allowed > 0 {
            asked.allowed -= 1;
            return;
        }
        let number = asked.requests;
        let problem = format!("request {number} of {session} has no reason");
        self.problems.push(problem);
    }
}

/// The model of one host. A session has at most one request in progress.
pub(super) struct Watched {
    model: Arc<dyn ModelClient>,
    board: Arc<Board>,
    busy: Arc<Mutex<HashSet<String>>>,
}

impl Watched {
    pub(super) fn new(model: Arc<dyn ModelClient>, board: Arc<Board>) -> Self {
        Self {
            model,
            board,
            busy: Arc::default(),
        }
    }
}

impl ModelClient for Watched {
    fn stream(&self, request: LlmRequest) -> EventStream {
        let session = session(&request).to_owned();
        let (board, busy) = (Arc::clone(&self.board), Arc::clone(&self.busy));
        let answer = self.model.stream(request);
        let begun = async move {
            if !busy.lock().unwrap().insert(session.clone()) {
                let problem = format!("two requests of {session} at one time");
                board.plan().problems.push(problem);
            }
            Under { busy, session }
        };
        let answer = stream::once(begun).flat_map({
            let mut answer = Some(answer);
            move |under| {
                let answer = answer.take().into_iter();
                let answer = stream::iter(answer).flatten();
                answer.map(move |event| {
                    let _under = &under;
                    event
                })
            }
        });
        Box::pin(answer)
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        self.model.prefix(request, former)
    }
}

/// The session of a request.
fn session(request: &LlmRequest) -> &str {
    let headers = &request.http.headers;
    let session = headers.iter().find(|it| it.0 == "X-Session-Id");
    &session.unwrap().1
}

/// Marks a request as in progress until the value is dropped.
struct Under {
    busy: Arc<Mutex<HashSet<String>>>,
    session: String,
}

impl Drop for Under {
    fn drop(&mut self) {
        self.busy.lock().unwrap().remove(&self.session);
    }
}
