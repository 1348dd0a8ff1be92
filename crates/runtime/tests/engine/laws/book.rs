//! Statements of the log of one session about its inputs, steps and calls.

use std::collections::{BTreeMap, HashMap};

use opencode_runtime::StoredEvent;
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use serde_json::Value;

/// The state of an admitted input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputState {
    Pending(Delivery),
    Promoted,
    Withdrawn,
}

/// The log, read from its beginning.
pub(super) struct Book<'a> {
    /// Sequences at which nothing ran. Like the end of a step, they make pending inputs visible.
    settled: &'a [u64],
    last_end: u64,
    next: u64,
    /// Inputs by the sequence of their admission.
    inputs: BTreeMap<u64, (String, InputState)>,
    /// The sequence at which each pending input got its current delivery.
    changed: HashMap<String, u64>,
    /// Inputs promoted without any other event in between.
    together: Vec<Delivery>,
    /// Promotions without an event after them except another promotion: their turns were stopped early.
    silent: usize,
    /// True for a call that has settled.
    calls: HashMap<String, bool>,
    step_open: bool,
}

impl<'a> Book<'a> {
    pub(super) fn new(settled: &'a [u64]) -> Self {
        Self {
            settled,
            last_end: 0,
            next: 1,
            inputs: BTreeMap::new(),
            changed: HashMap::new(),
            together: Vec::new(),
            silent: 0,
            calls: HashMap::new(),
            step_open: false,
        }
    }

    pub(super) fn read(&mut self, event: &StoredEvent) {
        assert_eq!(event.seq, self.next.into(), "the sequence has a gap");
        self.next += 1;
        let name = event.spec().unwrap().name;
        let data: Value = serde_json::from_str(&event.data).unwrap();
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        let name = name.strip_prefix("session.next.").unwrap_or(name);
        if name != "prompted" {
            self.end_promotion(event.seq.into());
        }
        match name {
            "prompt.admitted" => {
                let input = (text("messageID"), InputState::Pending(delivery(&data)));
                self.changed.insert(text("messageID"), event.seq.into());
                self.inputs.insert(event.seq.into(), input);
            }
            "prompt.redelivered" => {
                self.changed.insert(text("messageID"), event.seq.into());
                self.set(&text("messageID"), InputState::Pending(delivery(&data)));
            }
            "prompt.withdrawn" => self.set(&text("messageID"), InputState::Withdrawn),
            "prompted" => self.promote(event.seq.into(), &text("messageID"), delivery(&data)),
            "step.started" => {
                let open = self.calls.iter().find(|it| !it.1);
                assert_eq!(open, None, "a call has not settled before the next step");
                self.step_open = true;
            }
            "step.ended" | "step.failed" => {
                assert!(self.step_open, "a step ends twice, or never began");
                self.step_open = false;
                self.last_end = event.seq.into();
            }
            "tool.input.started" => {
                let repeated = self.calls.insert(text("callID"), false);
                assert_eq!(repeated, None);
            }
            "tool.success" | "tool.failed" => {
                let settled = self.calls.insert(text("callID"), true);
                assert_eq!(settled, Some(false), "a call settles once, after it began");
            }
            _ => {}
        }
    }

    fn set(&mut self, id: &str, state: InputState) {
        let input = self.inputs.values_mut().find(|input| input.0 == id);
        let input = input.expect("the input was admitted");
        assert!(
            matches!(input.1, InputState::Pending(_)),
            "{input:?} is pending"
        );
        input.1 = state;
    }

    /// The oldest input of a delivery goes first, and at most one queued input opens the activity.
    fn promote(&mut self, seq: u64, id: &str, delivery: Delivery) {
        let oldest = self.pending(delivery).next();
        assert_eq!(oldest.map(|it| it.1), Some(id), "it was not its turn");
        if delivery == Delivery::Queue {
            // A queued input starts a promotion of its own.
            self.silent += usize::from(!self.together.is_empty());
            self.together.clear();
            let overtaken = self
                .pending(Delivery::Steer)
                .find(|it| self.was_seen(it.1, seq));
            assert_eq!(overtaken, None, "a steer goes before what is queued");
        }
        self.together.push(delivery);
        self.set(id, InputState::Promoted);
    }

    /// A promotion takes every pending steer.
    fn end_promotion(&mut self, seq: u64) {
        if std::mem::take(&mut self.together).is_empty() {
            return;
        }
        let left = self.pending(Delivery::Steer).next();
        assert_eq!(left, None, "a steer is left behind before {seq}");
    }

    /// True if the promotion was decided with knowledge of the pending input.
    fn was_seen(&self, id: &str, seq: u64) -> bool {
        let since = self.changed[id];
        let settled = self.settled.iter().any(|at| since <= *at && *at < seq);
        settled || since < self.last_end
    }

    fn pending(&self, delivery: Delivery) -> impl Iterator<Item = (u64, &str)> {
        let pending = self.inputs.iter();
        let pending = pending.filter(move |(_, input)| input.1 == InputState::Pending(delivery));
        pending.map(|(seq, input)| (*seq, input.0.as_str()))
    }

    /// Checks that accepted = pending + promoted + withdrawn, each once.
    pub(super) fn check<'b>(
        mut self,
        stops: usize,
        receipts: &[SessionInputAdmitted],
        withdrawn: impl Iterator<Item = &'b str>,
        inbox: &[SessionInputAdmitted],
    ) {
        self.end_promotion(self.next);
        assert!(
            self.silent <= stops,
            "promoted, and no turn began: {}",
            self.silent
        );
        let admitted = self
            .inputs
            .iter()
            .map(|(seq, input)| (*seq, input.0.as_str()));
        let mut accepted: Vec<_> = receipts
            .iter()
            .map(|it| (it.admitted_seq, it.id.as_str()))
            .collect();
        accepted.sort_unstable();
        assert_eq!(admitted.collect::<Vec<_>>(), accepted);
        let pending = self.inputs.iter().filter_map(|(seq, input)| match input.1 {
            InputState::Pending(delivery) => Some((*seq, input.0.as_str(), delivery)),
            _ => None,
        });
        let listed = inbox
            .iter()
            .map(|it| (it.admitted_seq, it.id.as_str(), it.delivery));
        assert_eq!(pending.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
        let mut expected: Vec<_> = withdrawn.collect();
        expected.sort_unstable();
        let inputs = self.inputs.values();
        let mut gone: Vec<_> = inputs
            .filter(|it| it.1 == InputState::Withdrawn)
            .map(|it| it.0.as_str())
            .collect();
        gone.sort_unstable();
        assert_eq!(gone, expected);
    }
}

fn delivery(data: &Value) -> Delivery {
    match data["delivery"].as_str() {
        Some("steer") => Delivery::Steer,
        Some("queue") => Delivery::Queue,
        other => panic!("{other:?} is no delivery"),
    }
}
