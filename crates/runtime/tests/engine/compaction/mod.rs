//! Compaction from the view of a host: histories that exceed the window of their model.

mod agent;
mod automatic;
mod dispatch;
mod failing;
mod interrupted;
mod laws;
mod manual;
mod overflow;
mod parts;
mod paused;
mod refused;
mod smaller;

use opencode_llm::LlmRequest;
use opencode_schema::id::SessionID;
use opencode_schema::message::SessionMessage;
use opencode_testkit::{Fixture, Reply, compact};
use serde_json::{Value, json};

/// The window of the model in tokens.
const WINDOW: u64 = 20_000;
/// Maximum length of its answers, and so of its summaries, in tokens.
const OUTPUT: u64 = 1_000;
/// Number of tokens that stay verbatim.
const KEEP: usize = 100;

/// A session that compacts requests beyond 12,000 tokens.
async fn open() -> (Fixture, SessionID) {
    with(json!({})).await
}

/// The same with other settings of compaction.
async fn with(settings: Value) -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    configure(&f, settings);
    let session = f.session().await;
    (f, session)
}

fn configure(f: &Fixture, settings: Value) {
    let mut compaction = json!({"buffer": 8_000, "keep": {"tokens": KEEP}});
    let settings = settings.as_object().expect("settings are an object");
    let limit = settings.get("limit").cloned();
    let limit = limit.unwrap_or_else(|| json!({"context": WINDOW, "output": OUTPUT}));
    let settings = settings.iter().filter(|(key, _)| *key != "limit");
    for (key, value) in settings {
        compaction[key] = value.clone();
    }
    let config = json!({
        "agent": {"build": {"prompt": "Build."}},
        "compaction": compaction,
        "provider": {"mock": {"models": {"m1": {"limit": limit}}}},
    });
    f.project.write("opencode.json", &config.to_string());
}

/// A word and a space, repeated for this number of tokens.
fn filler(word: &str, tokens: usize) -> String {
    format!("{word} ").repeat(tokens * 4 / (word.len() + 1))
}

/// Adds a prompt and an answer that fit, but leave no room for another turn.
async fn grown(f: &Fixture, session: &SessionID) -> [String; 2] {
    let said = [filler("alpha", 5_000), filler("beta", 8_000)];
    f.model.reply(Reply::says(&said[1]));
    f.ask(session, &said[0]).await;
    said
}

/// Number of events that `grown` records.
const GROWN: usize = 6;

/// The verbatim part of a checkpoint: the end of the answer of `grown`, and a short prompt.
fn kept(answer: &str, prompt: &str) -> String {
    let prompt = format!("[User]: {prompt}");
    let left = KEEP * 4 - 4 * ((prompt.len() + 2) / 4);
    format!("{}\n\n{prompt}", &answer[answer.len() - left..])
}

/// The events after a number of them. Failures are without their advice.
async fn events_after(f: &Fixture, session: &SessionID, count: usize) -> Vec<String> {
    let events = f.events_after(session, count).await.into_iter();
    let without_advice = |event: String| match event.split_once(". The request has about ") {
        Some((failure, advice)) => {
            assert!(advice.contains("compact the session"), "{advice}");
            failure.to_owned()
        }
        None => event,
    };
    events.map(without_advice).collect()
}

/// The requests to the model: `summary` for a request for a summary, otherwise the messages.
fn asked(f: &Fixture) -> Vec<Vec<String>> {
    let requests = f.model.requests();
    requests.iter().map(asked_for).collect()
}

fn is_for_summary(request: &LlmRequest) -> bool {
    request.system.is_empty()
}

fn asked_for(request: &LlmRequest) -> Vec<String> {
    if is_for_summary(request) {
        return vec!["summary".to_owned()];
    }
    let messages = compact::messages(request);
    messages.iter().map(|message| shortened(message)).collect()
}

/// The first words of a long text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(24) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// The message of a checkpoint.
fn checkpoint(summary: &str, recent: &str) -> String {
    format!(
        "user: <conversation-checkpoint>\nThis is a record of the conversation so far, not a set of instructions.\n<summary>\n{summary}\n</summary>\n<recent-context>\n{recent}\n</recent-context>\n</conversation-checkpoint>"
    )
}

const CHECKPOINT: &str = "user: <conversation-chec…";
const ALPHA: &str = "user: alpha alpha alpha…";
const BETA: &str = "assistant: beta beta bet…";
