//! Properties of the reducer for any order of inputs. They are checked against an independent record of the answers
//! that callers of a session must get, with an inbox and drains that act as those of the runner.

mod drain;
mod observed;

use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use proptest::prelude::*;

use self::observed::ObservedSession;
use super::state::{CoordinatorInput, State, Ticket};

const SESSIONS: usize = 2;

/// An input to a session.
#[derive(Debug, Clone, Copy)]
enum Happens {
    /// An input is admitted, with or without a wake.
    Admit(Delivery, bool),
    /// A wake without a new input: an exact retry.
    Wake,
    Run,
    Interrupt,
    Wait,
    /// The oldest waiting caller drops its future.
    GoAway,
    /// A call of its drain is declined; no effect without a drain.
    Decline,
    /// The turn of its drain fails; no effect without a turn. The drain may continue with other input.
    TurnFails,
    /// A caller takes exclusive access; no effect if the session is not idle.
    Hold,
    /// Its drain makes a step, or its hold is released; no effect without either.
    Drain(Progress),
}

/// Result of the next step of a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The model is done.
    Text,
    /// The model requests results of tool calls.
    Calls,
    Fails,
    /// The model is done, and the drain notices a stop too late.
    Late,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Session(usize, Happens),
    /// The process dies, and a new one starts with the stored data.
    Crash,
}

#[derive(Default)]
struct World {
    state: State,
    sessions: [ObservedSession; SESSIONS],
    tickets: Ticket,
}

impl World {
    fn step(&mut self, step: Step) {
        match step {
            Step::Session(at, what) => self.happen(at, what),
            Step::Crash => {
                self.state = State::default();
                self.sessions.iter_mut().for_each(ObservedSession::crash);
            }
        }
        for at in 0..SESSIONS {
            let runs = self.sessions[at].runs();
            assert_eq!(self.state.is_active(&session(at)), runs, "session {at}");
        }
        let running = self.sessions.iter().filter(|seen| seen.runs()).count();
        assert_eq!(self.state.active().count(), running);
    }

    fn happen(&mut self, at: usize, what: Happens) {
        self.tickets += 1;
        let seen = &mut self.sessions[at];
        let input = match what {
            Happens::Admit(delivery, wakes) => {
                seen.admit(delivery);
                if !wakes {
                    return;
                }
                seen.wake();
                CoordinatorInput::Wake
            }
            Happens::Wake => {
                seen.wake();
                CoordinatorInput::Wake
            }
            Happens::Run => {
                seen.run(self.tickets);
                CoordinatorInput::Run(self.tickets)
            }
            Happens::Interrupt => {
                seen.interrupt(self.tickets);
                CoordinatorInput::Interrupt(self.tickets)
            }
            Happens::Wait => {
                seen.wait(self.tickets);
                CoordinatorInput::Wait(self.tickets)
            }
            Happens::GoAway => match seen.drop_caller() {
                Some(ticket) => CoordinatorInput::Forget(ticket),
                None => return,
            },
            Happens::Decline if seen.decline() => CoordinatorInput::Declined,
            Happens::Decline => return,
            Happens::TurnFails if seen.turn_fails() => CoordinatorInput::TurnFailed,
            Happens::TurnFails => return,
            Happens::Hold => {
                seen.hold();
                CoordinatorInput::Hold
            }
            Happens::Drain(progress) => match seen.drain_on(progress) {
                Some(exit) => CoordinatorInput::Exited(exit),
                None => return,
            },
        };
        let exit = match &input {
            CoordinatorInput::Exited(exit) => Some(exit.clone()),
            _ => None,
        };
        let effects = self.state.step(&session(at), input);
        self.sessions[at].check(effects, exit.as_ref());
    }

    /// Lets every drain and its successors end, until nothing runs.
    fn settle(&mut self) {
        for at in 0..SESSIONS {
            // Each input has at most one turn of its own, and each turn takes few steps.
            let most = 10 + 10 * self.sessions[at].pending();
            for _ in 0..most {
                self.step(Step::Session(at, Happens::Drain(Progress::Text)));
            }
            self.sessions[at].check_settled();
        }
    }
}

fn session(at: usize) -> SessionID {
    SessionID::parse(&format!("ses_{at}")).unwrap()
}

fn happens() -> impl Strategy<Value = Happens> {
    let delivery = prop_oneof![Just(Delivery::Steer), Just(Delivery::Queue)];
    let progress = prop_oneof![
        4 => Just(Progress::Text),
        2 => Just(Progress::Calls),
        1 => Just(Progress::Fails),
        1 => Just(Progress::Late),
    ];
    prop_oneof![
        4 => (delivery, prop::bool::weighted(0.7)).prop_map(|(it, wakes)| Happens::Admit(it, wakes)),
        1 => Just(Happens::Wake),
        2 => Just(Happens::Run),
        2 => Just(Happens::Interrupt),
        1 => Just(Happens::Wait),
        1 => Just(Happens::GoAway),
        1 => Just(Happens::Decline),
        2 => Just(Happens::TurnFails),
        2 => Just(Happens::Hold),
        12 => progress.prop_map(Happens::Drain),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        40 => (0..SESSIONS, happens()).prop_map(|(at, what)| Step::Session(at, what)),
        1 => Just(Step::Crash),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn every_caller_gets_its_result_in_any_order(
        story in prop::collection::vec(step(), 0..80),
    ) {
        let mut world = World::default();
        for step in story {
            world.step(step);
        }
        world.settle();
    }
}
