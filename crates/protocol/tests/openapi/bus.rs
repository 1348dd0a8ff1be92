//! The intended differences about the announcements of messages and parts.

use super::differences::Differences;

pub(crate) const DIFFERENCES: &[Differences] = &[
    Differences {
        why: "A subscriber may select events.",
        what: &[
            "v2.event.subscribe query sessionID: is added",
            "v2.event.subscribe query types: is added",
        ],
    },
    Differences {
        why: "Announcements of messages and parts have the messages and parts of this runtime.",
        what: &[
            "Message | *",
            "MessagePartRemoved.data.*",
            "MessagePartUpdated.data.*",
            "MessageRemoved.data.messageID: pattern is *",
            "MessageUpdated.data.info: refers to SessionMessage, not to Message",
            "Part | *",
            "ReasoningPart.*",
            "TextPart.*",
            "ToolPart.*",
            "ToolState*",
        ],
    },
    Differences {
        why: "Those announcements are live events without metadata.",
        what: &[
            "MessagePartRemoved.durable: is not there",
            "MessagePartRemoved.metadata: is not there",
            "MessagePartUpdated.durable: is not there",
            "MessagePartUpdated.metadata: is not there",
            "MessageRemoved.durable: is not there",
            "MessageRemoved.metadata: is not there",
            "MessageUpdated.durable: is not there",
            "MessageUpdated.metadata: is not there",
            "SessionCompacted.durable: is not there",
            "SessionCompacted.metadata: is not there",
        ],
    },
];
