//! What models and tools of the load did in the world, as a world without transactions keeps it.
//!
//! Each act appends one line to a file before or after its effect. The lines outlive the process
//! that wrote them, so an act that happened twice is seen, whoever died in between.

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
    /// A request goes to the provider.
    Sending {
        /// Whose.
        session: SessionID,
        /// Its Baseline System Context, as a number.
        baseline: u64,
    },
    /// A tool begins; its effect follows.
    Before(ActingCall),
    /// A tool's effect has happened.
    After(ActingCall),
    /// A command ran. It wrote this line itself.
    Ran {
        /// What tells the command from every other one.
        mark: String,
    },
}

impl Act {
    /// A request of a Provider Turn that leaves. One for a summary is not asked in any context.
    #[must_use]
    pub fn sending(session: &SessionID, request: &LlmRequest) -> Option<Self> {
        if request.system.is_empty() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        // What comes before it is the agent's.
        let baseline = request.system.last().map(|part| &part.text);
        baseline.hash(&mut hasher);
        Some(Self::Sending {
            session: session.clone(),
            baseline: hasher.finish(),
        })
    }
}

/// What tells one tool call from every other one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ActingCall {
    /// The session.
    pub session: SessionID,
    /// The assistant message that holds the call.
    pub message: MessageID,
    /// The provider's name for the call.
    pub call: String,
}

/// The file, open for adding.
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal, which need not exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let path = path.to_owned();
        Ok(Self { path, file })
    }

    /// What a shell has to run to add that a command with this mark ran.
    pub(crate) fn adding(&self, mark: &str) -> String {
        let act = Act::Ran {
            mark: mark.to_owned(),
        };
        let line = serde_json::to_string(&act).expect("an act is JSON");
        format!("echo '{line}' >> '{}'", self.path.display())
    }

    /// Adds an act. It is one write, so it is there whole or not at all.
    pub fn add(&self, act: &Act) {
        let mut line = serde_json::to_string(act).expect("an act is JSON");
        line.push('\n');
        (&self.file)
            .write_all(line.as_bytes())
            .expect("the journal takes a line");
    }
}

/// Everything that was ever done; nothing when there is no journal.
pub fn read(path: &Path) -> io::Result<Vec<Act>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = read_to_string(path)?;
    let acts = text.lines().map(serde_json::from_str);
    acts.collect::<Result<_, _>>().map_err(io::Error::from)
}
