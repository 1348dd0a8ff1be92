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
        why: "An announcement of a message has the facts of V1 that the message itself has not.",
        what: &[
            "MessageUpdated.data.mode: is added",
            "MessageUpdated.data.path: is added",
            "MessageUpdated.data.summary: is added",
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
            "SessionDiff.durable: is not there",
            "SessionDiff.metadata: is not there",
        ],
    },
    Differences {
        why: "The files that a session changed have one form, that of reverts.",
        what: &[
            "SessionDiff.data.diff[]: refers to FileDiff, not to SnapshotFileDiff",
            "SnapshotFileDiff.*",
        ],
    },
    Differences {
        why: "The sums of changed files count, and have no list of them.",
        what: &[
            "Session.summary.additions: *",
            "Session.summary.deletions: *",
            "Session.summary.diffs: is not there",
            "Session.summary.files: *",
        ],
    },
    Differences {
        why: "A session says where its shared copy is, and what it changed.",
        what: &[
            "SessionV2Info.share: is added",
            "SessionV2Info.summary: is added",
        ],
    },
];
