//! Properties that hold for all orders of events: two sessions of one host are prompted,
//! interrupted, killed and opened again while their models answer, call, fail or hang.
//!
//! `model` answers the requests and checks them. `book` reads the log afterwards.

mod book;
mod model;

use std::sync::Arc;

use opencode_runtime::{PromptRequest, Runtime, RuntimeError, StoredEvent};
use opencode_schema::id::SessionID;
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_testkit::{Fixture, compact, output, prompt_request};
use proptest::prelude::*;
use tokio::task::JoinHandle;

use self::book::Book;
use self::model::{Answer, Board, Watched};

const SESSIONS: usize = 2;

/// One step of a story: an operation of a caller, or an event of the host.
#[derive(Debug, Clone)]
enum Act {
    Prompt(usize, Delivery, bool),
    /// Several prompts at once with alternating deliveries.
    Burst(usize, usize),
    /// An exact retry of an earlier prompt, counted from the newest.
    Retry(usize, usize),
    Withdraw(usize, usize),
    Redeliver(usize, usize, Delivery),
    Interrupt(usize),
    Resume(usize),
    /// The session moves to the other one of two folders.
    Move(usize),
    /// Releases the model or the tool that has been held longest.
    Release,
    /// Releases everything until nothing runs.
    Settle,
    /// The host closes and opens again.
    Reopen,
    /// The process dies, and another one opens its files.
    Kill,
}

/// A session and the effects of the story on it.
struct Session {
    id: SessionID,
    receipts: Vec<SessionInputAdmitted>,
    withdrawn: Vec<usize>,
    /// Number of requests at the last interruption, as long as no caller has asked for more.
    quiet: Option<usize>,
    /// Number of interruptions and ends of the host.
    stops: usize,
    /// Sequences at which nothing ran. Inputs that were pending then were visible.
    settled: Vec<u64>,
}

struct World {
    f: Fixture,
    board: Arc<Board>,
    sessions: Vec<Session>,
    tails: Vec<JoinHandle<Vec<StoredEvent>>>,
    texts: usize,
}

impl World {
    async fn open(answers: Vec<Answer>) -> Self {
        let board = Arc::new(Board::new(answers));
        let watch = Arc::clone(&board);
        let f = Fixture::with(move |options| {
            let model = Arc::clone(&options.model);
            options.model = Arc::new(Watched::new(model, Arc::clone(&watch)));
        })
        .await;
        // The model repeats its calls, and there is no user to ask.
        f.allow_repetition();
        let answers = Arc::clone(&board);
        f.model.otherwise(move |request| answers.reply(request));
        let gates = Arc::clone(&board);
        f.tool("echo", |input, _| async { output(input) })
            .tool("slow", move |input, _| {
                let gate = gates.gate();
                async move {
                    gate.pass().await;
                    output(input)
                }
            });
        f.project.write("b/a.txt", "a");
        let mut world = Self {
            f,
            board,
            sessions: Vec::new(),
            tails: Vec::new(),
            texts: 0,
        };
        for _ in 0..SESSIONS {
            let id = world.f.session().await;
            world.sessions.push(Session {
                id,
                receipts: Vec::new(),
                withdrawn: Vec::new(),
                quiet: None,
                stops: 0,
                settled: vec![0],
            });
        }
        world.follow().await;
        world
    }

    /// Follows every session from its beginning.
    async fn follow(&mut self) {
        self.tails.clear();
        for session in &self.sessions {
            let events = self.f.runtime().events(&session.id, None).await;
            let mut events = events.unwrap();
            self.tails.push(tokio::spawn(async move {
                let mut seen = Vec::new();
                while let Ok(more) = events.next().await {
                    seen.extend(more.iter().cloned());
                }
                seen
            }));
        }
    }

    async fn act(&mut self, act: &Act) {
        self.check_idle_sessions();
        match *act {
            Act::Prompt(at, delivery, wakes) => {
                let request = self.request(at, delivery, wakes);
                let receipt = self.f.admit(request).await;
                self.accepted(at, receipt, wakes);
            }
            Act::Burst(at, count) => {
                let both = [Delivery::Steer, Delivery::Queue];
                let requests: Vec<_> = (0..count)
                    .map(|n| self.request(at, both[n % 2], true))
                    .collect();
                let admitted = requests.into_iter().map(|it| self.f.admit(it));
                let receipts = futures::future::join_all(admitted).await;
                for receipt in receipts {
                    self.accepted(at, receipt, true);
                }
            }
            Act::Retry(at, back) => self.retry(at, back).await,
            Act::Withdraw(at, back) => self.withdraw(at, back).await,
            Act::Redeliver(at, back, delivery) => self.redeliver(at, back, delivery).await,
            Act::Interrupt(at) => self.interrupt(at).await,
            Act::Resume(at) => {
                self.board.may_run(&self.sessions[at].id);
                self.sessions[at].quiet = None;
                let resumed = self.f.runtime().resume(&self.sessions[at].id).await;
                let is_expected = matches!(resumed, Ok(()) | Err(RuntimeError::NothingToRun(_)));
                assert!(is_expected, "{resumed:?}");
            }
            Act::Move(at) => self.move_away(at).await,
            Act::Release => self.board.release(),
            Act::Settle => self.settle().await,
            Act::Reopen => {
                self.f.reopen().await;
                self.begins_anew().await;
            }
            Act::Kill => {
                let killed = self.f.runtime().clone();
                self.f.kill().await;
                self.end_process(killed).await;
                self.begins_anew().await;
            }
        }
    }

    fn request(&mut self, at: usize, delivery: Delivery, resume: bool) -> PromptRequest {
        self.texts += 1;
        PromptRequest {
            delivery,
            resume,
            ..prompt_request(&self.sessions[at].id, &format!("P{}", self.texts))
        }
    }

    fn accepted(&mut self, at: usize, receipt: SessionInputAdmitted, wakes: bool) {
        let session = &mut self.sessions[at];
        if wakes {
            session.quiet = None;
        }
        session.receipts.push(receipt);
    }

    /// The index of a receipt, counted from the newest.
    fn chosen(&self, at: usize, back: usize) -> Option<usize> {
        let count = self.sessions[at].receipts.len();
        (count > 0).then(|| count - 1 - back % count)
    }

    async fn retry(&mut self, at: usize, back: usize) {
        let Some(chosen) = self.chosen(at, back) else {
            return;
        };
        let session = &mut self.sessions[at];
        let first = &session.receipts[chosen];
        let again = PromptRequest {
            id: Some(first.id.clone()),
            delivery: first.delivery,
            ..prompt_request(&session.id, &first.prompt.text)
        };
        let answer = self.f.try_admit(again).await;
        if session.withdrawn.contains(&chosen) {
            let refused =
                matches!(&answer, Err(RuntimeError::PromptConflict(id)) if *id == first.id);
            assert!(refused, "{answer:?}");
            return;
        }
        let receipt = answer.unwrap();
        let promoted_seq = receipt.promoted_seq;
        let expected = SessionInputAdmitted {
            promoted_seq,
            ..first.clone()
        };
        assert_eq!(receipt, expected);
        session.quiet = None;
    }

    async fn withdraw(&mut self, at: usize, back: usize) {
        let Some(chosen) = self.chosen(at, back) else {
            return;
        };
        let session = &mut self.sessions[at];
        let id = &session.receipts[chosen].id;
        let done = self.f.runtime().withdraw(&session.id, id).await;
        match done {
            Ok(()) => session.withdrawn.push(chosen),
            Err(error) => session.check_refused(chosen, &error),
        }
    }

    async fn redeliver(&mut self, at: usize, back: usize, delivery: Delivery) {
        let Some(chosen) = self.chosen(at, back) else {
            return;
        };
        let session = &mut self.sessions[at];
        let first = &session.receipts[chosen];
        let runtime = self.f.runtime();
        let done = runtime.set_delivery(&session.id, &first.id, delivery).await;
        match done {
            Ok(receipt) => {
                let expected = SessionInputAdmitted {
                    delivery,
                    ..first.clone()
                };
                assert_eq!(receipt, expected);
                session.quiet = None;
            }
            Err(error) => session.check_refused(chosen, &error),
        }
    }

    async fn interrupt(&mut self, at: usize) {
        self.f.interrupt(&self.sessions[at].id).await;
        self.stopped(at).await;
    }

    /// The drain has ended, and nothing runs until a caller asks for it.
    async fn stopped(&mut self, at: usize) {
        let session = &mut self.sessions[at];
        let promoted = self.f.payloads(&session.id, "prompted").await.len();
        session.quiet = Some(self.board.stopped(&session.id, promoted));
        session.stops += 1;
    }

    async fn move_away(&self, at: usize) {
        let id = &self.sessions[at].id;
        let here = self.f.info(id).await.location.directory;
        let folders = [
            self.f.project.directory(),
            self.f.project.path("b").display().to_string(),
        ];
        let other = folders.into_iter().find(|it| *it != here);
        self.f.move_to(id, other.unwrap()).await;
    }

    async fn settle(&mut self) {
        self.board.open();
        for session in &mut self.sessions {
            self.f.wait(&session.id).await;
            let stored = self.f.stored(&session.id).await;
            session
                .settled
                .extend(stored.last().map(|it| u64::from(it.seq)));
            assert!(
                !self.board.has_pending_work(&session.id),
                "results wait for a model"
            );
        }
        self.board.close();
    }

    /// Ends the killed runtime, so that its effects are not mistaken for those of the new one.
    async fn end_process(&self, killed: Runtime) {
        killed.abandon();
        for session in &self.sessions {
            let buried = self.f.within("burial", killed.wait(&session.id)).await;
            buried.unwrap();
        }
    }

    async fn begins_anew(&mut self) {
        for at in 0..SESSIONS {
            self.stopped(at).await;
        }
        self.check_idle_sessions();
        self.follow().await;
    }

    /// After an interruption, earlier input does not make the session run.
    fn check_idle_sessions(&self) {
        let active = self.f.runtime().active();
        for session in &self.sessions {
            let Some(requests) = session.quiet else {
                continue;
            };
            assert!(!active.contains(&session.id), "it runs without a request");
            assert_eq!(self.board.requests(&session.id), requests);
        }
    }

    /// Lets everything complete, and compares the requests with the stored data.
    async fn end(mut self) {
        self.board.forget_answers();
        self.settle().await;
        self.check_log().await;
        for at in 0..SESSIONS {
            self.act(&Act::Prompt(at, Delivery::Steer, true)).await;
        }
        self.settle().await;
        for session in &self.sessions {
            let left = self.f.runtime().inbox(&session.id).await.unwrap();
            assert_eq!(left, [], "what waits runs with the next prompt");
        }
        self.check_log().await;
        self.check_tails().await;
        assert_eq!(self.board.problems(), [""; 0]);
    }

    async fn check_log(&self) {
        for session in &self.sessions {
            let stored = self.f.stored(&session.id).await;
            let inbox = self.f.runtime().inbox(&session.id).await.unwrap();
            let mut book = Book::new(&session.settled);
            stored.iter().for_each(|event| book.read(event));
            let withdrawn = session.withdrawn.iter();
            let withdrawn = withdrawn.map(|at| session.receipts[*at].id.as_str());
            book.check(session.stops, &session.receipts, withdrawn, &inbox);
        }
    }

    /// Followers of a session read its history without gaps or repetitions.
    async fn check_tails(&mut self) {
        let mut histories = Vec::new();
        for session in &self.sessions {
            histories.push(self.f.stored(&session.id).await);
        }
        let tails = std::mem::take(&mut self.tails);
        let watch = async {
            for (session, history) in self.sessions.iter().zip(&histories) {
                let last = history.last().unwrap().seq;
                let mut events = self.f.runtime().events(&session.id, None).await.unwrap();
                let mut seen: Vec<StoredEvent> = Vec::new();
                while seen.last().is_none_or(|it| it.seq < last) {
                    let more = events.next().await.unwrap();
                    seen.extend(more.iter().cloned());
                }
                assert_eq!(lines(&seen), lines(history));
            }
        };
        self.f.within("tails", watch).await;
        self.f.close().await;
        for (tail, history) in tails.into_iter().zip(histories) {
            let seen = self.f.within("tail", tail).await.unwrap();
            assert_eq!(lines(&seen), lines(&history));
        }
    }
}

impl Session {
    /// A change is refused only if the input is not pending.
    fn check_refused(&self, chosen: usize, error: &RuntimeError) {
        let id = &self.receipts[chosen].id;
        let expected = match error {
            RuntimeError::InputPromoted(it) => it == id && !self.withdrawn.contains(&chosen),
            RuntimeError::InputNotFound { message_id, .. } => {
                message_id == id && self.withdrawn.contains(&chosen)
            }
            _ => false,
        };
        assert!(expected, "{error:?}");
    }
}

fn lines(events: &[StoredEvent]) -> Vec<String> {
    let events = events.iter();
    let lines = events.map(|it| format!("{} {} {}", it.seq, it.id, compact::stored(it)));
    lines.collect()
}

fn act() -> impl Strategy<Value = Act> {
    let at = 0..SESSIONS;
    let delivery = || prop_oneof![Just(Delivery::Steer), Just(Delivery::Queue)];
    let back = 0..4_usize;
    prop_oneof![
        6 => (at.clone(), delivery(), prop::bool::weighted(0.7))
            .prop_map(|(at, delivery, wakes)| Act::Prompt(at, delivery, wakes)),
        2 => (at.clone(), 2..5_usize).prop_map(|(at, count)| Act::Burst(at, count)),
        2 => (at.clone(), back.clone()).prop_map(|(at, back)| Act::Retry(at, back)),
        2 => (at.clone(), back.clone()).prop_map(|(at, back)| Act::Withdraw(at, back)),
        2 => (at.clone(), back, delivery())
            .prop_map(|(at, back, delivery)| Act::Redeliver(at, back, delivery)),
        3 => at.clone().prop_map(Act::Interrupt),
        2 => at.clone().prop_map(Act::Resume),
        1 => at.prop_map(Act::Move),
        5 => Just(Act::Release),
        2 => Just(Act::Settle),
        1 => Just(Act::Reopen),
        1 => Just(Act::Kill),
    ]
}

fn run(answers: Vec<Answer>, story: &[Act]) {
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    threads.block_on(async {
        let mut world = World::open(answers).await;
        for act in story {
            world.act(act).await;
        }
        world.end().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn each_input_has_an_outcome_and_each_request_a_reason(
        answers in prop::collection::vec(model::answer(), 0..12),
        story in prop::collection::vec(act(), 0..30),
    ) {
        run(answers, &story);
    }
}
