//! Compares tool calls and requests: the acts in the journal with the decisions in the log.

use std::collections::{BTreeMap, BTreeSet};

use opencode_schema::id::{MessageID, SessionID};

use super::found::{Entry, Found, Session};
use crate::journal::{Act, ActingCall};
use crate::ledger::Ledger;
use crate::tools::{is_own, is_recoverable};

/// Number of times that each event happened to a call.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Story {
    begun: u32,
    called: u32,
    settled: u32,
    /// The call has the result or the failure that the tool returned.
    has_outcome: bool,
    before: u32,
    after: u32,
    /// The journal records calls of this tool.
    is_journaled: bool,
    /// The tool recovers its calls: it may begin again, but has its effect once.
    is_recoverable: bool,
}

pub(super) fn check(ledger: &Ledger, found: &Found, acts: &[Act], findings: &mut Vec<String>) {
    let mut stories = BTreeMap::<ActingCall, Story>::new();
    let mut ran = BTreeMap::<&str, u32>::new();
    let mut recorded = BTreeSet::new();
    for act in acts {
        match act {
            Act::Sending { .. } => {}
            Act::Ran { mark } => *ran.entry(mark.as_str()).or_default() += 1,
            Act::Before(call) => stories.entry(call.clone()).or_default().before += 1,
            Act::After(call) => stories.entry(call.clone()).or_default().after += 1,
        }
    }
    for (id, session) in &found.sessions {
        for entry in &session.entries {
            record(&mut stories, id, entry);
            if let Some((call, mark)) = command_of(id, entry) {
                let times = ran.get(mark).copied().unwrap_or_default();
                let story = stories.entry(call).or_default();
                (story.before, story.after) = (times, times);
                recorded.insert(mark);
            }
        }
        let steps = count(session, "step.started");
        let requests = baselines_of(id, acts).count();
        if steps > requests && !ledger.is_import(id) {
            findings.push(format!("{id} has {steps} steps after {requests} requests"));
        }
    }
    for mark in ran.keys().filter(|mark| !recorded.contains(*mark)) {
        findings.push(format!("a tool ran whose call is not recorded: {mark}"));
    }
    for (call, story) in &stories {
        if let Some(problem) = contradiction(story, ledger.is_import(&call.session)) {
            findings.push(format!("{problem}: {call:?} {story:?}"));
        }
    }
}

/// A restart keeps the Baseline System Context. Only a move, a checkpoint and a revert begin a new one.
pub(super) fn check_baselines(found: &Found, acts: &[Act], findings: &mut Vec<String>) {
    for (id, session) in &found.sessions {
        let mut baselines: Vec<_> = baselines_of(id, acts).collect();
        baselines.dedup();
        let reasons = ["moved", "compaction.ended", "revert.committed"];
        let recorded: usize = reasons.map(|reason| count(session, reason)).iter().sum();
        // A revert that was staged in the found state is committed by now.
        let begun = recorded + usize::from(session.info.revert.is_some());
        if baselines.len() > 1 + begun {
            findings.push(format!("{id} began another Context Epoch without a reason"));
        }
    }
}

/// The Baseline System Context of each request of a session, as a number.
fn baselines_of(id: &SessionID, acts: &[Act]) -> impl Iterator<Item = u64> {
    acts.iter().filter_map(move |act| match act {
        Act::Sending { session, baseline } if session == id => Some(*baseline),
        _ => None,
    })
}

fn count(session: &Session, name: &str) -> usize {
    let entries = session.entries.iter();
    entries.filter(|entry| entry.name() == name).count()
}

fn record(stories: &mut BTreeMap<ActingCall, Story>, session: &SessionID, entry: &Entry) {
    let Some(call) = call_of(session, entry) else {
        return;
    };
    let story = stories.entry(call).or_default();
    match entry.name() {
        "tool.input.started" => story.begun += 1,
        "tool.called" => {
            story.called += 1;
            let tool = entry.text("tool");
            story.is_journaled = tool == "bash" || is_own(tool);
            story.is_recoverable = is_recoverable(tool);
        }
        "tool.success" => {
            story.settled += 1;
            story.has_outcome = true;
        }
        "tool.failed" => {
            story.settled += 1;
            story.has_outcome = entry.data["error"]["message"] == "It broke";
        }
        _ => {}
    }
}

/// The call that ran a command, and the mark of the command. An imported log has the same mark in
/// another call.
fn command_of<'a>(session: &SessionID, entry: &'a Entry) -> Option<(ActingCall, &'a str)> {
    if entry.name() != "tool.called" || entry.text("tool") != "bash" {
        return None;
    }
    let command = entry.data["input"]["command"].as_str()?;
    let (_, mark) = command.split_once("\"mark\":\"")?;
    Some((call_of(session, entry)?, mark.split_once('"')?.0))
}

/// The call that an entry belongs to.
pub(super) fn call_of(session: &SessionID, entry: &Entry) -> Option<ActingCall> {
    entry.name().starts_with("tool.").then(|| ActingCall {
        session: session.clone(),
        message: MessageID::parse(entry.text("assistantMessageID")).expect("the log holds ids"),
        call: entry.text("callID").to_owned(),
    })
}

fn contradiction(story: &Story, is_import: bool) -> Option<&'static str> {
    [
        (story.after <= 1, "a tool had its effect twice"),
        (
            story.before <= 1 || story.is_recoverable,
            "a tool ran twice",
        ),
        (story.after <= story.before, "the journal has a gap"),
        (
            story.before.min(1) <= story.called,
            "a tool ran whose call is not recorded",
        ),
        (
            story.begun <= 1 && story.called <= 1 && story.settled <= 1,
            "something happened twice to a call",
        ),
        (
            story.settled <= story.begun && story.called <= story.begun,
            "a call has an end without a beginning",
        ),
        (
            !story.has_outcome || story.after == 1 || is_import || !story.is_journaled,
            "a call has an outcome that no tool gave",
        ),
    ]
    .into_iter()
    .find_map(|(holds, problem)| (!holds).then_some(problem))
}
