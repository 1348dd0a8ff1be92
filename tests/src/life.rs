//! A file and the processes that work on it one after the other. Each process is killed.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::check::check;
use crate::folder::Folder;
use crate::ledger::Ledger;
use crate::line::Line;
use crate::plan::{Death, Plan};
use crate::processes;

/// Maximum duration of a generation. It is far longer than any generation takes.
const DEADLINE: Duration = Duration::from_secs(120);

/// The exit code of a program that panicked.
const PANICKED: i32 = 101;

/// A life in progress.
pub struct Life {
    folder: Folder,
    /// The binary of this crate.
    program: PathBuf,
    /// The facts that the processes have reported so far.
    pub ledger: Ledger,
}

/// The end of a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The process was killed, by itself or from outside.
    Killed,
    /// The load completed first.
    Survived,
}

impl Life {
    /// Opens a life in a folder. The folder may contain earlier generations.
    pub fn new(folder: &Path, program: &Path) -> io::Result<Self> {
        let folder = Folder::new(folder);
        folder.create()?;
        Ok(Self {
            ledger: Ledger::read(&folder.ledger())?,
            folder,
            program: program.to_owned(),
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Runs one generation, kills it and checks the result. Returns the end and the findings.
    /// Afterwards the folder has all data to repeat the check.
    pub async fn generation(&mut self, plan: &Plan) -> io::Result<(End, Vec<String>)> {
        self.folder.keep("before")?;
        self.folder.write_plan(plan)?;
        let end = self.run(plan)?;
        self.folder.keep("killed")?;
        Ok((end, self.check(plan).await?))
    }

    /// Repeats the newest generation from its initial state.
    pub async fn again(&mut self) -> io::Result<(End, Vec<String>)> {
        self.folder.restore("before")?;
        self.ledger = Ledger::read(&self.folder.ledger())?;
        let plan = self.folder.read_plan()?;
        self.generation(&plan).await
    }

    /// Repeats the check of the newest generation.
    pub async fn check_again(&mut self) -> io::Result<Vec<String>> {
        self.folder.restore("killed")?;
        self.ledger = Ledger::read(&self.folder.ledger())?;
        let plan = self.folder.read_plan()?;
        self.check(&plan).await
    }

    async fn check(&mut self, plan: &Plan) -> io::Result<Vec<String>> {
        if !plan.settles {
            let (findings, _) = check(&self.folder.copy_for("copy")?, &self.ledger).await;
            return Ok(findings);
        }
        let (findings, lines) = check(&self.folder, &self.ledger).await;
        self.ledger.add(&self.folder.ledger(), lines)?;
        Ok(findings)
    }

    fn run(&mut self, plan: &Plan) -> io::Result<End> {
        let complaints = File::create(self.folder.complaints())?;
        let mut child = Command::new(&self.program)
            .arg("load")
            .arg(self.folder.path())
            .arg(serde_json::to_string(plan)?)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(complaints)
            .spawn()?;
        let (lines, hangs) = listen(&mut child, &plan.death);
        let status = child.wait()?;
        self.ledger.add(&self.folder.ledger(), lines)?;
        if hangs {
            let problem = format!("the load did not come to its end within {DEADLINE:?}");
            self.ledger.problems.push(problem);
        }
        if let Some(left) = processes::left_in(self.folder.path())? {
            let problem = format!("processes outlived the host: {left:?}");
            self.ledger.problems.push(problem);
        }
        let end = self.end_of(status);
        if end.is_none() {
            let complaints = std::fs::read_to_string(self.folder.complaints())?;
            let problem = format!("the process ended by {status}: {complaints}");
            self.ledger.problems.push(problem);
        }
        Ok(end.unwrap_or(End::Killed))
    }

    fn end_of(&self, status: ExitStatus) -> Option<End> {
        if status.success() {
            return self.ledger.passed.is_some().then_some(End::Survived);
        }
        // On Unix a killed process has no exit code. On Windows it has one. A process that panicked
        // always has one.
        let is_killed = match status.code() {
            None => true,
            Some(code) => cfg!(windows) && code != PANICKED,
        };
        is_killed.then_some(End::Killed)
    }
}

/// Reads the lines of the process until its end, and kills it at the time of the plan. Also returns
/// true if the process was killed because it hung.
fn listen(child: &mut Child, death: &Death) -> (Vec<Line>, bool) {
    let said = read_lines_of(child);
    let (after, delay) = match death {
        Death::Instant { lines, micros } => (*lines as usize, Duration::from_micros(*micros)),
        Death::Point { .. } | Death::None => (usize::MAX, Duration::ZERO),
    };
    let began = Instant::now();
    let mut lines = Vec::new();
    let mut is_killed = false;
    loop {
        let left = DEADLINE.saturating_sub(began.elapsed());
        match said.recv_timeout(left) {
            Ok(line) => lines.push(line),
            Err(RecvTimeoutError::Disconnected) => return (lines, false),
            Err(RecvTimeoutError::Timeout) => {
                // An error means that the process has ended already.
                let _ = child.kill();
                return (lines, true);
            }
        }
        if lines.len() >= after && !is_killed {
            is_killed = true;
            std::thread::sleep(delay);
            let _ = child.kill();
        }
    }
}

/// Receives the lines of a process until its output ends. Lines that it wrote before its death are
/// still readable.
fn read_lines_of(child: &mut Child) -> Receiver<Line> {
    let (sender, receiver) = channel();
    let output = child.stdout.take().expect("the output is a pipe");
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            // Each line is one write, so a kill never leaves an incomplete line.
            let line = line.map(|line| serde_json::from_str(&line));
            let Ok(Ok(line)) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
