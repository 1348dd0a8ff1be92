//! The table of the coordinator: the actions of each input in each phase of a session.

use self::Action::*;
use super::Exit;

/// Phase of a session. A hold counts as a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// No drain.
    Idle,
    /// A drain that was not stopped.
    Running,
    /// A drain whose turn failed: later requests are not part of it.
    Failing,
    /// A drain that was interrupted or declined, and has not settled yet.
    Stopping,
}

/// Kind of an input: a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Wake,
    Run,
    Interrupt,
    Wait,
    Declined,
    TurnFailed,
    Forget,
    Hold,
    ExitDone,
    ExitIdle,
    ExitInterrupted,
    ExitFailed,
}

impl Kind {
    pub(super) fn of_exit<E>(exit: &Exit<E>) -> Self {
        match exit {
            Exit::Done => Self::ExitDone,
            Exit::Idle => Self::ExitIdle,
            Exit::Interrupted => Self::ExitInterrupted,
            Exit::Failed(_) => Self::ExitFailed,
        }
    }
}

/// One action of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Records a wake for the chain. Wakes coalesce.
    RecordWake,
    /// Records a run for the chain, whose exit its ticket gets.
    RecordRun,
    /// Records a wake for the next chain.
    RecordLaterWake,
    /// Records a run for the next chain.
    RecordLaterRun,
    /// Starts a drain for the recorded requests.
    Start,
    /// Makes the session active without a drain.
    Occupy,
    /// Answers the ticket.
    Answer,
    /// Answers the ticket when the chain has ended.
    AwaitSettlement,
    /// Answers the ticket when nothing runs.
    AwaitIdleness,
    /// Drops the requests for the next chain. Their callers learn that they were interrupted.
    CutLater,
    /// Stops the drain.
    Cancel,
    /// Later requests are for the next chain.
    SeparateLater,
    /// Drops the ticket. Its request stays valid.
    ForgetTicket,
    /// The runs of this chain have had their Provider Turn.
    CompleteRuns,
    /// Starts another drain in the same chain and completes the transition, if the condition holds.
    ContinueIf(Condition),
    /// Answers the callers of the chain.
    Settle(Outcome),
    /// Starts the next chain if there are requests for it. Otherwise the session is idle.
    StartNext(Source),
}

/// Condition for another drain in the same chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    Woken,
    /// Woken, or a run joined that has had no Provider Turn.
    WokenOrRun,
}

/// Answer to the callers that joined a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The exit of the drain. An idle drain is done.
    OfExit,
    Interrupted,
}

/// Requests that start the next chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Wakes during the drain, and requests after its failure.
    Unserved,
    /// Requests after the interruption.
    Later,
}

/// The actions of one kind of input in the phases idle, running, failing and stopping.
struct Row(Kind, [&'static [Action]; 4]);

const ENDED: &[Action] = &[Settle(Outcome::OfExit), StartNext(Source::Unserved)];
const DONE: &[Action] = &[
    CompleteRuns,
    ContinueIf(Condition::Woken),
    Settle(Outcome::OfExit),
    StartNext(Source::Unserved),
];
const IDLE: &[Action] = &[
    ContinueIf(Condition::WokenOrRun),
    Settle(Outcome::OfExit),
    StartNext(Source::Unserved),
];
const STOPPED: &[Action] = &[Settle(Outcome::OfExit), StartNext(Source::Later)];
/// An idle drain that was stopped has not served the callers that joined it.
const STOPPED_IDLE: &[Action] = &[Settle(Outcome::Interrupted), StartNext(Source::Later)];

#[rustfmt::skip]
const TABLE: [Row; 12] = [
    //                          idle                  running                     failing                               stopping
    Row(Kind::Wake,            [&[RecordWake, Start], &[RecordWake],              &[RecordLaterWake],                   &[RecordLaterWake]]),
    Row(Kind::Run,             [&[RecordRun, Start],  &[RecordRun],               &[RecordLaterRun],                    &[RecordLaterRun]]),
    Row(Kind::Interrupt,       [&[Answer],            &[AwaitSettlement, Cancel], &[Cancel, CutLater, AwaitSettlement], &[CutLater, AwaitSettlement]]),
    Row(Kind::Wait,            [&[Answer],            &[AwaitIdleness],           &[AwaitIdleness],                     &[AwaitIdleness]]),
    Row(Kind::Declined,        [&[],                  &[Cancel],                  &[Cancel, CutLater],                  &[]]),
    Row(Kind::TurnFailed,      [&[],                  &[SeparateLater],           &[],                                  &[]]),
    Row(Kind::Forget,          [&[],                  &[ForgetTicket],            &[ForgetTicket],                      &[ForgetTicket]]),
    Row(Kind::Hold,            [&[Occupy],            &[],                        &[],                                  &[]]),
    Row(Kind::ExitDone,        [&[],                  DONE,                       ENDED,                                STOPPED]),
    Row(Kind::ExitIdle,        [&[],                  IDLE,                       ENDED,                                STOPPED_IDLE]),
    Row(Kind::ExitInterrupted, [&[],                  ENDED,                      ENDED,                                STOPPED]),
    Row(Kind::ExitFailed,      [&[],                  ENDED,                      ENDED,                                STOPPED]),
];

/// Returns the actions of an input, in order.
pub(super) fn actions(kind: Kind, phase: Phase) -> &'static [Action] {
    let Row(_, cells) = &TABLE[kind as usize];
    cells[phase as usize]
}

const _: () = {
    let mut row = 0;
    while row < TABLE.len() {
        assert!(
            TABLE[row].0 as usize == row,
            "the rows are in the order of the kinds"
        );
        row += 1;
    }
};
