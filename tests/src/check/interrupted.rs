//! Checks the list of interrupted sessions, and sessions in which a caller saw nothing run.

use opencode_runtime::{Interrupted, InterruptedState};
use opencode_schema::id::{MessageID, SessionID};

use super::found::{Entry, Found, Session};
use crate::ledger::Ledger;

pub(super) fn check(ledger: &Ledger, found: &Found, findings: &mut Vec<String>) {
    let cut = found.sessions.iter();
    let expected: Vec<_> = cut
        .filter_map(|(id, session)| cut_in(id, session))
        .collect();
    let mut listed = found.interrupted.clone();
    listed.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    if listed != expected {
        findings.push(format!(
            "interrupted() is {listed:?}, the logs say {expected:?}"
        ));
    }
    for (id, session) in &found.sessions {
        if let Some(attempts) = wrong_attempts(session) {
            findings.push(format!(
                "the host went on with {id} as its attempts {attempts:?}"
            ));
        }
    }
    // After an interruption or a wait has returned, no step is open.
    for id in ledger.quiet.iter().filter(|id| ledger.young.contains(id)) {
        let open = expected
            .iter()
            .find(|cut| cut.session_id == *id && cut.state == InterruptedState::StepOpen);
        if let Some(open) = open {
            findings.push(format!("nothing ran in {id} any more, but {open:?}"));
        }
    }
}

/// The interruption that the log implies for its newest prompt or answer.
fn cut_in(id: &SessionID, session: &Session) -> Option<Interrupted> {
    let mut entries = session.entries.iter().rev();
    let tells = |entry: &&Entry| {
        matches!(
            entry.name(),
            "prompted" | "step.started" | "revert.committed" | "interrupted" | "paused"
        )
    };
    let newest = entries.find(tells)?;
    let (state, message) = match newest.name() {
        // A user ended the activity with a revert, or with an interruption before its output, or it waits for a larger
        // budget. So it is not listed.
        "revert.committed" | "interrupted" | "paused" => return None,
        "prompted" => (InterruptedState::InputUnanswered, newest.text("messageID")),
        _ => {
            let message = newest.text("assistantMessageID");
            (state_of_step(session, message)?, message)
        }
    };
    Some(Interrupted {
        session_id: id.clone(),
        state,
        message_id: MessageID::parse(message).expect("the log holds ids"),
        seq: newest.seq.into(),
        time: newest.data["timestamp"].as_i64().unwrap_or_default(),
    })
}

fn state_of_step(session: &Session, message: &str) -> Option<InterruptedState> {
    let of_step = |entry: &&Entry| entry.text("assistantMessageID") == message;
    let of_step: Vec<_> = session.entries.iter().filter(of_step).collect();
    let ends = |entry: &&&Entry| matches!(entry.name(), "step.ended" | "step.failed");
    let Some(end) = of_step.iter().find(ends) else {
        return Some(InterruptedState::StepOpen);
    };
    // The prompt had no more turns.
    if end.has_limit() {
        return None;
    }
    let is_called = of_step.iter().any(|entry| entry.name() == "tool.called");
    let is_stopped = of_step.iter().any(|entry| {
        let kind = &entry.data["error"]["cause"]["kind"];
        let is_ended = kind == "interrupted" || kind == "declined";
        entry.name() == "tool.failed" && entry.seq < end.seq && is_ended
    });
    (end.name() == "step.ended" && is_called && !is_stopped)
        .then_some(InterruptedState::ContinuationDue)
}

/// The recorded attempts of the host to resume the session, if they are wrong. Attempts count from
/// 1 after each finished step and are at most three.
fn wrong_attempts(session: &Session) -> Option<Vec<u64>> {
    let mut attempts = Vec::new();
    for entry in &session.entries {
        match entry.name() {
            "step.ended" => attempts.clear(),
            "retried" => attempts.push(entry.data["attempt"].as_u64().unwrap_or_default()),
            _ => {}
        }
        if ![1, 2, 3].starts_with(&attempts) {
            return Some(attempts);
        }
    }
    None
}
