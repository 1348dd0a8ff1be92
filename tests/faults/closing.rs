//! Storage failures while a runtime closes, and while a host resumes sessions at opening.

use opencode_runtime::{Fault, Recovery};
use opencode_testkit::{Gate, Reply};
use serde_json::json;

use crate::disturbance::{FAULTS, Place, Scene};

/// If closing cannot checkpoint the write-ahead log, the next opening does it.
#[tokio::test]
async fn a_log_without_checkpoint_loses_nothing() {
    for fault in FAULTS {
        let mut scene = Scene::open().await;
        let session = scene.session_with_prompt().await;
        let before = scene.f.events(&session).await;
        scene.arm(Place::Checkpoint, fault);
        scene.f.reopen().await;
        assert!(scene.is_over(), "nothing was folded");
        assert_eq!(scene.f.events(&session).await, before);
        scene.f.model.reply(Reply::says("Hello."));
        scene.f.run(&session).await;
    }
}

/// Closing interrupts a drain that cannot store its settlement. Closing completes, and the next
/// host finds the turn in the state that a killed process leaves.
#[tokio::test]
async fn closing_ends_if_the_store_cannot_write() {
    for fault in FAULTS {
        let mut scene = Scene::open().await;
        let session = scene.f.session().await;
        let (stream, tool) = (Gate::new(), Gate::new());
        scene.f.held_tool("slow", &tool);
        let reply = Reply::new().call("c1", "slow", json!({})).hold(&stream);
        scene.f.model.reply(reply);
        scene.f.prompt(&session, "Go").await;
        scene.f.reached(&stream).await;
        scene.f.reached(&tool).await;
        scene.arm(Place::Begin, fault);
        scene.f.reopen().await;
        assert!(scene.is_over(), "nothing was settled");
        scene.f.dropped(&tool).await;
        let before = scene.f.events(&session).await;
        assert_eq!(before[before.len() - 1], "tool.called c1 slow {}");
        scene.f.model.reply(Reply::says("I see."));
        scene.f.run(&session).await;
        assert_eq!(
            scene.f.events_after(&session, before.len()).await[..2],
            ["tool.failed c1 Tool execution interrupted", "step.started"]
        );
    }
}

/// A host that cannot record the resumption of a session does not resume it.
#[tokio::test]
async fn a_session_does_not_continue_without_records() {
    for place in [Place::Appended("retried"), Place::Commit("retried")] {
        let mut scene = Scene::open().await;
        let session = scene.session_with_prompt().await;
        let gate = Gate::new();
        scene.f.model.reply(Reply::new().hold(&gate));
        scene.f.prompt(&session, "Go").await;
        scene.f.reached(&gate).await;
        scene.recovers(Recovery::Resume);
        scene.arm(place, Fault::Locked);
        scene.f.kill().await;
        // The next opening tries again to resume the session.
        let before = scene.f.events(&session).await;
        let fails = async {
            while !scene.is_over() {
                tokio::task::yield_now().await;
            }
        };
        scene.f.within("storage fails", fails).await;
        assert_eq!(scene.f.events(&session).await, before);
        scene.f.model.reply(Reply::says("Hello."));
        scene.f.reopen().await;
        scene.f.recorded(&session, "step.ended stop").await;
        assert_eq!(
            scene.f.events_after(&session, before.len()).await[..2],
            ["retried 1", "step.started"]
        );
    }
}
