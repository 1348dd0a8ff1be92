//! Compares tool calls and requests: the acts in the journal with the decisions in the log.

use std::collections::{BTreeMap, BTreeSet};

use opencode_schema::id::{MessageID, SessionID};

use super::found::{Entry, Found, Session};
use crate::journal::{Act, ActingCall};
use crate::ledger::Ledger;
use crate::tools::{is_own, is_recoverable};

/// Number of times that each event happened to a call.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct CallCounts {
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
    let mut counts_by_call = BTreeMap::<ActingCall, CallCounts>::new();
    let mut ran = BTreeMap::<&str, u32>::new();
    let mut recorded = BTreeSet::new();
    for act in acts {
        match act {
            Act::Sending { .. } => {}
            Act::Ran { mark } => *ran.entry(mark.as_str()).or_default() += 1,
            Act::Before(call) => counts_by_call.entry(call.clone()).or_default().before += 1,
            Act::After(call) => counts_by_call.entry(call.clone()).or_default().after += 1,
        }
    }
    for (id, session) in &found.sessions {
        for entry in &session.entries {
            record(&mut counts_by_call, id, entry);
            if let Some((call, mark)) = command_of(id, entry) {
                let times = ran.get(mark).copied().unwrap_or_default();
                let counts = counts_by_call.entry(call).or_default();
                (counts.before, counts.after) = (times, times);
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
    for (call, counts) in &counts_by_call {
        if let Some(problem) = contradiction(counts, ledger.is_import(&call.session)) {
            findings.push(format!("{problem}: {call:?} {counts:?}"));
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

fn record(
    counts_by_call: &mut BTreeMap<ActingCall, CallCounts>,
    session: &SessionID,
    entry: &Entry,
) {
    let Some(call) = call_of(session, entry) else {
        return;
    };
    let counts = counts_by_call.entry(call).or_default();
    match entry.name() {
        "tool.input.started" => counts.begun += 1,
        "tool.called" => {
            counts.called += 1;
            let tool = entry.text("tool");
            counts.is_journaled = tool == "bash" || is_own(tool);
            counts.is_recoverable = is_recoverable(tool);
        }
        "tool.success" => {
            counts.settled += 1;
            counts.has_outcome = true;
        }
        "tool.failed" => {
            counts.settled += 1;
            counts.has_outcome = entry.data["error"]["message"] == "It broke";
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

fn contradiction(counts: &CallCounts, is_import: bool) -> Option<&'static str> {
    [
        (counts.after <= 1, "a tool had its effect twice"),
        (
            counts.before <= 1 || counts.is_recoverable,
            "a tool ran twice",
        ),
        (counts.after <= counts.before, "the journal has a gap"),
        (
            counts.before.min(1) <= counts.called,
            "a tool ran whose call is not recorded",
        ),
        (
            counts.begun <= 1 && counts.called <= 1 && counts.settled <= 1,
            "something happened twice to a call",
        ),
        (
            counts.settled <= counts.begun && counts.called <= counts.begun,
            "a call has an end without a beginning",
        ),
        (
            !counts.has_outcome || counts.after == 1 || is_import || !counts.is_journaled,
            "a call has an outcome that no tool gave",
        ),
    ]
    .into_iter()
    .find_map(|(holds, problem)| (!holds).then_some(problem))
}
