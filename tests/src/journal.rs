//! The effects of models and tools of the load outside the database, where there are no
//! transactions.
//!
//! Each act appends one line to a file before or after its effect. The lines outlive the process
//! that wrote them, so a repeated act is visible after any kill.

use std::fs::{File, OpenOptions, read_to_string};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use opencode_llm::LlmRequest;
use opencode_schema::id::{MessageID, SessionID};
use serde::{Deserialize, Serialize};

/// One act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "act")]
pub enum Act {
    /// A request is about to go to the provider.
    Sending {
        /// The session of the request.
        session: SessionID,
        /// A hash of its Baseline System Context.
        baseline: u64,
    },
    /// A tool begins, before its effect.
    Before(ActingCall),
    /// The effect of a tool has happened.
    After(ActingCall),
    /// A command ran. The command itself wrote this line.
    Ran {
        /// Distinguishes the command from every other command.
        mark: String,
    },
}

impl Act {
    /// The act for a request of a Provider Turn. A request for a summary has no System Context and
    /// gives `None`.
    #[must_use]
    pub fn sending(session: &SessionID, request: &LlmRequest) -> Option<Self> {
        if request.system.is_empty() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        // The parts before the last one come from the agent.
        let baseline = request.system.last().map(|part| &part.text);
        baseline.hash(&mut hasher);
        Some(Self::Sending {
            session: session.clone(),
            baseline: hasher.finish(),
        })
    }
}

/// Identifies one tool call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ActingCall {
    /// The session.
    pub session: SessionID,
    /// The assistant message that holds the call.
    pub message: MessageID,
    /// The id that the provider gave the call.
    pub call: String,
}

/// The journal file, open for appending.
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal. Creates the file if it does not exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let path = path.to_owned();
        Ok(Self { path, file })
    }

    /// A shell command that records the run of a command with this mark.
    pub(crate) fn adding(&self, mark: &str) -> String {
        let act = Act::Ran {
            mark: mark.to_owned(),
        };
        let line = serde_json::to_string(&act).expect("an act is JSON");
        format!("echo '{line}' >> '{}'", self.path.display())
    }

    /// Appends an act with one write, so that the line is complete or absent.
    pub fn add(&self, act: &Act) {
        let mut line = serde_json::to_string(act).expect("an act is JSON");
        line.push('\n');
        (&self.file)
            .write_all(line.as_bytes())
            .expect("the journal takes a line");
    }
}

impl Journal {
    /// True if the journal has this act.
    pub(crate) fn has(&self, act: &Act) -> bool {
        let acts = read(&self.path).expect("the journal is readable");
        acts.contains(act)
    }
}

/// Every act in the journal. Empty if the file does not exist.
pub fn read(path: &Path) -> io::Result<Vec<Act>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = read_to_string(path)?;
    let acts = text.lines().map(serde_json::from_str);
    acts.collect::<Result<_, _>>().map_err(io::Error::from)
}
