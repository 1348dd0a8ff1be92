//! Session Drains that cannot store their events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use opencode_runtime::{DrainError, DrainOutcome, Fault};
use opencode_schema::id::SessionID;
use opencode_testkit::{Gate, Reply, output};
use serde_json::json;

use crate::disturbance::{FAULTS, Place, Scene, places};

impl Scene {
    /// Runs the session. The run must fail because of storage, and the live stream must announce
    /// the failure.
    async fn fail_to_run(&self, session: &SessionID, fault: Fault) {
        let mut live = self.f.live();
        let error = match self.f.run(session).await {
            DrainOutcome::Failed(DrainError::Store(error)) => error,
            other => panic!("{fault:?} ended the drain as {other:?}"),
        };
        self.assert_failed(&error, fault);
        self.heard_failure(&mut live, fault).await;
        assert!(!self.f.runtime().active().contains(session));
    }
}

#[tokio::test]
async fn a_promotion_that_cannot_be_stored_leaves_the_input_pending() {
    for fault in FAULTS {
        for place in places("prompted") {
            let mut scene = Scene::open().await;
            let session = scene.session_with_prompt().await;
            scene.arm(place, fault);
            scene.fail_to_run(&session, fault).await;
            // The model has received no request about an input that is not stored.
            assert_eq!(scene.f.model.requests().len(), 0);
            assert_eq!(scene.f.inbox(&session).await, ["Kept"]);
            scene.recover(&session, fault).await;
            scene.f.model.reply(Reply::says("Hello."));
            scene.f.run(&session).await;
            assert_eq!(
                scene.f.events(&session).await,
                [
                    "prompt.admitted Kept",
                    "prompted Kept",
                    "step.started",
                    "text.started",
                    "text.ended Hello.",
                    "step.ended stop",
                ]
            );
        }
    }
}

/// For each event that fails: the events of the turn that are stored before it, and the number of
/// tool runs.
const TURN: [(&str, &[&str], u32); 6] = [
    ("step.started", &[], 0),
    ("text.ended", &["step.started", "text.started"], 0),
    (
        "tool.input.started",
        &["step.started", "text.started", "text.ended Hello."],
        0,
    ),
    (
        "tool.called",
        &[
            "step.started",
            "text.started",
            "text.ended Hello.",
            "tool.input.started c1 work",
        ],
        0,
    ),
    (
        "tool.success",
        &[
            "step.started",
            "text.started",
            "text.ended Hello.",
            "tool.input.started c1 work",
            "tool.input.ended c1 {}",
            "tool.called c1 work {}",
        ],
        1,
    ),
    (
        "step.ended",
        &[
            "step.started",
            "text.started",
            "text.ended Hello.",
            "tool.input.started c1 work",
            "tool.input.ended c1 {}",
            "tool.called c1 work {}",
            "tool.success c1 {}",
        ],
        1,
    ),
];

#[tokio::test]
async fn a_turn_that_cannot_be_stored_ends_and_can_be_continued() {
    for fault in FAULTS {
        for (event, stored, ran) in TURN {
            for place in [Place::Appended(event), Place::Commit(event)] {
                let mut scene = Scene::open().await;
                let session = scene.session_with_prompt().await;
                let counted = Arc::new(AtomicU32::new(0));
                let runs = Arc::clone(&counted);
                scene.f.tool("work", move |input, _| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    async { output(input) }
                });
                let reply = Reply::new().text("Hello.").call("c1", "work", json!({}));
                scene.f.model.reply(reply.tool_calls());
                scene.arm(place, fault);
                scene.fail_to_run(&session, fault).await;
                let events = scene.f.events_after(&session, 2).await;
                assert_eq!(events, stored, "{fault:?} at {place:?}");
                assert_eq!(
                    counted.load(Ordering::Relaxed),
                    ran,
                    "{fault:?} at {place:?}"
                );
                scene.recover(&session, fault).await;
                // The next run executes no tool twice. It fails the calls with an unknown outcome.
                scene.f.model.reply(Reply::says("I see."));
                scene.f.run(&session).await;
                assert_eq!(
                    counted.load(Ordering::Relaxed),
                    ran,
                    "{fault:?} at {place:?}"
                );
                let is_open = stored.iter().any(|it| it.starts_with("tool.input.started"))
                    && !stored.iter().any(|it| it.starts_with("tool.success"));
                let failed = is_open.then_some("tool.failed c1 Tool execution interrupted");
                let answer = ["step.started", "text.started", "text.ended I see."];
                let rest = failed.into_iter().chain(answer).chain(["step.ended stop"]);
                let events = scene.f.events_after(&session, 2 + stored.len()).await;
                assert_eq!(events, rest.collect::<Vec<_>>(), "{fault:?} at {place:?}");
                assert_eq!(scene.f.runtime().interrupted().await.unwrap(), []);
            }
        }
    }
}

/// A drain that ends because of storage stops its running tools.
#[tokio::test]
async fn tools_stop_with_a_drain_that_cannot_store() {
    for fault in FAULTS {
        let mut scene = Scene::open().await;
        let session = scene.session_with_prompt().await;
        let gate = Gate::new();
        scene.f.held_tool("slow", &gate);
        scene.f.tool("work", |input, _| async { output(input) });
        let reply = Reply::new().call("c1", "slow", json!({}));
        let reply = reply.call("c2", "work", json!({}));
        scene.f.model.reply(reply.tool_calls());
        scene.arm(Place::Commit("tool.success"), fault);
        scene.fail_to_run(&session, fault).await;
        scene.f.dropped(&gate).await;
        let before = scene.f.events(&session).await.len();
        scene.recover(&session, fault).await;
        scene.f.model.reply(Reply::says("I see."));
        scene.f.run(&session).await;
        assert_eq!(
            scene.f.events_after(&session, before).await[..3],
            [
                "tool.failed c1 Tool execution interrupted",
                "tool.failed c2 Tool execution interrupted",
                "step.started",
            ]
        );
    }
}

/// A file that another process holds fails only the drain that meets the lock.
#[tokio::test]
async fn a_locked_file_ends_one_drain_and_not_the_others() {
    let scene = Scene::open().await;
    let (busy, gate) = scene.busy_session().await;
    let session = scene.session_with_prompt().await;
    scene.arm(Place::Begin, Fault::Locked);
    scene.fail_to_run(&session, Fault::Locked).await;
    gate.release();
    scene.f.wait(&busy).await;
    assert_eq!(
        scene.f.events_after(&busy, 4).await,
        ["text.ended Half and whole.", "step.ended stop"]
    );
}

/// A full or broken disk affects all sessions: every running drain ends and announces the failure.
#[tokio::test]
async fn a_failed_disk_ends_every_drain() {
    for fault in [Fault::Full, Fault::Io] {
        let mut scene = Scene::open().await;
        let (busy, gate) = scene.busy_session().await;
        let session = scene.session_with_prompt().await;
        scene.arm(Place::Begin, fault);
        scene.fail_to_run(&session, fault).await;
        let mut live = scene.f.live();
        gate.release();
        scene.heard_failure(&mut live, fault).await;
        scene.f.wait(&busy).await;
        assert_eq!(scene.f.events_after(&busy, 4).await, [""; 0]);
        scene.recover(&busy, fault).await;
        scene.f.model.reply(Reply::says("Once more."));
        scene.f.run(&busy).await;
        assert_eq!(
            scene.f.events_after(&busy, 4).await,
            [
                "step.started",
                "text.started",
                "text.ended Once more.",
                "step.ended stop"
            ]
        );
    }
}

impl Scene {
    /// A session in the middle of a text, with four events so far, and the gate that holds it.
    async fn busy_session(&self) -> (SessionID, Gate) {
        let session = self.f.session().await;
        let gate = Gate::new();
        let half = Reply::new().begin_text().delta("Half").hold(&gate);
        self.f
            .model
            .reply(half.delta(" and whole.").end_text().stop());
        self.f.prompt(&session, "Go").await;
        self.f.reached(&gate).await;
        (session, gate)
    }
}
