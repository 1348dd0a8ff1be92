//! Checks the file of a killed process against all guarantees, independent of the instant of the
//! kill.
//!
//! `raw` reads the file with SQLite alone. Then the check opens the file like a host, and `found`
//! reads it with the operations of the runtime. `prompts`, `sessions`, `calls` and `interrupted`
//! compare that with the acknowledgements and the acts. `kept` compares the files with the staged
//! reverts, `replayed` compares the logs with their import into an empty store. `settled` continues
//! the work, and `told` checks the text that the model then reads about its environment.

mod calls;
mod found;
mod interrupted;
mod kept;
mod prompts;
mod raw;
mod replayed;
mod sessions;
mod settled;
mod told;

use std::io;
use std::sync::Arc;

use opencode_runtime::{DatabasePath, OpenError, Recovery, RuntimeError};

use crate::folder::Folder;
use crate::host::{Host, HostOptions};
use crate::journal;
use crate::ledger::Ledger;
use crate::line::Line;

use self::found::Found;
use self::settled::Recorder;

/// The reason why a check could not complete. It counts as a finding.
#[derive(Debug)]
pub enum CheckError {
    /// The files of the test itself failed.
    Io(io::Error),
    /// SQLite returned an error.
    Sqlite(rusqlite::Error),
    /// The file did not open.
    Open(OpenError),
    /// An operation failed unexpectedly.
    Runtime(&'static str, RuntimeError),
    /// An operation did not complete in time.
    Hangs(&'static str),
}

impl From<io::Error> for CheckError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<rusqlite::Error> for CheckError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<OpenError> for CheckError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

/// Runs all checks and continues the work. Returns the findings, and the requests of this check
/// with their acknowledgements.
pub async fn check(folder: &Folder, ledger: &Ledger) -> (Vec<String>, Vec<Line>) {
    let mut check = Check {
        findings: ledger.problems.clone(),
        lines: Vec::new(),
    };
    if let Err(error) = check.make(folder, ledger).await {
        check
            .findings
            .push(format!("the check broke off: {error:?}"));
    }
    (check.findings, check.lines)
}

/// A check in progress.
struct Check {
    findings: Vec<String>,
    lines: Vec<Line>,
}

impl Check {
    async fn make(&mut self, folder: &Folder, ledger: &Ledger) -> Result<(), CheckError> {
        let entries = raw::check(folder, &mut self.findings)?;
        let acts = journal::read(&folder.journal())?;
        let recorder = Recorder::new(folder)?;
        let host = Host::open(HostOptions {
            folder: folder.path(),
            database: DatabasePath::File(folder.database()),
            model: Arc::new(recorder.clone()),
            tools: Vec::new(),
            test_hook: None,
            recovery: Recovery::Manual,
        });
        let host = host.await?;
        let found = Found::read(&host.runtime).await?;
        let opened = found.sessions.values().map(|session| session.entries.len());
        if opened.sum::<usize>() as u64 != entries {
            self.finding("opening the file changed its logs");
        }
        if !host.runtime.active().is_empty() {
            self.finding("work runs without a request");
        }
        sessions::check(folder, ledger, &found, &mut self.findings);
        prompts::check(ledger, &found, &mut self.findings);
        calls::check(ledger, &found, &acts, &mut self.findings);
        interrupted::check(ledger, &found, &mut self.findings);
        kept::check(ledger, &found, &mut self.findings);
        replayed::check(folder, &found, &mut self.findings).await?;
        self.repeat(&host.runtime, &found, ledger).await;
        self.settle(&host.runtime, &found, &recorder).await?;
        host.runtime.close().await;
        let acts = journal::read(&folder.journal())?;
        calls::check_baselines(&found, &acts, &mut self.findings);
        Ok(())
    }

    fn finding(&mut self, text: impl Into<String>) {
        self.findings.push(text.into());
    }
}
