//! Requests of a session begin with the bytes of the one before, so that providers know them.

use opencode_llm::protocol::adapter;
use opencode_llm::{LlmRequest, PrefixCache};
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Reply, ScriptedSource, output};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The request as it goes over the wire, written by somebody who knows nothing of the session.
fn wire(request: &LlmRequest) -> String {
    let fresh = LlmRequest {
        prefix: PrefixCache::default(),
        ..request.clone()
    };
    let written = adapter(request.model.protocol).encode(&fresh);
    String::from_utf8(written.unwrap().body).unwrap()
}

/// What every protocol of OpenAI's calls the conversation.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
}

/// System parts and messages as they are written, without what closes the last of them.
fn prefix(request: &LlmRequest) -> String {
    let wire = wire(request);
    let body: Body<'_> = serde_json::from_str(&wire).unwrap();
    let messages = body.messages.get().trim_end_matches(']');
    messages.trim_end_matches(['"', '}', ']']).to_owned()
}

/// The turns whose request does not begin with what the one before said.
fn breaks(requests: &[LlmRequest]) -> Vec<usize> {
    let prefixes: Vec<_> = requests.iter().map(prefix).collect();
    let pairs = prefixes.windows(2).enumerate();
    let broken = pairs.filter(|(_, pair)| !pair[1].starts_with(&pair[0]));
    broken.map(|(at, _)| at + 1).collect()
}

/// What happens before a turn.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// The turn uses a tool, which makes it two.
    Tool,
    NextDay,
    Rules(&'static str),
    NoRules,
    Skill(&'static str),
    NoSkill,
    Agent(&'static str),
    Model(&'static str),
    Restart,
    Source(&'static str),
}

use Before::{
    Agent, Model, NextDay, NoRules, NoSkill, Nothing, Restart, Rules, Skill, Source, Tool,
};

/// One turn each, and two where a tool is used.
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

const SKILL: &str = ".opencode/skill/greet/SKILL.md";

async fn happens(f: &mut Fixture, session: &SessionID, before: Before, source: &ScriptedSource) {
    match before {
        Nothing | Tool => {}
        NextDay => f.clock.advance(DAY),
        Rules(text) => f.project.write("AGENTS.md", text),
        NoRules => std::fs::remove_file(f.project.path("AGENTS.md")).unwrap(),
        Skill(text) => f.project.write(
            SKILL,
            &format!("---\nname: greet\ndescription: {text}\n---\nSay hello.\n"),
        ),
        NoSkill => std::fs::remove_file(f.project.path(SKILL)).unwrap(),
        Agent(agent) => f.switch_agent(session, agent).await,
        Model(model) => f.switch_model(session, model).await,
        Source(value) => drop(source.tell(value)),
        Restart => {
            f.reopen().await;
            std::mem::forget(f.contribute(&f.project.directory(), source));
        }
    }
}

/// A session that lives through the story, the numbers of the requests before which the agent was
/// switched, and how many requests each part of the story took.
async fn lived() -> (Fixture, SessionID, Vec<usize>) {
    let mut f = Fixture::open().await;
    f.project.write("AGENTS.md", "Be brief.");
    f.project.write("inner/a.txt", "");
    f.project.git();
    f.tool("echo", |input, _| async { output(input) });
    let session = f.session_on("m1").await;
    let source = ScriptedSource::new("acme/rules");
    std::mem::forget(f.contribute(&f.project.directory(), &source));
    let mut switches = Vec::new();
    for (turn, before) in STORY.into_iter().enumerate() {
        happens(&mut f, &session, before, &source).await;
        if matches!(before, Agent(_)) {
            switches.push(f.model.requests().len());
        }
        if matches!(before, Tool) {
            let call = Reply::new().text("Let me see.");
            let call = call.call("c1", "echo", json!({"text": "<&>\n\"x\""}));
            f.model.reply(call.tool_calls());
        }
        f.model.reply(Reply::says(&format!("Answer {turn}.")));
        f.ask(&session, &format!("Question {turn}?")).await;
    }
    (f, session, switches)
}

#[tokio::test]
async fn thirty_turns_go_on_from_each_other_except_where_the_agent_has_a_text_of_its_own() {
    let (f, session, switches) = lived().await;
    let requests = f.model.requests();
    let tools = STORY.iter().filter(|it| matches!(it, Tool)).count();
    assert_eq!(requests.len(), STORY.len() + tools);
    assert_eq!(breaks(&requests), switches);
    // One epoch: everything that changed was told, and the baseline stayed.
    for request in &requests {
        assert_eq!(request.system.last(), requests[0].system.last());
    }
    let told = STORY.iter().filter(|it| {
        matches!(
            it,
            NextDay | Rules(_) | NoRules | Skill(_) | NoSkill | Model(_) | Source(_)
        )
    });
    let updates = f.payloads(&session, "context.updated").await;
    assert_eq!(updates.len(), told.count());
    // Only a move gives another one.
    let inner = f.project.path("inner");
    f.move_to(&session, inner.to_string_lossy()).await;
    f.model.reply(Reply::says("Moved."));
    f.ask(&session, "Where?").await;
    assert_ne!(
        f.model.last_request().system.last(),
        requests[0].system.last()
    );
}

/// Those who know what was written before write the same as those who know nothing.
#[tokio::test]
async fn what_is_kept_of_a_request_does_not_show_in_the_next() {
    let (f, ..) = lived().await;
    for request in f.model.requests() {
        let written = adapter(request.model.protocol).encode(&request).unwrap();
        assert_eq!(String::from_utf8(written.body).unwrap(), wire(&request));
    }
}

/// The comparison notices a difference.
#[tokio::test]
async fn a_prefix_that_breaks_is_seen() {
    let (f, ..) = lived().await;
    let mut requests = f.model.requests();
    requests.truncate(4);
    assert_eq!(breaks(&requests), [0; 0]);
    let part = opencode_llm::SystemPart::new("Another one.");
    requests[2].system[1] = part;
    assert_eq!(breaks(&requests), [2, 3]);
}
