//! Tests for calls as tasks of their host: calls without a waiting caller, and calls that do not stop
//! when they are interrupted.

mod common;

use std::sync::{Arc, Mutex, mpsc};

use common::{Scripted, answer, call, context, registry, success, tools};
use opencode_tools::{Contributions, Materialized, Registration, Settlement};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

/// Returns a turn with `tool` as its only tool.
fn turn(tool: Scripted) -> (TempDir, Registration, Arc<Materialized>) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let registry = registry(&Contributions::default(), temp.path());
    let pairs = tools(vec![("tool", tool)]);
    let registration = registry.host().register(pairs);
    let turn = registry.materialize("/project", |_| true);
    (
        temp,
        registration.expect("the name is good"),
        Arc::new(turn),
    )
}

#[tokio::test]
async fn a_call_is_a_task_that_its_host_can_await() {
    let (temp, _registration, turn) = turn(Scripted::new(|input, _| async { answer(input) }));
    let tasks = TaskTracker::new();
    let context = Arc::new(context(temp.path()));
    let running = turn.start(call("tool", json!({"n": 1})), &context, &tasks);
    assert_eq!(tasks.len(), 1);
    tasks.close();
    // The call runs even if no caller waits for its settlement.
    tasks.wait().await;
    assert_eq!(running.await, success(json!({"n": 1}), vec![]));
}

/// Notifies when the tool that holds it is dropped.
struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_call_that_is_not_awaited_is_cancelled() {
    let [started, gone] = [Arc::new(Notify::new()), Arc::new(Notify::new())];
    let tool = Scripted::new({
        let (started, gone) = (Arc::clone(&started), Arc::clone(&gone));
        move |_, _| {
            let (started, tells) = (Arc::clone(&started), NotifyOnDrop(Arc::clone(&gone)));
            async move {
                let _tells = tells;
                started.notify_one();
                std::future::pending().await
            }
        }
    });
    let (temp, _registration, turn) = turn(tool);
    let tasks = TaskTracker::new();
    let context = Arc::new(context(temp.path()));
    let running = turn.start(call("tool", json!({})), &context, &tasks);
    started.notified().await;
    drop(running);
    gone.notified().await;
}

// The tool blocks one of the two threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_does_not_stop_is_settled_without_its_result() {
    let started = Arc::new(Notify::new());
    let (release, held) = mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let tool = Scripted::new({
        let started = Arc::clone(&started);
        move |_, _| {
            let (started, held) = (Arc::clone(&started), Arc::clone(&held));
            async move {
                started.notify_one();
                // This blocks the thread, so the future cannot be dropped here.
                let _ = held.lock().expect("only this test locks it").recv();
                answer(json!({"late": true}))
            }
        }
    });
    let (temp, _registration, turn) = turn(tool);
    let (tasks, context) = (TaskTracker::new(), Arc::new(context(temp.path())));
    let cancel = context.cancel.clone();
    let running = turn.start(call("tool", json!({})), &context, &tasks);
    started.notified().await;
    cancel.cancel();
    assert_eq!(running.await, Settlement::Interrupted);
    assert_eq!(tasks.len(), 1, "its host knows that it is still there");
    drop(release);
    tasks.close();
    tasks.wait().await;
}

#[tokio::test]
async fn a_call_that_has_started_a_change_completes_it() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let tool = Scripted::new({
        let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        move |_, context| {
            let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
            async move {
                context.begin_change()?;
                begun.notify_one();
                go_on.notified().await;
                answer(json!({"changed": true}))
            }
        }
    });
    let (temp, _registration, turn) = turn(tool);
    let (tasks, context) = (TaskTracker::new(), Arc::new(context(temp.path())));
    let cancel = context.cancel.clone();
    let running = turn.start(call("tool", json!({})), &context, &tasks);
    begun.notified().await;
    cancel.cancel();
    // The call sees the interruption before it continues.
    tokio::task::yield_now().await;
    go_on.notify_one();
    assert_eq!(running.await, success(json!({"changed": true}), vec![]));
}

#[tokio::test]
async fn an_interrupted_call_starts_no_change() {
    let tool = Scripted::new(|_, context| async move {
        context.cancel.cancel();
        context.begin_change()?;
        answer(json!({"changed": true}))
    });
    let (temp, _registration, turn) = turn(tool);
    let (tasks, context) = (TaskTracker::new(), Arc::new(context(temp.path())));
    let running = turn.start(call("tool", json!({})), &context, &tasks);
    assert_eq!(running.await, Settlement::Interrupted);
}
