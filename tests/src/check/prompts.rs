//! Every prompt is pending, promoted or withdrawn, exactly once, and has the requested content.

use std::collections::BTreeMap;

use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::SessionMessage;
use opencode_schema::prompt::{Delivery, Prompt as Admitted, SessionInputAdmitted};
use serde_json::Value;

use super::found::{Entry, Found, Session};
use crate::ledger::{Ledger, Progress, Prompt};

/// The log entries about one input.
#[derive(Debug, Default)]
struct InputEntries {
    admitted: Vec<SessionInputAdmitted>,
    promoted: Vec<(u64, Delivery)>,
    withdrawn: Vec<u64>,
    /// The current delivery of a pending input.
    delivery: Option<Delivery>,
}

type EntriesByInput = BTreeMap<MessageID, InputEntries>;

pub(super) fn check(ledger: &Ledger, found: &Found, findings: &mut Vec<String>) {
    let mut inputs = EntriesByInput::new();
    for (id, session) in &found.sessions {
        let own = entries_by_input(id, session);
        compare_inbox(id, session, &own, findings);
        compare_messages(id, session, &own, findings);
        // The prompts of a child session come from its parent session, not from the load.
        if !ledger.is_import(id) && session.info.parent_id.is_none() {
            for (message, input) in &own {
                asked_for(ledger, message, input, findings);
            }
        }
        inputs.extend(own);
    }
    for prompt in ledger.prompts.values() {
        let input = prompt.id.as_ref().and_then(|id| inputs.get(id));
        if let Some(problem) = contradiction(prompt, input) {
            let text = &prompt.asked.prompt.text;
            findings.push(format!("{text}: {problem}: {prompt:?}, {input:?}"));
        }
    }
}

fn entries_by_input(id: &SessionID, session: &Session) -> EntriesByInput {
    let mut inputs = EntriesByInput::new();
    for entry in &session.entries {
        let message = || MessageID::parse(entry.text("messageID")).expect("the log holds ids");
        match entry.name() {
            "prompt.admitted" => {
                let receipt = receipt(id, entry, message());
                let input = inputs.entry(message()).or_default();
                input.delivery = Some(receipt.delivery);
                input.admitted.push(receipt);
            }
            "prompted" => {
                let promoted = (entry.seq, delivery(entry));
                inputs.entry(message()).or_default().promoted.push(promoted);
            }
            "prompt.withdrawn" => inputs
                .entry(message())
                .or_default()
                .withdrawn
                .push(entry.seq),
            "prompt.redelivered" => {
                inputs.entry(message()).or_default().delivery = Some(delivery(entry));
            }
            _ => {}
        }
    }
    inputs
}

fn receipt(session: &SessionID, entry: &Entry, id: MessageID) -> SessionInputAdmitted {
    SessionInputAdmitted {
        admitted_seq: entry.seq,
        id,
        session_id: session.clone(),
        prompt: read::<Admitted>(&entry.data["prompt"]),
        delivery: delivery(entry),
        time_created: read(&entry.data["timestamp"]),
        promoted_seq: None,
    }
}

fn delivery(entry: &Entry) -> Delivery {
    read(&entry.data["delivery"])
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).expect("the log holds what its types say")
}

/// The inbox contains the inputs that are pending in the log, in the order of admission.
fn compare_inbox(
    id: &SessionID,
    session: &Session,
    inputs: &EntriesByInput,
    findings: &mut Vec<String>,
) {
    let pending = inputs
        .values()
        .filter(|it| it.promoted.is_empty() && it.withdrawn.is_empty());
    let receipts = pending.flat_map(|input| {
        input.admitted.iter().map(|receipt| SessionInputAdmitted {
            delivery: input.delivery.unwrap_or(receipt.delivery),
            ..receipt.clone()
        })
    });
    let mut expected: Vec<_> = receipts.collect();
    expected.sort_by_key(|receipt| receipt.admitted_seq);
    if session.inbox != expected {
        let inbox = &session.inbox;
        findings.push(format!(
            "the inbox of {id} is {inbox:?}, its log says {expected:?}"
        ));
    }
}

/// The user messages are the promoted inputs that are not reverted, each at the position of its promotion.
fn compare_messages(
    id: &SessionID,
    session: &Session,
    inputs: &EntriesByInput,
    findings: &mut Vec<String>,
) {
    let promoted = inputs.iter().flat_map(|(message, input)| {
        input.promoted.iter().map(|(seq, _)| {
            let text = input.admitted.first().map(|it| it.prompt.text.clone());
            (*seq, message.clone(), text.unwrap_or_default())
        })
    });
    let mut expected: Vec<_> = promoted.collect();
    expected.sort();
    for (boundary, end) in reverts(session, inputs) {
        expected.retain(|(seq, ..)| *seq <= boundary || *seq > end);
    }
    let messages = session
        .messages
        .iter()
        .filter_map(|(seq, message)| match message {
            SessionMessage::User { id, text, .. } => Some((*seq, id.clone(), text.clone())),
            _ => None,
        });
    let messages: Vec<_> = messages.collect();
    if messages != expected {
        findings.push(format!(
            "the messages of {id} are {messages:?}, its log says {expected:?}"
        ));
    }
}

/// The range of each committed revert: everything after the first sequence up to the second.
fn reverts(session: &Session, inputs: &EntriesByInput) -> Vec<(u64, u64)> {
    let entries = session.entries.iter();
    let committed = entries.filter(|entry| entry.name() == "revert.committed");
    let reverts = committed.map(|entry| {
        let boundary = MessageID::parse(entry.text("messageID")).expect("the log holds ids");
        // The load reverts only to prompts.
        let promoted = inputs
            .get(&boundary)
            .and_then(|input| input.promoted.first());
        (promoted.map_or(0, |(seq, _)| *seq), entry.seq)
    });
    reverts.collect()
}

fn asked_for(ledger: &Ledger, id: &MessageID, input: &InputEntries, findings: &mut Vec<String>) {
    let text = input
        .admitted
        .first()
        .map(|receipt| receipt.prompt.text.as_str());
    let prompt = text.and_then(|text| ledger.prompts.get(text));
    let same = prompt.is_some_and(|it| it.id.as_ref().is_none_or(|known| known == id));
    if !same {
        findings.push(format!("no caller asked for the input {id}: {input:?}"));
    }
}

/// The contradiction between a prompt and its log entries, if there is one.
fn contradiction(prompt: &Prompt, input: Option<&InputEntries>) -> Option<&'static str> {
    let Some(input) = input else {
        return (!prompt.receipts.is_empty()).then_some("it was acknowledged and is gone");
    };
    let [admitted] = input.admitted.as_slice() else {
        return Some("it was not admitted once");
    };
    if input.promoted.len() + input.withdrawn.len() > 1 {
        return Some("it was promoted or withdrawn more than once");
    }
    let promoted = input.promoted.first().copied();
    let seq = promoted.map(|(seq, _)| seq);
    let is_same = |receipt: &SessionInputAdmitted| {
        let may = receipt.promoted_seq.is_none() || receipt.promoted_seq == seq;
        let unpromoted = SessionInputAdmitted {
            promoted_seq: None,
            ..receipt.clone()
        };
        may && unpromoted == *admitted
    };
    let asked = &prompt.asked;
    let delivery = promoted.map(|(_, delivery)| delivery).or(input.delivery);
    [
        (
            prompt.receipts.iter().all(is_same),
            "its receipts say something else",
        ),
        (
            asked.session == admitted.session_id
                && asked.delivery == admitted.delivery
                && asked.prompt.clone().admit() == admitted.prompt,
            "it is not what was asked",
        ),
        (
            prompt.withdrawal != Progress::Done || !input.withdrawn.is_empty(),
            "its withdrawal was acknowledged and is gone",
        ),
        (
            prompt.withdrawal != Progress::Never || input.withdrawn.is_empty(),
            "no caller withdrew it",
        ),
        (
            !prompt.too_late || promoted.is_some(),
            "it was said to be promoted and is not",
        ),
        (
            !input.withdrawn.is_empty()
                || delivery.is_some_and(|it| prompt.deliveries.contains(&it)),
            "its delivery is not what was acknowledged",
        ),
    ]
    .into_iter()
    .find_map(|(holds, problem)| (!holds).then_some(problem))
}
