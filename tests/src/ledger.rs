//! Combines the lines of all processes of a life: acknowledged facts and possible facts.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use opencode_schema::id::{EventID, MessageID, SessionID};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};

use crate::line::{Asked, Change, Line, NO_REVERT, SeenInput, Setting};

/// All facts about one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    /// Prompts by their text.
    pub prompts: BTreeMap<String, Prompt>,
    /// Sessions whose creation was acknowledged.
    pub sessions: Vec<SessionID>,
    /// Imports by their session.
    pub imports: BTreeMap<SessionID, Import>,
    /// The values that a setting may have. `None` is its initial value. After an acknowledgement
    /// only one value remains.
    pub settings: BTreeMap<(SessionID, Setting), Vec<Option<String>>>,
    /// Events that streams have shown, by session and sequence.
    pub shown: BTreeMap<(SessionID, u64), EventID>,
    /// Sessions that the newest process created. No earlier process has left anything in them.
    pub young: Vec<SessionID>,
    /// Sessions in which nothing runs until the next request.
    pub quiet: Vec<SessionID>,
    /// The fail point at which the newest process killed itself, and the session.
    pub died: Option<(String, Option<SessionID>)>,
    /// Number of times that the newest process passed each fail point, if its load completed.
    pub passed: Option<BTreeMap<String, u32>>,
    /// Problems that the load found by itself.
    pub problems: Vec<String>,
}

/// A prompt and its acknowledgements.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The first request.
    pub asked: Asked,
    /// Its id, if it is known.
    pub id: Option<MessageID>,
    /// Every receipt.
    pub receipts: Vec<SessionInputAdmitted>,
    /// The progress of its withdrawal.
    pub withdrawal: Progress,
    /// The deliveries that the prompt may have while it is pending.
    pub deliveries: Vec<Delivery>,
    /// The runtime reported that the prompt is promoted.
    pub too_late: bool,
}

/// The progress of a request from the view of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It was not requested.
    Never,
    /// It was requested, and may have happened.
    Asked,
    /// It was acknowledged.
    Done,
}

/// A session that was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Import {
    /// Number of entries in the log.
    pub entries: u64,
    /// It was acknowledged.
    pub done: bool,
}

impl Prompt {
    fn new(asked: Asked) -> Self {
        Self {
            id: asked.id.clone(),
            deliveries: vec![asked.delivery],
            asked,
            receipts: Vec::new(),
            withdrawal: Progress::Never,
            too_late: false,
        }
    }
}

impl Ledger {
    /// Reads the ledger from a file of lines. Empty if the file does not exist.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut ledger = Self::default();
        if path.exists() {
            for line in std::fs::read_to_string(path)?.lines() {
                ledger.take(serde_json::from_str(line)?);
            }
        }
        Ok(ledger)
    }

    /// Appends lines to the file and applies them to the ledger.
    pub fn add(&mut self, path: &Path, lines: Vec<Line>) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        for line in lines {
            let mut text = serde_json::to_string(&line)?;
            text.push('\n');
            file.write_all(text.as_bytes())?;
            self.take(line);
        }
        Ok(())
    }

    /// True if the session was imported.
    #[must_use]
    pub fn is_import(&self, session: &SessionID) -> bool {
        self.imports.contains_key(session)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Begun => {
                self.young.clear();
                self.quiet.clear();
                self.died = None;
                self.passed = None;
            }
            Line::Created { session } => {
                self.young.push(session.clone());
                self.sessions.push(session);
            }
            Line::Asked(asked) => {
                if asked.resume {
                    self.disturb(&asked.session);
                }
                let text = asked.prompt.text.clone();
                self.prompts
                    .entry(text)
                    .or_insert_with(|| Prompt::new(asked));
            }
            Line::Admitted { receipt } => {
                if let Some(prompt) = self.prompts.get_mut(&receipt.prompt.text) {
                    prompt.id.get_or_insert_with(|| receipt.id.clone());
                    prompt.receipts.push(receipt);
                } else {
                    self.problems
                        .push(format!("no caller asked for {receipt:?}"));
                }
            }
            Line::Withdrawing(input) => self.of(&input, |it| it.withdrawal = Progress::Asked),
            Line::Withdrawn(input) => self.of(&input, |it| it.withdrawal = Progress::Done),
            Line::Redelivering { input, delivery } => {
                self.of(&input, |it| it.deliveries.push(delivery));
            }
            Line::Redelivered { input, delivery } => {
                self.of(&input, |it| it.deliveries = vec![delivery]);
            }
            Line::TooLate(input) => self.of(&input, |it| it.too_late = true),
            Line::Changing(change) => self.changing(change),
            Line::Changed(change) => self.changed(change),
            Line::Importing { session, entries } => {
                let import = Import {
                    entries,
                    done: false,
                };
                self.imports.insert(session, import);
            }
            Line::Imported { session } => {
                if let Some(import) = self.imports.get_mut(&session) {
                    import.done = true;
                }
            }
            Line::Waking { session } => self.disturb(&session),
            Line::Quiet { session } => self.quiet.push(session),
            Line::Showing { events } => {
                for event in events {
                    self.shown.insert((event.session, event.seq), event.id);
                }
            }
            Line::Dying { point, session } => self.died = Some((point, session)),
            Line::Problem { text } => self.problems.push(text),
            Line::Ended { passed } => self.passed = Some(passed),
        }
    }

    fn disturb(&mut self, session: &SessionID) {
        self.quiet.retain(|quiet| quiet != session);
        // A drain commits the staged revert.
        let key = (session.clone(), Setting::Revert);
        if let Some(may) = self.settings.get_mut(&key) {
            may.push(Some(NO_REVERT.to_owned()));
        }
    }

    /// Updates a known prompt. An input with the same text and another id belongs to an imported
    /// log, and no acknowledgement refers to it.
    fn of(&mut self, input: &SeenInput, change: impl FnOnce(&mut Prompt)) {
        let Some(prompt) = self.prompts.get_mut(&input.text) else {
            self.problems.push(format!("no caller asked for {input:?}"));
            return;
        };
        let id = prompt.id.get_or_insert_with(|| input.id.clone());
        if *id == input.id {
            change(prompt);
        }
    }

    fn changing(&mut self, change: Change) {
        let key = (change.session, change.what);
        let may = self.settings.entry(key).or_insert_with(|| vec![None]);
        may.push(Some(change.to));
    }

    fn changed(&mut self, change: Change) {
        let key = (change.session, change.what);
        self.settings.insert(key, vec![Some(change.to)]);
    }
}
