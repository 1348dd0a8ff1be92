//! Each request of a session begins with the bytes of the previous one, so that the cache of the
//! provider applies.

use opencode_llm::{LlmRequest, PrefixCache, short_hash};
use opencode_protocols::adapter;
use opencode_runtime::{ForkSession, StageRevert};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::SessionMessage;
use opencode_testkit::{Fixture, Reply, ScriptedSource, compact, output};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The body of the request on the wire, encoded without the cache of the session.
fn wire(request: &LlmRequest) -> String {
    let fresh = LlmRequest {
        prefix: PrefixCache::default(),
        ..request.clone()
    };
    let written = adapter(request.model.protocol).encode(&fresh);
    String::from_utf8(written.unwrap().body).unwrap()
}

/// The conversation in the body of an OpenAI Chat request.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
}

/// System parts and messages in their encoded form, without the closing characters of the last one.
fn prefix(request: &LlmRequest) -> String {
    let wire = wire(request);
    let body: Body<'_> = serde_json::from_str(&wire).unwrap();
    let messages = body.messages.get().trim_end_matches(']');
    messages.trim_end_matches(['"', '}', ']']).to_owned()
}

/// The indexes of the requests that do not begin with the prefix of the previous one.
fn breaks(requests: &[LlmRequest]) -> Vec<usize> {
    let prefixes: Vec<_> = requests.iter().map(prefix).collect();
    let pairs = prefixes.windows(2).enumerate();
    let broken = pairs.filter(|(_, pair)| !pair[1].starts_with(&pair[0]));
    broken.map(|(at, _)| at + 1).collect()
}

/// The event before a turn.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// The turn calls a tool, so it takes two requests.
    Tool,
    /// The same with much output: some of it is pruned two turns later.
    Flood,
    NextDay,
    Rules(&'static str),
    NoRules,
    Skill(&'static str),
    NoSkill,
    Agent(&'static str),
    Model(&'static str),
    Restart,
    Source(&'static str),
    Compaction,
    /// Reverts the last answer and its prompt.
    Revert,
    /// The session moves, and a new epoch begins.
    Move,
}

use Before::{
    Agent, Compaction, Flood, Model, Move, NextDay, NoRules, NoSkill, Nothing, Restart, Revert,
    Rules, Skill, Source, Tool,
};

/// Each event has one turn, or two if a tool is called.
const STORY: [Before; 30] = [
    Nothing,
    Rules("Be kind."),
    Tool,
    NextDay,
    Nothing,
    Skill("How to greet."),
    Source("one"),
    Restart,
    Nothing,
    NextDay,
    Tool,
    Rules("Be <quick> & \"brief\"."),
    Model("m2"),
    Nothing,
    Agent("plan"),
    Nothing,
    Skill("How to greet well."),
    Restart,
    Tool,
    Source("two"),
    NoRules,
    Agent("build"),
    NoSkill,
    Nothing,
    Model("m1"),
    Rules("Be kind."),
    NextDay,
    Restart,
    Tool,
    Nothing,
];

/// Continues the story with pruning, compaction and reverts.
const LATER_CHANGES: [Before; 19] = [
    Flood, Tool, Nothing, Nothing, Flood, Nothing, Nothing, Nothing, Revert, Nothing, Restart,
    Compaction, Nothing, Tool, Move, Restart, Compaction, Restart, Revert,
];

const SKILL: &str = ".opencode/skill/greet/SKILL.md";

/// A session that goes through a story.
struct Life {
    f: Fixture,
    session: SessionID,
    source: ScriptedSource,
    turns: usize,
    /// Indexes of the requests that do not continue the previous one, with the reasons.
    breaks: Vec<(usize, &'static str)>,
    /// Number of turns until output is pruned.
    pruned_in: Option<usize>,
}

impl Life {
    async fn begin() -> Self {
        let f = Fixture::open().await;
        let keep = json!({"compaction": {"keep": {"tokens": 100}}});
        f.project.write("opencode.json", &keep.to_string());
        f.project.write("AGENTS.md", "Be brief.");
        f.project.write("inner/a.txt", "");
        f.project.git();
        f.tool("echo", |input, _| async { output(input) });
        let session = f.session_on("m1").await;
        let source = ScriptedSource::new("acme/rules");
        std::mem::forget(f.contribute(&f.project.directory(), &source));
        Self {
            f,
            session,
            source,
            turns: 0,
            breaks: vec![(0, "first")],
            pruned_in: None,
        }
    }

    /// A session after the story.
    async fn lived() -> Self {
        let mut life = Self::begin().await;
        life.live(&STORY).await;
        life
    }

    async fn live(&mut self, story: &[Before]) {
        for before in story {
            self.pruned_in = self.pruned_in.and_then(|turns| turns.checked_sub(1));
            if self.pruned_in == Some(0) {
                self.breaks_by("pruning");
            }
            self.happens(*before).await;
            self.answer(*before);
            let question = format!("Question {}?", self.turns);
            self.f.ask(&self.session, &question).await;
            self.turns += 1;
        }
    }

    /// The requests of Provider Turns. Requests for a summary have no system text.
    fn requests(&self) -> Vec<LlmRequest> {
        let mut requests = self.f.model.requests();
        requests.retain(|request| !request.system.is_empty());
        requests
    }

    fn breaks_by(&mut self, reason: &'static str) {
        self.breaks.push((self.requests().len(), reason));
    }

    /// Indexes of the requests with changed bytes. A switch of the model does not change them.
    fn broken(&self) -> Vec<usize> {
        let mut breaks = self.breaks.clone();
        breaks.retain(|(_, reason)| !["first", "model"].contains(reason));
        breaks.into_iter().map(|(at, _)| at).collect()
    }

    async fn happens(&mut self, before: Before) {
        let (f, session) = (&mut self.f, &self.session);
        match before {
            Nothing | Tool => {}
            Flood => self.pruned_in = Some(3),
            NextDay => f.clock.advance(DAY),
            Rules(text) => f.project.write("AGENTS.md", text),
            NoRules => std::fs::remove_file(f.project.path("AGENTS.md")).unwrap(),
            Skill(text) => f.project.write(
                SKILL,
                &format!("---\nname: greet\ndescription: {text}\n---\nSay hello.\n"),
            ),
            NoSkill => std::fs::remove_file(f.project.path(SKILL)).unwrap(),
            Agent(agent) => {
                f.switch_agent(session, agent).await;
                self.breaks_by("agent");
            }
            Model(model) => {
                f.switch_model(session, model).await;
                self.breaks_by("model");
            }
            Source(value) => drop(self.source.set(value)),
            Restart => {
                f.reopen().await;
                std::mem::forget(f.contribute(&f.project.directory(), &self.source));
            }
            Compaction => {
                f.model.reply(Reply::says("So far."));
                let compacted = f.within("compact", f.runtime().compact(session)).await;
                compacted.unwrap();
                self.breaks_by("compaction");
            }
            Revert => {
                let messages = f.messages(session).await;
                let boundary = json!(messages[messages.len() - 3])["id"].clone();
                let staged = f.runtime().stage_revert(StageRevert {
                    session_id: session.clone(),
                    message_id: serde_json::from_value(boundary).unwrap(),
                    part_id: None,
                    exact: true,
                    files: false,
                });
                f.within("stage", staged).await.unwrap();
                self.breaks_by("revert");
            }
            Move => {
                let inner = f.project.path("inner");
                f.move_to(session, inner.to_string_lossy()).await;
                self.breaks_by("move");
            }
        }
    }

    fn answer(&self, before: Before) {
        let calls = match before {
            Tool => vec![json!({"text": "<&>\n\"x\""})],
            Flood => (0..8)
                .map(|n| json!({"n": n, "text": "x".repeat(40_000)}))
                .collect(),
            _ => Vec::new(),
        };
        if !calls.is_empty() {
            let reply = Reply::new().text("Let me see.");
            let calls = calls.into_iter().enumerate();
            let reply = calls.fold(reply, |reply, (n, input)| {
                reply.call(&format!("c{n}"), "echo", input)
            });
            self.f.model.reply(reply.tool_calls());
        }
        self.f
            .model
            .reply(Reply::says(&format!("Answer {}.", self.turns)));
    }
}

/// The tool calls that are recorded as pruned, event by event.
async fn pruned(life: &Life) -> Vec<Vec<String>> {
    let events = life.f.payloads(&life.session, "pruned").await;
    let calls = |event: &Value| -> Vec<String> {
        let calls = event["calls"].as_array().unwrap().iter();
        calls
            .map(|call| call["callID"].as_str().unwrap().to_owned())
            .collect()
    };
    events.iter().map(calls).collect()
}

#[tokio::test]
async fn thirty_turns_extend_each_other_except_for_agents_with_their_own_text() {
    let life = Life::lived().await;
    let requests = life.requests();
    let tools = STORY.iter().filter(|it| matches!(it, Tool)).count();
    assert_eq!(requests.len(), STORY.len() + tools);
    assert_eq!(breaks(&requests), life.broken());
    // There is one epoch: each change was an update, and the baseline stayed the same.
    for request in &requests {
        assert_eq!(request.system.last(), requests[0].system.last());
    }
    let told = STORY.iter().filter(|it| {
        matches!(
            it,
            NextDay | Rules(_) | NoRules | Skill(_) | NoSkill | Model(_) | Source(_)
        )
    });
    let updates = life.f.payloads(&life.session, "context.updated").await;
    assert_eq!(updates.len(), told.count());
}

#[tokio::test]
async fn only_pruning_compaction_a_revert_and_a_move_change_the_prefix() {
    let mut life = Life::lived().await;
    life.live(&LATER_CHANGES).await;
    let requests = life.requests();
    assert_eq!(breaks(&requests), life.broken());
    // First the outputs before the flood and the first ones of the flood, then the rest of the
    // flood and the next outputs.
    assert_eq!(
        pruned(&life).await,
        [
            ["c0", "c0", "c0", "c0", "c0", "c1", "c2", "c3", "c4"],
            ["c5", "c6", "c7", "c0", "c0", "c1", "c2", "c3", "c4"],
        ]
    );
}

/// The report of every request, in order.
async fn reports(life: &Life) -> Vec<Report> {
    let events = life.f.stored(&life.session).await;
    let metadata = events.iter().filter_map(|event| event.metadata.as_deref());
    let report = |metadata| -> Report {
        let metadata: Value = serde_json::from_str(metadata).unwrap();
        serde_json::from_value(metadata["prefix"].clone()).unwrap()
    };
    metadata.map(report).collect()
}

#[derive(Debug, PartialEq, Deserialize)]
struct Report {
    sha256: String,
    bytes: usize,
    reused: usize,
    reason: Option<String>,
}

#[tokio::test]
async fn every_step_records_its_shared_prefix_and_the_reason_for_a_difference() {
    let mut life = Life::lived().await;
    life.live(&LATER_CHANGES).await;
    let requests = life.requests();
    let reports = reports(&life).await;
    assert_eq!(reports.len(), requests.len());
    let mut former = String::new();
    for (at, (request, report)) in requests.iter().zip(&reports).enumerate() {
        let wire = wire(request);
        let body: Body<'_> = serde_json::from_str(&wire).unwrap();
        let said = body.messages.get().strip_prefix('[').unwrap();
        let (prefix, rest) = said.split_at(report.bytes);
        assert!(["]", "\"}]", "]}]"].contains(&rest), "{at}: {rest}");
        assert_eq!(report.sha256.len(), 64, "{at}");
        assert_eq!(report.sha256[..8], short_hash(prefix.as_bytes()), "{at}");
        let same = prefix.bytes().zip(former.bytes());
        let same = same.take_while(|(now, before)| now == before).count();
        // A process that only has the hash of the previous request cannot compare its parts.
        let is_restarted = report.reused == 0 && same < former.len();
        assert!(
            report.reused == same || is_restarted,
            "{at}: {report:?} {same}"
        );
        former = prefix.to_owned();
    }
    let reasons = reports.iter().enumerate();
    let reasons = reasons.filter_map(|(at, it)| Some((at, it.reason.as_deref()?)));
    assert_eq!(reasons.collect::<Vec<_>>(), life.breaks);
}

/// The report of the newest step of a session.
async fn last_report(f: &Fixture, session: &SessionID) -> Report {
    let events = f.stored(session).await;
    let metadata = events.iter().rev().find_map(|it| it.metadata.as_deref());
    let metadata: Value = serde_json::from_str(metadata.unwrap()).unwrap();
    assert_eq!(metadata.get("copied"), None);
    serde_json::from_value(metadata["prefix"].clone()).unwrap()
}

async fn fork(life: &Life, at: Option<&MessageID>) -> SessionID {
    let forked = life.f.runtime().fork_session(ForkSession {
        session_id: life.session.clone(),
        message_id: at.cloned(),
        part_id: None,
    });
    life.f.within("fork", forked).await.unwrap().id
}

#[tokio::test]
async fn a_fork_continues_the_prefix_of_its_source() {
    let mut life = Life::begin().await;
    for story in [
        &[Nothing, Tool][..],
        &STORY,
        &LATER_CHANGES,
        &[Nothing, Tool],
    ] {
        life.live(story).await;
        let sent = life.requests().pop().unwrap();
        let fork = fork(&life, None).await;
        life.f.model.reply(Reply::says("Well."));
        life.f.ask(&fork, "And here?").await;
        let request = life.f.model.last_request();
        assert!(prefix(&request).starts_with(&prefix(&sent)));
        let report = last_report(&life.f, &fork).await;
        let former = last_report(&life.f, &life.session).await;
        assert_eq!((report.reason, report.reused), (None, former.bytes));
        life.f.runtime().remove_session(&fork, false).await.unwrap();
    }
}

#[tokio::test]
async fn a_fork_at_a_prompt_sends_what_its_source_sent_there() {
    let mut life = Life::begin().await;
    life.live(&[Rules("Be kind."), Tool, Nothing, Tool, Nothing])
        .await;
    let requests = life.requests();
    for message in life.f.messages(&life.session).await {
        let SessionMessage::User { id, text, .. } = &message else {
            continue;
        };
        let asked = format!("user: {text}");
        let sent = requests
            .iter()
            .find(|it| compact::messages(it).last() == Some(&asked));
        let fork = fork(&life, Some(id)).await;
        life.f.model.reply(Reply::says("Well."));
        life.f.ask(&fork, text).await;
        let request = life.f.model.last_request();
        assert_eq!(prefix(&request), prefix(sent.unwrap()), "{asked}");
        let reason = last_report(&life.f, &fork).await.reason;
        let is_first = asked.contains("Question 0");
        assert_eq!(reason.as_deref(), is_first.then_some("first"), "{asked}");
    }
}

/// A request has the same bytes with and without the cache of earlier requests.
#[tokio::test]
async fn the_cached_request_does_not_affect_the_next() {
    let life = Life::lived().await;
    for request in life.requests() {
        let written = adapter(request.model.protocol).encode(&request).unwrap();
        assert_eq!(String::from_utf8(written.body).unwrap(), wire(&request));
    }
}

/// Checks that the comparison finds a difference.
#[tokio::test]
async fn a_broken_prefix_is_detected() {
    let mut requests = Life::lived().await.requests();
    requests.truncate(4);
    assert_eq!(breaks(&requests), [0; 0]);
    let part = opencode_llm::SystemPart::new("Another one.");
    requests[2].system[1] = part;
    assert_eq!(breaks(&requests), [2, 3]);
}
