//! The report of the process under test: it writes one line for each fact immediately.
//!
//! The process writes a line about a request before it makes the request, and a line about the
//! answer when it has the answer. A line about an answer is an acknowledged fact. A line about a
//! request alone means that the effect may have happened.

use std::collections::BTreeMap;
use std::io::{Write, stdout};

use opencode_schema::id::{EventID, MessageID, SessionID};
use opencode_schema::prompt::{Delivery, PromptInput, SessionInputAdmitted};
use serde::{Deserialize, Serialize};

/// One fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "line")]
pub enum Line {
    /// A process begins and is about to open the database.
    Begun,
    /// A session was created.
    Created {
        /// The new session.
        session: SessionID,
    },
    /// A prompt is about to be admitted or retried.
    Asked(Asked),
    /// A prompt was admitted.
    Admitted {
        /// The receipt.
        receipt: SessionInputAdmitted,
    },
    /// A pending input is about to be withdrawn.
    Withdrawing(SeenInput),
    /// It was withdrawn.
    Withdrawn(SeenInput),
    /// The delivery of a pending input is about to be changed.
    Redelivering {
        /// The input.
        input: SeenInput,
        /// The new delivery.
        delivery: Delivery,
    },
    /// It was changed.
    Redelivered {
        /// The input.
        input: SeenInput,
        /// The new delivery.
        delivery: Delivery,
    },
    /// A withdrawal or a redelivery was refused, because the input is promoted.
    TooLate(SeenInput),
    /// The agent, the model, the Location or the staged revert of a session is about to change.
    Changing(Change),
    /// It changed.
    Changed(Change),
    /// The log of a session is about to be imported.
    Importing {
        /// The imported session.
        session: SessionID,
        /// Number of entries in the log.
        entries: u64,
    },
    /// It was imported.
    Imported {
        /// The imported session.
        session: SessionID,
    },
    /// A session may begin to run without a prompt.
    Waking {
        /// The session.
        session: SessionID,
    },
    /// An interruption or a wait has returned: the session does not run.
    Quiet {
        /// The session.
        session: SessionID,
    },
    /// A stream has shown durable events.
    Showing {
        /// The events.
        events: Vec<Shown>,
    },
    /// A fail point is reached. No further line follows.
    Dying {
        /// The fail point.
        point: String,
        /// The session of the fail point, if it has one.
        session: Option<SessionID>,
    },
    /// The load itself found a problem.
    Problem {
        /// The problem.
        text: String,
    },
    /// The load is complete and the database is closed.
    Ended {
        /// Number of times that each fail point was passed.
        passed: BTreeMap<String, u32>,
    },
}

/// A prompt as the caller requested it. Its text is unique.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The session.
    pub session: SessionID,
    /// The id from the caller, if the caller gave one.
    pub id: Option<MessageID>,
    /// The content of the prompt.
    pub prompt: PromptInput,
    /// The requested delivery.
    pub delivery: Delivery,
    /// True if the admission wakes the session.
    pub resume: bool,
}

/// An input that a caller saw in an inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenInput {
    /// Its id.
    pub id: MessageID,
    /// The text of its prompt.
    pub text: String,
}

/// A durable event that a stream has shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its session.
    pub session: SessionID,
    /// Its sequence.
    pub seq: u64,
    /// Its id.
    pub id: EventID,
}

/// A new value for a setting of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The session.
    pub session: SessionID,
    /// The setting.
    pub what: Setting,
    /// The new value.
    pub to: String,
}

/// The value of [`Setting::Revert`] without a staged revert.
pub const NO_REVERT: &str = "none";

/// A changeable property of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Its agent.
    Agent,
    /// Its model id.
    Model,
    /// Its directory.
    Directory,
    /// The boundary message of a staged revert, or [`NO_REVERT`].
    Revert,
}

/// Writes a line to the standard output, in one write.
pub fn say(line: &Line) {
    let mut text = serde_json::to_string(line).expect("a line is JSON");
    text.push('\n');
    let mut out = stdout().lock();
    // The reader is closed: the process that started this one has ended, and needs no further lines.
    if out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(1);
    }
}
