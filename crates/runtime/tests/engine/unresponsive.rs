//! Interruptions of work that never ends without them. Each test holds something until the
//! interruption has returned. An interruption that waited for it would hang.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use futures::stream;
use opencode_llm::{
    EventStream, LlmError, LlmEvent, LlmRequest, ModelClient, Prefix, PrefixReport,
};
use opencode_protocols::adapter;
use opencode_runtime::Moment;
use opencode_schema::event::SessionEvent;
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, Reply, compact, output, test_hook};
use serde_json::json;

/// The events of a call that was interrupted after the end of its answer.
const CUT: [&str; 8] = [
    "prompt.admitted Go",
    "prompted Go",
    "step.started",
    "tool.input.started c1 slow",
    "tool.input.ended c1 {}",
    "tool.called c1 slow {}",
    "tool.failed c1 Tool execution interrupted",
    "step.ended tool-calls",
];

fn calls() -> Reply {
    Reply::calls("c1", "slow", json!({})).in_one_piece()
}

/// Runs a session until its tool has reached the gate, and interrupts it.
async fn interrupt_at(f: &Fixture, gate: &Gate) -> SessionID {
    let session = f.session().await;
    f.prompt(&session, "Go").await;
    f.reached(gate).await;
    f.interrupt(&session).await;
    assert_eq!(f.runtime().active(), []);
    session
}

/// A provider that sends events without a pause.
struct Endless;

impl ModelClient for Endless {
    fn stream(&self, _: LlmRequest) -> EventStream {
        let (id, provider_metadata) = ("text-0".into(), None);
        let start = LlmEvent::TextStart {
            id,
            provider_metadata,
        };
        let more = LlmEvent::TextDelta {
            id: "text-0".into(),
            text: String::new(),
            provider_metadata: None,
        };
        let start = stream::iter([Ok(vec![start])]);
        let endless = stream::repeat_with(move || Ok(vec![more.clone()]));
        Box::pin(futures::StreamExt::chain(start, endless))
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        adapter(request.model.protocol).prefix(request, former)
    }
}

#[tokio::test]
async fn an_endless_answer_is_interrupted() {
    let f = Fixture::with(|options| options.model = Arc::new(Endless)).await;
    let session = f.session().await;
    f.prompt(&session, "Go").await;
    f.recorded(&session, "text.started").await;
    f.interrupt(&session).await;
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Go",
            "prompted Go",
            "step.started",
            "text.started",
            "text.ended",
            "step.failed Provider turn interrupted",
        ]
    );
}

#[tokio::test]
async fn a_tool_that_never_returns_is_interrupted() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    f.model.reply(calls());
    let session = interrupt_at(&f, &gate).await;
    assert_eq!(f.events(&session).await, CUT);
    f.dropped(&gate).await;
}

/// Work that blocks until the sender is dropped.
fn blocking_work() -> (mpsc::Sender<()>, impl Fn() + Clone + Send + 'static) {
    let (release, held) = mpsc::channel();
    let held = Arc::new(Mutex::new(held));
    (release, move || {
        let held = held.lock().expect("one tool at a time");
        let _released = held.recv();
    })
}

#[tokio::test]
async fn work_on_another_thread_is_abandoned() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let (release, work) = blocking_work();
    let started = gate.clone();
    f.tool("slow", move |input, _| {
        let (started, work) = (started.clone(), work.clone());
        async move {
            let work = tokio::task::spawn_blocking(work);
            started.come();
            work.await.expect("it only waits");
            output(input)
        }
    });
    f.model.reply(calls());
    let session = interrupt_at(&f, &gate).await;
    assert_eq!(f.events(&session).await, CUT);
    drop(release);
}

// The tool occupies one of the two threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_is_abandoned_and_its_result_dropped() {
    let f = Fixture::open().await;
    let gate = Gate::new();
    let (release, work) = blocking_work();
    let started = gate.clone();
    f.tool("slow", move |input, _| {
        let (started, work) = (started.clone(), work.clone());
        async move {
            started.come();
            work();
            output(input)
        }
    });
    f.model.reply(calls());
    let session = interrupt_at(&f, &gate).await;
    assert_eq!(f.events(&session).await, CUT);
    drop(release);
    // Closing waits for the end of the tool.
    f.close().await;
    let mut f = f;
    f.reopen().await;
    assert_eq!(f.events(&session).await, CUT);
}

#[tokio::test]
async fn closing_does_not_wait_for_a_slow_read_of_a_history() {
    let gate = Gate::new();
    let (release, held) = mpsc::channel::<()>();
    let (is_promoted, held) = (AtomicBool::new(false), Mutex::new(Some(held)));
    // The first read after the promotion blocks.
    let read = gate.clone();
    let stuck = test_hook(move |moment| {
        match moment {
            Moment::Appended(event) if matches!(event.payload, SessionEvent::Prompted(_)) => {
                is_promoted.store(true, Ordering::Relaxed);
            }
            Moment::Read if is_promoted.load(Ordering::Relaxed) => {
                let held = held.lock().expect("no test panics here").take();
                if let Some(held) = held {
                    read.come();
                    let _released = held.recv();
                }
            }
            _ => {}
        }
        Ok(())
    });
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&stuck))).await;
    let session = interrupt_at(&f, &gate).await;
    let asked = ["prompt.admitted Go", "prompted Go", "interrupted"];
    assert_eq!(f.events(&session).await, asked);
    drop(release);
    // The input was not lost.
    f.model.reply(Reply::says("Hello."));
    f.run(&session).await;
    assert_eq!(compact::messages(&f.model.last_request()), ["user: Go"]);
}
