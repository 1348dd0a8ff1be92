//! What holds for the reducer whatever happens, in any order: compared with what a session is owed.

use std::collections::HashMap;

use opencode_schema::id::SessionID;
use proptest::prelude::*;

use super::state::{Effect, Exit, Input, State, Ticket};

const SESSIONS: usize = 3;

/// What may happen to a session.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Wake,
    Run,
    Interrupt,
    Wait,
    /// Its drain ends; nothing if it has none.
    Exit(Ending),
}

#[derive(Debug, Clone, Copy)]
enum Ending {
    Done,
    Interrupted,
    Failed,
}

/// Who waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// For the exit of a drain; of a later one than this.
    Run { later_than: Option<u32> },
    /// For the exit of exactly this drain.
    Settlement { of: Option<u32> },
    /// For the session to be idle.
    Idle,
}

/// A session as an onlooker sees it.
#[derive(Debug, Default)]
struct Seen {
    /// The number of the drain that runs.
    running: Option<u32>,
    drains: u32,
    cancelled: bool,
    /// Somebody woke it since the last drain began, and no interruption has come since.
    owed: bool,
    waiting: HashMap<Ticket, Waits>,
}

struct World {
    state: State,
    sessions: Vec<(SessionID, Seen)>,
    tickets: Ticket,
}

impl World {
    fn new() -> Self {
        let session = |n| SessionID::parse(&format!("ses_{n}")).unwrap();
        Self {
            state: State::default(),
            sessions: (0..SESSIONS)
                .map(|n| (session(n), Seen::default()))
                .collect(),
            tickets: 0,
        }
    }

    fn happen(&mut self, at: usize, what: Happens) {
        self.tickets += 1;
        let (session, seen) = &mut self.sessions[at];
        let input = seen.expect(what, self.tickets);
        let Some(input) = input else { return };
        let exited = matches!(input, Input::Exited(_)).then(|| seen.running.take());
        let effects = self.state.step(session, input);
        seen.check(&effects, exited.flatten());
        for (id, seen) in &self.sessions {
            assert_eq!(self.state.is_active(id), seen.running.is_some(), "{id}");
        }
        let active = self.state.active().count();
        let running = self.sessions.iter().filter(|it| it.1.running.is_some());
        assert_eq!(active, running.count());
    }

    /// Lets every drain end, and those that follow, until nothing runs.
    fn settle(&mut self) {
        for at in 0..SESSIONS {
            // One that runs, and one more that somebody wants after it.
            for _ in 0..2 {
                self.happen(at, Happens::Exit(Ending::Done));
            }
            let (session, seen) = &self.sessions[at];
            assert!(seen.running.is_none(), "{session} runs for ever: {seen:?}");
        }
    }
}

impl Seen {
    /// Notes what is owed because of an input, and gives it to the reducer.
    fn expect(&mut self, what: Happens, ticket: Ticket) -> Option<Input<&'static str>> {
        Some(match what {
            Happens::Wake => {
                self.owed = true;
                Input::Wake
            }
            Happens::Run => {
                // One that is being stopped answers nobody who comes now.
                let later_than = self.running.filter(|_| self.cancelled);
                self.waiting.insert(ticket, Waits::Run { later_than });
                Input::Run(ticket)
            }
            Happens::Interrupt => {
                self.owed = false;
                let of = self.running;
                self.waiting.insert(ticket, Waits::Settlement { of });
                Input::Interrupt(ticket)
            }
            Happens::Wait => {
                self.waiting.insert(ticket, Waits::Idle);
                Input::Wait(ticket)
            }
            Happens::Exit(_) if self.running.is_none() => return None,
            Happens::Exit(ending) => Input::Exited(match ending {
                Ending::Done => Exit::Done,
                Ending::Interrupted => Exit::Interrupted,
                Ending::Failed => Exit::Failed("no"),
            }),
        })
    }

    /// Checks what the reducer decides; `exited` is the drain that has just ended.
    fn check(&mut self, effects: &[Effect<&'static str>], exited: Option<u32>) {
        let wanted = self.owed || self.restarts(exited);
        for effect in effects {
            match effect {
                Effect::Start { .. } => {
                    assert_eq!(self.running, None, "two drains at one time");
                    // After an interruption nothing runs because of an earlier wake.
                    assert!(wanted || exited.is_none(), "nobody wants another drain");
                    self.running = Some(self.drains);
                    self.drains += 1;
                    (self.owed, self.cancelled) = (false, false);
                }
                Effect::Cancel => {
                    assert!(self.running.is_some(), "nothing to cancel");
                    assert!(!self.cancelled, "cancelled twice");
                    self.cancelled = true;
                }
                Effect::Resolve(ticket, exit) => {
                    let waits = self.waiting.remove(ticket);
                    self.check_answer(waits.expect("nobody waits"), exit, exited);
                }
            }
        }
        let idle = self.running.is_none();
        assert!(!(idle && self.owed), "a wake is lost");
        assert!(!idle || self.waiting.is_empty(), "somebody waits for ever");
        let settled = Waits::Settlement { of: exited };
        let late = exited.is_some() && self.waiting.values().any(|it| *it == settled);
        assert!(!late, "an interruption is not told that it has settled");
    }

    /// Whether somebody asked to run while that drain was stopping.
    fn restarts(&self, exited: Option<u32>) -> bool {
        let again = Waits::Run { later_than: exited };
        exited.is_some() && self.waiting.values().any(|it| *it == again)
    }

    fn check_answer(&self, waits: Waits, exit: &Exit<&'static str>, exited: Option<u32>) {
        match waits {
            Waits::Run { later_than } => {
                assert!(exited > later_than, "answered by a drain that was stopping");
            }
            Waits::Settlement { of } => {
                assert_eq!(of, exited, "answered by another drain");
                assert_eq!(*exit, Exit::Done);
            }
            Waits::Idle => {
                assert_eq!(self.running, None, "something runs still");
                assert_eq!(*exit, Exit::Done);
            }
        }
    }
}

fn happens() -> impl Strategy<Value = Happens> {
    let ending = prop_oneof![
        Just(Ending::Done),
        Just(Ending::Interrupted),
        Just(Ending::Failed),
    ];
    prop_oneof![
        3 => Just(Happens::Wake),
        2 => Just(Happens::Run),
        2 => Just(Happens::Interrupt),
        1 => Just(Happens::Wait),
        4 => ending.prop_map(Happens::Exit),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_everybody_gets_what_is_owed(
        story in prop::collection::vec((0..SESSIONS, happens()), 0..60),
    ) {
        let mut world = World::new();
        for (at, what) in story {
            world.happen(at, what);
        }
        world.settle();
    }
}
