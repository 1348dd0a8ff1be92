//! Many concurrent sessions on the few threads of an embedding program: no session waits for the
//! model or the tools of another one.

use std::sync::{Arc, Condvar, Mutex};

use futures::future::join_all;
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, Reply, output};
use serde_json::json;

const SESSIONS: usize = 100;
const ROUNDS: usize = 3;

/// Runs a test on the same number of threads as the addon.
fn as_embedded(test: impl Future<Output = ()>) {
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(16)
        .enable_all()
        .build();
    threads.unwrap().block_on(test);
}

async fn sessions(f: &Fixture, count: usize) -> Vec<SessionID> {
    join_all((0..count).map(|_| f.session())).await
}

async fn prompt_all(f: &Fixture, sessions: &[SessionID]) {
    join_all(sessions.iter().map(|it| f.prompt(it, "Go"))).await;
}

async fn wait_all(f: &Fixture, sessions: &[SessionID]) {
    join_all(sessions.iter().map(|it| f.wait(it))).await;
}

/// Another session runs a tool and completes.
async fn check_settles(f: &Fixture, another: &SessionID) {
    f.tool("echo", |input, _| async { output(input) });
    f.model
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::says("Done."));
    f.ask(another, "Go").await;
    let events = f.events(another).await;
    assert_eq!(
        events[events.len() - 3..],
        ["text.started", "text.ended Done.", "step.ended stop"]
    );
}

#[test]
fn sessions_that_are_prompted_together_stream_together() {
    as_embedded(async {
        let f = Fixture::open().await;
        let sessions = sessions(&f, SESSIONS).await;
        let gates: Vec<[Gate; ROUNDS]> = sessions.iter().map(|_| Default::default()).collect();
        for rounds in &gates {
            let reply = rounds
                .iter()
                .fold(Reply::new().begin_text(), |reply, gate| {
                    reply.delta("More. ").hold(gate)
                });
            f.model.reply(reply.end_text().stop());
        }
        prompt_all(&f, &sessions).await;
        for round in 0..ROUNDS {
            // No session gets its next piece before all sessions have this one.
            for rounds in &gates {
                f.reached(&rounds[round]).await;
            }
            assert_eq!(f.runtime().active().len(), SESSIONS);
            gates.iter().for_each(|rounds| rounds[round].release());
        }
        wait_all(&f, &sessions).await;
        for session in &sessions {
            assert_eq!(
                f.events_after(session, 2).await,
                [
                    "step.started",
                    "text.started",
                    "text.ended More. More. More. ",
                    "step.ended stop",
                ]
            );
        }
    });
}

#[test]
fn sessions_with_unresponsive_models_delay_no_other_session() {
    as_embedded(async {
        let f = Fixture::open().await;
        let (another, sessions) = (f.session().await, sessions(&f, SESSIONS - 1).await);
        let gate = Gate::new();
        for _ in &sessions {
            f.model
                .reply(Reply::new().begin_text().delta("Hm").hold(&gate).stop());
        }
        prompt_all(&f, &sessions).await;
        f.asked(SESSIONS - 1).await;
        check_settles(&f, &another).await;
        assert_eq!(f.runtime().active().len(), SESSIONS - 1);
        gate.release();
        wait_all(&f, &sessions).await;
    });
}

#[test]
fn sessions_with_unresponsive_tools_delay_no_other_session() {
    as_embedded(async {
        let f = Fixture::open().await;
        let (another, sessions) = (f.session().await, sessions(&f, SESSIONS - 1).await);
        let gate = Gate::new();
        f.held_tool("slow", &gate);
        for _ in &sessions {
            f.model.reply(Reply::calls("c1", "slow", json!({})));
        }
        prompt_all(&f, &sessions).await;
        for session in &sessions {
            f.recorded(session, "tool.called c1 slow {}").await;
        }
        check_settles(&f, &another).await;
        assert_eq!(f.runtime().active().len(), SESSIONS - 1);
        f.model.otherwise(|_| Reply::says("Done."));
        gate.release();
        wait_all(&f, &sessions).await;
    });
}

/// Blocks threads until it is opened. `Opens` opens it on drop, also when the test fails.
#[derive(Default)]
struct Lock {
    open: Mutex<bool>,
    opened: Condvar,
}

struct Opens(Arc<Lock>);

impl Drop for Opens {
    fn drop(&mut self) {
        self.0.open();
    }
}

impl Lock {
    fn pass(&self) {
        let open = self.open.lock().unwrap();
        drop(self.opened.wait_while(open, |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

#[test]
fn tools_that_block_all_their_threads_delay_no_other_session() {
    as_embedded(async {
        let f = Fixture::open().await;
        let (another, sessions) = (f.session().await, sessions(&f, SESSIONS - 1).await);
        let lock = Arc::new(Lock::default());
        let opens = Opens(Arc::clone(&lock));
        let held = lock;
        f.tool("slow", move |input, _| {
            let held = Arc::clone(&held);
            async move {
                // Like a read of a file that does not respond.
                let blocked = tokio::task::spawn_blocking(move || held.pass());
                blocked.await.unwrap();
                output(input)
            }
        });
        for _ in &sessions {
            f.model.reply(Reply::calls("c1", "slow", json!({})));
        }
        prompt_all(&f, &sessions).await;
        for session in &sessions {
            f.recorded(session, "tool.called c1 slow {}").await;
        }
        check_settles(&f, &another).await;
        f.model.otherwise(|_| Reply::says("Done."));
        drop(opens);
        wait_all(&f, &sessions).await;
    });
}
