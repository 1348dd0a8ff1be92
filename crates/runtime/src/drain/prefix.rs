//! Compares a request with the previous one byte for byte, and finds the reason if it does not begin
//! with the same bytes.
//!
//! Providers cache the text of a conversation and charge less for reading it again if it is unchanged.
//! Each Provider Turn therefore records the hash and the length of its cacheable prefix, the length
//! that the previous request had in common, and the reason if it does not continue that request.
//! The list of reasons is complete. Any other difference between two requests of a session is a defect.
//!
//! The values for the comparison are kept with the conversation and recorded with the step. A host
//! that opens the session later uses the record.

use std::sync::Arc;

use opencode_llm::{LlmRequest, Prefix, PrefixReport, SystemPart, short_hash};
use opencode_schema::Record;
use opencode_schema::model::ModelRef;
use opencode_store::{HistoryChanges, RecordedStep, Sequence};
use serde::{Deserialize, Serialize};

use super::boundary::Boundary;
use super::request::{LAST_TURN, own_text};
use super::{Runner, offered_tools};

/// The member of a step's metadata that holds the report.
const MEMBER: &str = "prefix";

/// The reason that a request does not continue the previous one. If there are several, the first applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reason {
    /// There is no record of a previous request.
    First,
    /// The session moved.
    Move,
    /// The history was compacted.
    Compaction,
    /// A revert was committed.
    Revert,
    /// The Baseline System Context was replaced.
    Replacement,
    /// The model changed, or the form of the request changed, because settings of the model changed or
    /// another version of this program wrote the previous one.
    Model,
    /// The agent's own text changed.
    Agent,
    /// Hooks changed the request in another way than the previous one.
    Hooks,
    /// Old tool output was pruned.
    Pruning,
    /// The previous request ended with a text that is not part of the history.
    StepLimit,
    /// The offered tools changed.
    Tools,
}

/// The properties of a request that determine if the next one continues it. Texts are stored as hashes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sent {
    /// The newest log entry that the request contains. For a recorded request: the first that it does not contain.
    pub(crate) seq: Sequence,
    /// The provider and the model, with its name on the wire.
    pub(super) model: (String, String),
    /// The agent's own text, which precedes the Baseline System Context.
    pub(super) agent: Arc<str>,
    /// The Baseline System Context.
    pub(super) baseline: Arc<str>,
    /// The changes of hooks. Empty without changes.
    pub(super) hooks: Arc<str>,
    pub(super) tools: Arc<str>,
    /// No tools were offered and the model was told to summarise.
    pub(super) is_last: bool,
    pub(super) prefix: Prefix,
}

/// The report as a step records it. A last turn has no tools, so `tools` is the hash of its closing text.
#[derive(Serialize, Deserialize)]
struct Report {
    sha256: String,
    bytes: u64,
    reused: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    agent: Arc<str>,
    baseline: Arc<str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    hooks: Arc<str>,
    tools: Arc<str>,
}

impl Sent {
    /// Returns the request of a recorded step, if the step has a readable report.
    pub(crate) fn recorded(step: RecordedStep) -> Option<Self> {
        let RecordedStep {
            seq,
            model,
            mut metadata,
        } = step;
        let report: Report = serde_json::from_value(metadata.remove(MEMBER)?).ok()?;
        let is_last = report.tools == last_turn();
        Some(Self {
            seq,
            model: model_key(&model),
            agent: report.agent,
            baseline: report.baseline,
            hooks: report.hooks,
            tools: if is_last {
                offered_tools::hash(&[])
            } else {
                report.tools
            },
            is_last,
            prefix: Prefix {
                sha256: report.sha256,
                bytes: report.bytes,
            },
        })
    }

    /// Returns the report that the step records of its request.
    pub(super) fn record(&self, reused: u64, reason: Option<Reason>) -> Option<Record> {
        let report = Report {
            sha256: self.prefix.sha256.clone(),
            bytes: self.prefix.bytes,
            reused,
            reason,
            agent: Arc::clone(&self.agent),
            baseline: Arc::clone(&self.baseline),
            hooks: Arc::clone(&self.hooks),
            tools: if self.is_last {
                last_turn()
            } else {
                Arc::clone(&self.tools)
            },
        };
        let report = serde_json::to_value(report).ok()?;
        Some(Record::from_iter([(MEMBER.to_owned(), report)]))
    }
}

/// Returns the key of a model without its variant.
fn model_key(model: &ModelRef) -> (String, String) {
    (model.provider_id.clone(), model.id.clone())
}

/// A defect: two requests of a session differ, and no known change explains it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request does not begin with the one before, and nothing is known that changed it")]
pub(super) struct UnexplainedChange;

/// Returns the reason that a request does not continue the previous one, or `None` if it does.
///
/// If the bytes differ, a known change must explain it. If they do not, the provider may still have no
/// cached copy: it caches them for one model, and after the tools.
pub(super) fn reason(
    before: Option<&Sent>,
    now: &Sent,
    changes: HistoryChanges,
    report: &PrefixReport,
) -> Result<Option<Reason>, UnexplainedChange> {
    let Some(before) = before else {
        return Ok(Some(Reason::First));
    };
    let first = |reasons: &[(bool, Reason)]| {
        let reason = reasons.iter().find(|(is_one, _)| *is_one);
        reason.map(|(_, reason)| *reason)
    };
    let is_other_model = before.model != now.model;
    if report.extends(&before.prefix) {
        return Ok(first(&[
            (is_other_model, Reason::Model),
            (before.is_last, Reason::StepLimit),
            (before.tools != now.tools, Reason::Tools),
        ]));
    }
    let found = first(&[
        (changes.moved, Reason::Move),
        (changes.compacted, Reason::Compaction),
        (changes.reverted, Reason::Revert),
        (
            changes.replaced || before.baseline != now.baseline,
            Reason::Replacement,
        ),
        (is_other_model, Reason::Model),
        (before.agent != now.agent, Reason::Agent),
        (before.hooks != now.hooks, Reason::Hooks),
        (changes.pruned, Reason::Pruning),
        (report.same_form != Some(true), Reason::Model),
    ]);
    found.map(Some).ok_or(UnexplainedChange)
}

/// Result of the comparison of a request with the previous one.
#[derive(Default)]
pub(super) struct Compared {
    /// The values for comparison with the next request, once this one is sent.
    pub(super) sent: Option<Sent>,
    /// The metadata that its step records.
    pub(super) record: Option<Record>,
}

impl Runner {
    /// Compares the request with the previous one and collects all possible reasons for a difference.
    /// A request that cannot be written is not sent either, so the result is empty.
    pub(super) fn report(
        &self,
        boundary: &Boundary,
        request: &LlmRequest,
        hooks: Arc<str>,
    ) -> Compared {
        let before = self.conversation.sent.as_ref();
        let former = before.map(|sent| &sent.prefix);
        let Ok(report) = self.services.provider.model.prefix(request, former) else {
            return Compared::default();
        };
        let sent = Sent {
            seq: self.conversation.transcript.seq(),
            model: model_key(&boundary.model_ref),
            agent: hash(own_text(boundary).as_ref()),
            baseline: hash(Some(&boundary.baseline)),
            hooks,
            tools: self.offered_hash(request),
            is_last: request.closing.is_some(),
            prefix: report.prefix.clone(),
        };
        let reused = report.reused;
        let reason = reason(before, &sent, boundary.changes, &report);
        let reason = reason.unwrap_or_else(|defect| {
            log_defect(&defect, before, &sent, reused);
            debug_assert!(false, "{defect}: {before:?}, {sent:?}, {reused} bytes");
            None
        });
        if let Some(reason) = reason {
            tracing::debug!(
                ?reason,
                reused,
                "the request does not go on from the one before"
            );
        }
        Compared {
            record: sent.record(reused, reason),
            sent: Some(sent),
        }
    }
}

impl Runner {
    /// Returns a short hash of the offered tools and of the format of the answer, which providers cache together.
    fn offered_hash(&self, request: &LlmRequest) -> Arc<str> {
        let tools = self.shared.offer.hash(&request.tools);
        match &request.output {
            None => tools,
            Some(format) => {
                let text = serde_json::to_vec(&(&*tools, format)).unwrap_or_default();
                short_hash(&text).into()
            }
        }
    }
}

/// Logs a defect as an error. The turn continues, because the request itself is valid.
fn log_defect(defect: &UnexplainedChange, before: Option<&Sent>, sent: &Sent, reused: u64) {
    tracing::error!(?before, ?sent, reused, "{defect}");
}

fn last_turn() -> Arc<str> {
    short_hash(LAST_TURN.as_bytes()).into()
}

fn hash(part: Option<&SystemPart>) -> Arc<str> {
    let text = part.map_or("", |part| &*part.text);
    short_hash(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(change: impl Fn(&mut Sent)) -> Sent {
        let mut sent = Sent {
            seq: 7.into(),
            model: ("mock".to_owned(), "m1".to_owned()),
            agent: Arc::from("a0"),
            baseline: Arc::from("b0"),
            hooks: Arc::from(""),
            tools: Arc::from("t0"),
            is_last: false,
            prefix: Prefix {
                sha256: "00".to_owned(),
                bytes: 10,
            },
        };
        change(&mut sent);
        sent
    }

    /// A report made with knowledge of the previous request.
    fn report(reused: u64, same_form: Option<bool>) -> PrefixReport {
        PrefixReport {
            prefix: Prefix {
                sha256: "11".to_owned(),
                bytes: 20,
            },
            reused,
            same_form,
        }
    }

    fn changes(change: impl Fn(&mut HistoryChanges)) -> HistoryChanges {
        let mut changes = HistoryChanges::default();
        change(&mut changes);
        changes
    }

    #[test]
    fn a_changed_prefix_has_a_reason() {
        let none = || changes(|_| {});
        let usual = || sent(|_| {});
        let other = || {
            sent(|it| {
                it.model.1 = "m2".to_owned();
                it.agent = Arc::from("a1");
            })
        };
        for (now, happened, same_form, expected) in [
            (usual(), none(), Some(true), Err(UnexplainedChange)),
            (
                sent(|it| it.tools = Arc::from("t1")),
                none(),
                Some(true),
                Err(UnexplainedChange),
            ),
            (usual(), none(), Some(false), Ok(Reason::Model)),
            (usual(), none(), None, Ok(Reason::Model)),
            (
                usual(),
                changes(|it| it.pruned = true),
                None,
                Ok(Reason::Pruning),
            ),
            (
                usual(),
                changes(|it| it.moved = true),
                None,
                Ok(Reason::Move),
            ),
            (
                usual(),
                changes(|it| it.reverted = true),
                None,
                Ok(Reason::Revert),
            ),
            (
                sent(|it| it.baseline = Arc::from("b1")),
                changes(|it| (it.compacted, it.pruned) = (true, true)),
                Some(true),
                Ok(Reason::Compaction),
            ),
            (
                sent(|it| it.baseline = Arc::from("b1")),
                none(),
                Some(true),
                Ok(Reason::Replacement),
            ),
            (
                usual(),
                changes(|it| (it.replaced, it.pruned) = (true, true)),
                None,
                Ok(Reason::Replacement),
            ),
            (other(), none(), Some(true), Ok(Reason::Model)),
            (
                sent(|it| it.hooks = Arc::from("h1")),
                none(),
                Some(true),
                Ok(Reason::Hooks),
            ),
            (
                sent(|it| it.agent = Arc::from("a1")),
                none(),
                Some(true),
                Ok(Reason::Agent),
            ),
        ] {
            let found = reason(Some(&usual()), &now, happened, &report(9, same_form));
            assert_eq!(found, expected.map(Some), "{now:?} {happened:?}");
        }
    }

    #[test]
    fn an_unchanged_prefix_can_still_have_a_reason() {
        let usual = || sent(|_| {});
        let last = || sent(|it| it.is_last = true);
        let all = || changes(|it| (it.moved, it.compacted, it.pruned) = (true, true, true));
        for (before, now, expected) in [
            (None, usual(), Some(Reason::First)),
            (Some(usual()), usual(), None),
            (Some(usual()), last(), None),
            (
                Some(last()),
                sent(|it| it.tools = Arc::from("t1")),
                Some(Reason::StepLimit),
            ),
            (
                Some(usual()),
                sent(|it| it.tools = Arc::from("t1")),
                Some(Reason::Tools),
            ),
            (
                Some(usual()),
                sent(|it| it.model.1 = "m2".to_owned()),
                Some(Reason::Model),
            ),
        ] {
            let found = reason(before.as_ref(), &now, all(), &report(10, Some(true)));
            assert_eq!(found, Ok(expected), "{before:?} {now:?}");
        }
    }

    #[test]
    fn the_recorded_prefix_is_the_sent_prefix() {
        let sent = sent(|_| {});
        let metadata = sent.record(4, Some(Reason::StepLimit)).unwrap();
        assert_eq!(
            json!(metadata),
            json!({ "prefix": {
                "sha256": "00", "bytes": 10, "reused": 4, "reason": "step-limit",
                "agent": "a0", "baseline": "b0", "tools": "t0",
            } })
        );
        let model = ModelRef {
            id: "m1".to_owned(),
            provider_id: "mock".to_owned(),
            variant: Some("high".to_owned()),
        };
        let step = |metadata| RecordedStep {
            seq: 7.into(),
            model: model.clone(),
            metadata,
        };
        assert_eq!(Sent::recorded(step(metadata)), Some(sent.clone()));
        let last = Sent {
            tools: offered_tools::hash(&[]),
            is_last: true,
            ..sent
        };
        let metadata = last.record(10, None).unwrap();
        assert_eq!(Sent::recorded(step(metadata)), Some(last));
        let foreign = json!({ "prefix": { "sha256": "00" } });
        let foreign = serde_json::from_value(foreign).unwrap();
        assert_eq!(Sent::recorded(step(foreign)), None);
    }

    #[tokio::test]
    async fn a_changed_prefix_without_a_reason_is_logged_as_an_error() {
        let filter = opencode_log::Filter::new(Some(opencode_log::Level::Warn), [].into());
        let (log, entries) = opencode_log::Log::new(filter);
        let [before, now] = [sent(|_| {}), sent(|it| it.seq = 8.into())];
        log.run(|| log_defect(&UnexplainedChange, Some(&before), &now, 4));
        let entries = entries.next().await.unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].level, opencode_log::Level::Error);
        assert_eq!(entries[0].target, "opencode::runtime");
        assert_eq!(entries[0].message, UnexplainedChange.to_string());
        assert_eq!(entries[0].fields["reused"], 4);
    }
}
