//! The named fail points: every commit boundary and every dispatch boundary of the engine.
//!
//! Commit boundaries come from the test hook of the store, one set for each kind of event. So a new kind
//! of event gets its fail points without code in the engine. The model and the tools of the load
//! pass the dispatch boundaries.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use opencode_runtime::{Fault, Moment, TestHook};
use opencode_schema::event::SessionEvent;
use opencode_schema::id::SessionID;

use crate::line::{Line, say};

/// A request is about to go to the provider.
pub const SENDING: &str = "request:sending";
/// The first piece of an answer has arrived and is not processed yet.
pub const FIRST_OUTPUT: &str = "request:first-output";
/// A tool call is recorded, and its effect has not happened.
pub const TOOL_BEFORE: &str = "tool:before";
/// The effect of a tool call has happened, and its result is not returned yet.
pub const TOOL_AFTER: &str = "tool:after";

/// The fail points that do not belong to a kind of event.
pub const SINGLE: [&str; 6] = [
    "begin",
    "checkpoint",
    SENDING,
    FIRST_OUTPUT,
    TOOL_BEFORE,
    TOOL_AFTER,
];

/// The fail points of each kind of event, in the order in which they are passed.
pub const STAGES: [&str; 4] = ["appended", "before-commit", "after-commit", "told"];

/// The kinds of events that the load produces. The engine commits no other kinds.
pub const EVENTS: [&str; 33] = [
    "session.created",
    "session.updated",
    "agent.switched",
    "model.switched",
    "model.fallback",
    "moved",
    "prompt.admitted",
    "prompt.withdrawn",
    "prompt.redelivered",
    "synthetic",
    "prompted",
    "context.updated",
    "step.started",
    "step.ended",
    "step.failed",
    "text.started",
    "text.ended",
    "reasoning.started",
    "reasoning.ended",
    "tool.input.started",
    "tool.input.ended",
    "tool.called",
    "tool.success",
    "tool.failed",
    "interrupted",
    "paused",
    "todos.updated",
    "retried",
    "compaction.started",
    "compaction.ended",
    "revert.staged",
    "revert.cleared",
    "revert.committed",
];

/// Every fail point.
pub fn all() -> impl Iterator<Item = String> {
    let single = SINGLE.iter().map(ToString::to_string);
    single.chain(STAGES.iter().flat_map(|stage| of_stage(stage)))
}

/// The fail points of one stage.
pub fn of_stage(stage: &str) -> impl Iterator<Item = String> + use<'_> {
    EVENTS.iter().map(move |event| format!("{stage}:{event}"))
}

/// Ends the process at a deadly fail point, and counts passes at all fail points.
pub struct FailPoints {
    deadly: Option<(String, u32)>,
    passed: Mutex<BTreeMap<String, u32>>,
}

impl FailPoints {
    /// With a fail point and `n`, the process dies at the `n`-th pass, counted from 1. Without them
    /// it never dies.
    #[must_use]
    pub fn new(deadly: Option<(String, u32)>) -> Self {
        Self {
            deadly,
            passed: Mutex::default(),
        }
    }

    /// Passes a fail point. Does not return if it is the deadly one.
    pub fn pass(&self, point: &str, session: Option<&SessionID>) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        let count = passed.entry(point.to_owned()).or_default();
        *count += 1;
        let is_deadly = |(deadly, n): &(String, u32)| deadly == point && n == count;
        if self.deadly.as_ref().is_some_and(is_deadly) {
            say(&Line::Dying {
                point: point.to_owned(),
                session: session.cloned(),
            });
            die();
        }
    }

    /// Number of times that each fail point was passed.
    pub fn passed(&self) -> BTreeMap<String, u32> {
        let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.clone()
    }

    fn pass_event(&self, stage: &str, session: &SessionID, payload: &SessionEvent) {
        let name = payload.name();
        let name = name.strip_prefix("session.next.").unwrap_or(name);
        self.pass(&format!("{stage}:{name}"), Some(session));
    }
}

impl TestHook for FailPoints {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        let (stage, entries) = match moment {
            Moment::Begin => {
                self.pass("begin", None);
                return Ok(());
            }
            Moment::Checkpoint => {
                self.pass("checkpoint", None);
                return Ok(());
            }
            Moment::Read => return Ok(()),
            Moment::Appended(event) => {
                self.pass_event("appended", &event.session_id, &event.payload);
                return Ok(());
            }
            Moment::Commit(entries) => ("before-commit", entries),
            Moment::Committed(entries) => ("after-commit", entries),
            Moment::Notified(entries) => ("told", entries),
        };
        for entry in entries {
            self.pass_event(stage, &entry.event.session_id, &entry.event.payload);
        }
        Ok(())
    }
}

/// Ends the process like a power cut: no destructor runs, no buffer is flushed.
#[cfg(unix)]
fn die() -> ! {
    use rustix::process::{Signal, getpid, kill_process};
    kill_process(getpid(), Signal::KILL).expect("a process may end itself");
    loop {
        std::thread::park();
    }
}

/// Ends the process without running any more of its code.
#[cfg(not(unix))]
fn die() -> ! {
    std::process::abort()
}
