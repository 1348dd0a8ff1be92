//! What the process under test says of itself while it lives: one line per fact, at once.
//!
//! A line about a request is written before the request is made, the line about its answer when
//! the answer is there. What was said is acknowledged; what was only asked may have happened.

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
        /// Which.
        session: SessionID,
    },
    /// A prompt is about to be admitted, or tried again.
    Asked(Asked),
    /// A prompt was admitted.
    Admitted {
        /// The receipt.
        receipt: SessionInputAdmitted,
    },
    /// A pending input is about to be withdrawn.
    Withdrawing(Input),
    /// It was withdrawn.
    Withdrawn(Input),
    /// The delivery of a pending input is about to be changed.
    Redelivering {
        /// Which.
        input: Input,
        /// To what.
        delivery: Delivery,
    },
    /// It was changed.
    Redelivered {
        /// Which.
        input: Input,
        /// To what.
        delivery: Delivery,
    },
    /// A withdrawal or a change was refused, because the input is promoted.
    TooLate(Input),
    /// Agent, model or Location of a session is about to change.
    Changing(Change),
    /// It changed.
    Changed(Change),
    /// The log of a session is about to be imported.
    Importing {
        /// Into which session.
        session: SessionID,
        /// How many entries.
        entries: u64,
    },
    /// It was imported.
    Imported {
        /// Into which session.
        session: SessionID,
    },
    /// A session may begin to run without a prompt.
    Waking {
        /// Which.
        session: SessionID,
    },
    /// An interruption or a wait returned: nothing of the session runs.
    Quiet {
        /// Which.
        session: SessionID,
    },
    /// A stream has shown durable events.
    Showing {
        /// Which.
        events: Vec<Shown>,
    },
    /// A fail point is reached; nothing follows.
    Dying {
        /// Where.
        point: String,
        /// The session it is about, if it is about one.
        session: Option<SessionID>,
    },
    /// The load noticed by itself that something is wrong.
    Problem {
        /// What.
        text: String,
    },
    /// The load came to its end and the database is closed.
    Ended {
        /// How often each fail point was passed.
        passed: BTreeMap<String, u32>,
    },
}

/// A prompt as it was asked. Its text tells it from every other one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The session.
    pub session: SessionID,
    /// The caller's id, if it gave one.
    pub id: Option<MessageID>,
    /// What was asked.
    pub prompt: PromptInput,
    /// How it was to enter the session.
    pub delivery: Delivery,
    /// Whether the session was to be woken.
    pub resume: bool,
}

/// An input as it was seen in an inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its id.
    pub id: MessageID,
    /// The text of its prompt.
    pub text: String,
}

/// A durable event as a stream has shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its session.
    pub session: SessionID,
    /// Its sequence.
    pub seq: u64,
    /// Its id.
    pub id: EventID,
}

/// What a session uses from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The session.
    pub session: SessionID,
    /// What changes.
    pub what: Setting,
    /// To what.
    pub to: String,
}

/// What is said of a session without a staged revert.
pub const NO_REVERT: &str = "none";

/// What of a session can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Its agent.
    Agent,
    /// Its model, by id.
    Model,
    /// Its directory.
    Directory,
    /// The message that a staged revert goes back to, [`NO_REVERT`] where none is staged.
    Revert,
}

/// Says a line, in one write.
pub fn say(line: &Line) {
    let mut text = serde_json::to_string(line).expect("a line is JSON");
    text.push('\n');
    let mut out = stdout().lock();
    // Nobody listens any more: whoever started this process is gone, and so is the question.
    if out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(1);
    }
}
