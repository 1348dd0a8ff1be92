//! Whether a request begins with what the one before said, byte for byte, and if not, why.
//!
//! Providers keep what they have read of a conversation and charge less for reading it again, as
//! long as it is the same. The reasons listed here are all there are; any other difference between
//! two requests of a session is a defect.

use std::sync::Arc;

use opencode_llm::{SystemPart, ToolDefinition};

use super::epoch::Begins;
use crate::lowering::Target;

/// Why a request does not go on from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// There is none before.
    First,
    /// The history was compacted.
    Compaction,
    /// The session moved.
    Move,
    /// The Baseline System Context was replaced.
    Replacement,
    /// Other tools are on offer.
    Tools,
    /// Another model reads it.
    Model,
    /// The agent brings another text of its own.
    Agent,
    /// The one before ended with a text that is no history.
    StepLimit,
}

/// What of a request decides whether the next one goes on from it.
pub(crate) struct Sent {
    pub(super) target: Target,
    /// What stands before the Baseline System Context.
    pub(super) own: Option<SystemPart>,
    pub(super) tools: Arc<[ToolDefinition]>,
    /// No tools were on offer and the model was told to sum up.
    pub(super) is_last: bool,
}

/// Why a request does not go on from the one before, where that is known; empty if it does.
/// `begins` is the epoch that began with it.
pub(super) fn reasons(before: Option<&Sent>, now: &Sent, begins: Option<Begins>) -> Vec<Reason> {
    let begun = begins.map(|begins| match begins {
        Begins::First if before.is_none() => Reason::First,
        Begins::First => Reason::Move,
        Begins::Now => Reason::Replacement,
        Begins::At(_) => Reason::Compaction,
    });
    let mut reasons: Vec<_> = begun.into_iter().collect();
    if let Some(before) = before {
        let differences = [
            (before.target != now.target, Reason::Model),
            (before.own != now.own, Reason::Agent),
            (before.is_last, Reason::StepLimit),
            (differ(&before.tools, &now.tools), Reason::Tools),
        ];
        let differs = differences.into_iter().filter(|(differs, _)| *differs);
        reasons.extend(differs.map(|(_, reason)| reason));
    }
    reasons
}

fn differ(before: &Arc<[ToolDefinition]>, now: &Arc<[ToolDefinition]>) -> bool {
    // Schemas are large, and unchanged tools are the same definitions.
    !Arc::ptr_eq(before, now) && before != now
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(change: impl Fn(&mut Sent)) -> Sent {
        let mut sent = Sent {
            target: Target {
                provider_id: "mock".to_owned(),
                wire_id: "m1".to_owned(),
            },
            own: Some(SystemPart::new("Build.")),
            tools: Arc::from([]),
            is_last: false,
        };
        change(&mut sent);
        sent
    }

    #[test]
    fn every_difference_has_its_reason() {
        let usual = || sent(|_| {});
        let tool = || ToolDefinition {
            name: "t".to_owned(),
            description: String::new(),
            input_schema: json!({}),
        };
        let tools = || sent(|sent| sent.tools = Arc::from([tool()]));
        let last = || sent(|sent| sent.is_last = true);
        for (before, now, begins, expected) in [
            (None, usual(), Some(Begins::First), &[Reason::First][..]),
            // Another process has sent it.
            (None, usual(), None, &[]),
            (Some(usual()), usual(), None, &[]),
            (Some(tools()), tools(), None, &[]),
            (Some(usual()), usual(), Some(Begins::First), &[Reason::Move]),
            (
                Some(usual()),
                usual(),
                Some(Begins::Now),
                &[Reason::Replacement],
            ),
            (
                Some(usual()),
                usual(),
                Some(Begins::At(7)),
                &[Reason::Compaction],
            ),
            (Some(usual()), tools(), None, &[Reason::Tools]),
            (Some(usual()), last(), None, &[]),
            (Some(last()), usual(), None, &[Reason::StepLimit]),
            (
                Some(usual()),
                sent(|sent| {
                    sent.target.wire_id = "m2".to_owned();
                    sent.own = None;
                }),
                None,
                &[Reason::Model, Reason::Agent],
            ),
        ] {
            assert_eq!(reasons(before.as_ref(), &now, begins), expected);
        }
    }
}
