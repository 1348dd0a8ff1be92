//! What the processes of a life said, put together: what was acknowledged, and what may be.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use opencode_schema::id::{EventID, MessageID, SessionID};
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};

use crate::line::{Asked, Change, Input, Line, NO_REVERT, Setting};

/// Everything that was said on one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    /// Prompts by their text.
    pub prompts: BTreeMap<String, Prompt>,
    /// Sessions whose creation was acknowledged.
    pub sessions: Vec<SessionID>,
    /// Imports by their session.
    pub imports: BTreeMap<SessionID, Import>,
    /// What sessions may use, nothing for what they began with. One is left once it is acknowledged.
    pub settings: BTreeMap<(SessionID, Setting), Vec<Option<String>>>,
    /// Events that streams have shown, by their place.
    pub shown: BTreeMap<(SessionID, u64), EventID>,
    /// Sessions that the newest process created, so that nothing in them was left by another one.
    pub young: Vec<SessionID>,
    /// Sessions in which nothing runs, as long as nobody asks for more.
    pub quiet: Vec<SessionID>,
    /// Where the newest process killed itself.
    pub died: Option<(String, Option<SessionID>)>,
    /// How often each fail point was passed by the newest process, if it came to its end.
    pub passed: Option<BTreeMap<String, u32>>,
    /// What the load found wrong by itself.
    pub problems: Vec<String>,
}

/// A prompt and what was said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// How it was asked first.
    pub asked: Asked,
    /// Its id, if anybody knows it.
    pub id: Option<MessageID>,
    /// Every receipt.
    pub receipts: Vec<SessionInputAdmitted>,
    /// Its withdrawal.
    pub withdrawal: Progress,
    /// The deliveries it may have while it is pending.
    pub deliveries: Vec<Delivery>,
    /// It was said to be promoted.
    pub too_late: bool,
}

/// How far something came as far as the caller knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nobody asked for it.
    Never,
    /// It was asked for; it may have happened.
    Asked,
    /// It was acknowledged.
    Done,
}

/// A session that came as a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Import {
    /// Entries of the log.
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
    /// The ledger of a file of lines; empty when there is none.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut ledger = Self::default();
        if path.exists() {
            for line in std::fs::read_to_string(path)?.lines() {
                ledger.take(serde_json::from_str(line)?);
            }
        }
        Ok(ledger)
    }

    /// Adds lines to the file and to what is known.
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

    /// Whether the session came as a log that others wrote.
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
                    self.problems.push(format!("nobody asked for {receipt:?}"));
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
        // A drain carries out what is staged.
        let key = (session.clone(), Setting::Revert);
        if let Some(may) = self.settings.get_mut(&key) {
            may.push(Some(NO_REVERT.to_owned()));
        }
    }

    /// Changes what is known of a prompt. An input of another id with the same text came with an
    /// imported log, and nobody was told anything about it.
    fn of(&mut self, input: &Input, change: impl FnOnce(&mut Prompt)) {
        let Some(prompt) = self.prompts.get_mut(&input.text) else {
            self.problems.push(format!("nobody asked for {input:?}"));
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
