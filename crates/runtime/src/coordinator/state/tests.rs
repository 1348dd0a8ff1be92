use super::CoordinatorInput::*;
use super::*;

type In = CoordinatorInput<&'static str>;
type Out = Effect<&'static str>;

const START: Out = Effect::Start { force: false };
const FORCE: Out = Effect::Start { force: true };
const DONE: In = Exited(Exit::Done);
const IDLE: In = Exited(Exit::Idle);
const INTERRUPTED: In = Exited(Exit::Interrupted);
const FAILED: In = Exited(Exit::Failed("no"));

fn done(ticket: Ticket) -> Out {
    Effect::Resolve(ticket, Answer::Done)
}

fn cut(ticket: Ticket) -> Out {
    Effect::Resolve(ticket, Answer::Interrupted)
}

fn failed(ticket: Ticket) -> Out {
    Effect::Resolve(ticket, Answer::Failed("no"))
}

/// Feeds inputs to one session and compares the effects of each. At the end the session is idle.
fn check(steps: &[(In, &[Out])]) {
    let session = SessionID::parse("ses_one").unwrap();
    let mut state = State::default();
    for (at, (input, effects)) in steps.iter().enumerate() {
        assert_eq!(
            &state.step(&session, input.clone()),
            effects,
            "step {at}: {input:?}"
        );
    }
    assert_eq!(state.active().collect::<Vec<_>>(), [&session; 0]);
}

#[test]
fn without_a_drain_there_is_nothing_to_interrupt_or_wait_for() {
    check(&[
        (Interrupt(1), &[done(1)]),
        (Wait(2), &[done(2)]),
        (Forget(2), &[]),
        (DONE, &[]),
    ]);
}

#[test]
fn a_wake_starts_one_drain_and_later_wakes_coalesce_into_one_rerun() {
    check(&[
        (Wake, &[START]),
        (Wake, &[]),
        (Wake, &[]),
        (DONE, &[START]),
        (DONE, &[]),
    ]);
}

#[test]
fn runs_join_and_share_the_exit_of_the_last_rerun() {
    check(&[
        (Run(1), &[FORCE]),
        (Run(2), &[]),
        (Wake, &[]),
        (DONE, &[START]),
        (FAILED, &[failed(1), failed(2)]),
    ]);
}

#[test]
fn a_run_that_joined_a_drain_without_work_gets_its_turn() {
    check(&[
        (Wake, &[START]),
        (Run(1), &[]),
        (Wait(2), &[]),
        (IDLE, &[FORCE]),
        (DONE, &[done(1), done(2)]),
    ]);
    // Not if there is nothing to ask the model.
    check(&[(Run(1), &[FORCE]), (IDLE, &[done(1)])]);
    check(&[
        (Run(1), &[FORCE]),
        (Run(2), &[]),
        (IDLE, &[FORCE]),
        (IDLE, &[done(1), done(2)]),
    ]);
    // A run that has had its turn gets no other one when a rerun finds nothing.
    check(&[
        (Run(1), &[FORCE]),
        (Wake, &[]),
        (DONE, &[START]),
        (IDLE, &[done(1)]),
    ]);
}

#[test]
fn an_interrupt_suppresses_earlier_wakes_and_keeps_later_ones() {
    check(&[
        (Wake, &[START]),
        (Wake, &[]),
        (Interrupt(1), &[Effect::Cancel]),
        (Interrupt(2), &[]),
        (INTERRUPTED, &[done(1), done(2)]),
    ]);
    check(&[
        (Wake, &[START]),
        (Interrupt(1), &[Effect::Cancel]),
        (Wake, &[]),
        (INTERRUPTED, &[done(1), START]),
        (DONE, &[]),
    ]);
    // The same for requests that arrived while an earlier interruption settled.
    check(&[
        (Run(1), &[FORCE]),
        (Interrupt(2), &[Effect::Cancel]),
        (Wake, &[]),
        (Run(3), &[]),
        (Interrupt(4), &[cut(3)]),
        (INTERRUPTED, &[cut(1), done(2), done(4)]),
    ]);
}

#[test]
fn a_drain_that_was_finished_when_it_was_stopped_does_not_rerun_earlier_wakes() {
    for (exit, answer) in [(DONE, done(1)), (IDLE, cut(1)), (FAILED, failed(1))] {
        check(&[
            (Run(1), &[FORCE]),
            (Wake, &[]),
            (Interrupt(2), &[Effect::Cancel]),
            (exit, &[answer, done(2)]),
        ]);
    }
}

#[test]
fn a_run_during_stopping_starts_again() {
    for exit in [INTERRUPTED, DONE, IDLE] {
        check(&[
            (Wake, &[START]),
            (Interrupt(1), &[Effect::Cancel]),
            (Wake, &[]),
            (Run(2), &[]),
            (exit, &[done(1), FORCE]),
            (DONE, &[done(2)]),
        ]);
    }
}

#[test]
fn a_failed_drain_keeps_wakes_that_arrived_while_it_ran() {
    check(&[
        (Run(1), &[FORCE]),
        (Wake, &[]),
        (FAILED, &[failed(1), START]),
        (FAILED, &[]),
    ]);
}

#[test]
fn a_declined_call_stops_its_drain_and_keeps_later_wakes() {
    check(&[
        (Declined, &[]),
        (Run(1), &[FORCE]),
        (Wake, &[]),
        (Declined, &[Effect::Cancel]),
        (Declined, &[]),
        (INTERRUPTED, &[cut(1)]),
    ]);
    check(&[
        (Wake, &[START]),
        (Declined, &[Effect::Cancel]),
        (Wake, &[]),
        (Declined, &[]),
        (INTERRUPTED, &[START]),
        (Interrupt(1), &[Effect::Cancel]),
        (Declined, &[]),
        (Wake, &[]),
        (INTERRUPTED, &[done(1), START]),
        (DONE, &[]),
    ]);
}

#[test]
fn waiting_callers_wait_through_reruns_and_restarts() {
    check(&[
        (Wake, &[START]),
        (Wait(1), &[]),
        (Wake, &[]),
        (DONE, &[START]),
        (Wake, &[]),
        (FAILED, &[START]),
        (Interrupt(2), &[Effect::Cancel]),
        (Run(3), &[]),
        (INTERRUPTED, &[done(2), FORCE]),
        (DONE, &[done(3), done(1)]),
    ]);
}

#[test]
fn a_dropped_caller_gets_no_answer_and_its_request_remains() {
    check(&[
        (Wake, &[START]),
        (Run(1), &[]),
        (Wait(2), &[]),
        (Forget(1), &[]),
        (Forget(2), &[]),
        (IDLE, &[FORCE]),
        (Interrupt(3), &[Effect::Cancel]),
        (Run(4), &[]),
        (Forget(3), &[]),
        (Forget(4), &[]),
        (INTERRUPTED, &[FORCE]),
        (DONE, &[]),
    ]);
}

#[test]
fn exclusive_access_delays_work_until_it_ends() {
    check(&[(Hold, &[]), (IDLE, &[])]);
    check(&[(Hold, &[]), (Wake, &[]), (IDLE, &[START]), (DONE, &[])]);
    check(&[
        (Hold, &[]),
        (Run(1), &[]),
        (Wait(2), &[]),
        (IDLE, &[FORCE]),
        (DONE, &[done(1), done(2)]),
    ]);
    // An interruption waits for the release too.
    check(&[
        (Hold, &[]),
        (Wake, &[]),
        (Interrupt(1), &[Effect::Cancel]),
        (IDLE, &[done(1)]),
    ]);
    // A running session cannot be held.
    check(&[(Wake, &[START]), (Hold, &[]), (DONE, &[])]);
}

#[test]
fn requests_after_a_failure_do_not_share_it() {
    check(&[
        (TurnFailed, &[]),
        (Run(1), &[FORCE]),
        (TurnFailed, &[]),
        (Run(2), &[]),
        (FAILED, &[failed(1), FORCE]),
        (DONE, &[done(2)]),
    ]);
    // The drain may go on with queued input.
    check(&[
        (Run(1), &[FORCE]),
        (Wake, &[]),
        (TurnFailed, &[]),
        (Run(2), &[]),
        (DONE, &[done(1), FORCE]),
        (Run(3), &[]),
        (DONE, &[done(2), done(3)]),
    ]);
    // Wakes from before the failure start a drain too.
    check(&[
        (Wake, &[START]),
        (Wake, &[]),
        (TurnFailed, &[]),
        (FAILED, &[START]),
        (DONE, &[]),
    ]);
}

#[test]
fn a_failing_drain_can_be_stopped() {
    check(&[
        (Run(1), &[FORCE]),
        (Wake, &[]),
        (TurnFailed, &[]),
        (Run(2), &[]),
        (Interrupt(3), &[Effect::Cancel, cut(2)]),
        (FAILED, &[failed(1), done(3)]),
    ]);
    check(&[
        (Wake, &[START]),
        (Wake, &[]),
        (TurnFailed, &[]),
        (Run(1), &[]),
        (Declined, &[Effect::Cancel, cut(1)]),
        (TurnFailed, &[]),
        (FAILED, &[]),
    ]);
}

/// The effects of each input in each phase, for a session with one caller: in a drain that a run started with the
/// ticket 1, in one whose turn failed, and in one that the ticket 2 has interrupted.
#[test]
fn every_cell_of_the_table_has_its_effects() {
    const CANCEL: Out = Effect::Cancel;
    let rows: [(In, [&[Out]; 4]); 12] = [
        (Wake, [&[START], &[], &[], &[]]),
        (Run(9), [&[FORCE], &[], &[], &[]]),
        (Interrupt(9), [&[done(9)], &[CANCEL], &[CANCEL], &[]]),
        (Wait(9), [&[done(9)], &[], &[], &[]]),
        (Declined, [&[], &[CANCEL], &[CANCEL], &[]]),
        (TurnFailed, [&[], &[], &[], &[]]),
        (Forget(1), [&[], &[], &[], &[]]),
        (Hold, [&[], &[], &[], &[]]),
        (DONE, [&[], &[done(1)], &[done(1)], &[done(1), done(2)]]),
        (IDLE, [&[], &[done(1)], &[done(1)], &[cut(1), done(2)]]),
        (INTERRUPTED, [&[], &[cut(1)], &[cut(1)], &[cut(1), done(2)]]),
        (
            FAILED,
            [&[], &[failed(1)], &[failed(1)], &[failed(1), done(2)]],
        ),
    ];
    let session = SessionID::parse("ses_one").unwrap();
    let phases: [&[In]; 4] = [
        &[],
        &[Run(1)],
        &[Run(1), TurnFailed],
        &[Run(1), TurnFailed, Interrupt(2)],
    ];
    let mut cells = std::collections::HashSet::new();
    for (input, expected) in rows {
        for (phase, expected) in phases.iter().zip(expected) {
            let mut state = State::default();
            for before in *phase {
                state.step(&session, before.clone());
            }
            let kind = input.clone().into_parts().0;
            cells.insert((kind as usize, phase.len()));
            let effects = state.step(&session, input.clone());
            assert_eq!(effects, expected, "{input:?} after {phase:?}");
        }
    }
    assert_eq!(cells.len(), 48, "each cell is exercised");
}
