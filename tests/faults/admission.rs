//! Errors that callers of the inbox receive when storage fails.

use opencode_runtime::PromptRequest;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Reply, prompt_request};

use crate::disturbance::{FAULTS, Place, Scene, message_id, places};

#[tokio::test]
async fn a_prompt_that_cannot_be_stored_is_refused_and_can_be_repeated() {
    for fault in FAULTS {
        for place in places("prompt.admitted") {
            let mut scene = Scene::open().await;
            let session = scene.session_with_prompt().await;
            let request = PromptRequest {
                id: Some(message_id("msg_refused")),
                ..prompt_request(&session, "Refused")
            };
            scene.arm(place, fault);
            let refused = scene.f.try_admit(request.clone()).await;
            scene.assert_refused(refused, fault);
            // The refused prompt has not woken the session.
            assert_eq!(scene.f.runtime().active(), []);
            assert_eq!(scene.f.inbox(&session).await, ["Kept"]);
            scene.recover(&session, fault).await;
            scene.f.model.reply(Reply::says("Both."));
            let admitted = scene.f.admit(request).await;
            assert_eq!(admitted.admitted_seq, 2);
            scene.f.wait(&session).await;
            assert_eq!(
                scene.f.events(&session).await[..4],
                [
                    "prompt.admitted Kept",
                    "prompt.admitted Refused",
                    "prompted Kept",
                    "prompted Refused",
                ]
            );
        }
    }
}

/// Prompts that wait together share one commit and its failure.
#[tokio::test]
async fn prompts_that_wait_together_are_refused_together() {
    for fault in FAULTS {
        let mut scene = Scene::open().await;
        let session = scene.session_with_prompt().await;
        let hold = scene.f.clock.hold_writer(0);
        let ask = |text| scene.f.try_admit(prompt_request(&session, text));
        let together = async { tokio::join!(ask("One"), ask("Two"), ask("Three")) };
        let release = async {
            scene.f.writer_held(&hold).await;
            scene.arm(Place::Commit("prompt.admitted"), fault);
            drop(hold);
        };
        let ((one, two, three), ()) = tokio::join!(together, release);
        for refused in [one, two, three] {
            scene.assert_refused(refused, fault);
        }
        assert_eq!(scene.f.inbox(&session).await, ["Kept"]);
        scene.recover(&session, fault).await;
        assert_eq!(scene.f.inbox(&session).await, ["Kept"]);
    }
}

#[tokio::test]
async fn a_withdrawal_that_cannot_be_stored_leaves_the_input_pending() {
    for fault in FAULTS {
        for place in places("prompt.withdrawn") {
            let mut scene = Scene::open().await;
            let session = scene.f.session().await;
            let input = scene.f.leave(&session, "Kept", Delivery::Steer).await;
            scene.arm(place, fault);
            let refused = scene.f.runtime().withdraw(&session, &input.id).await;
            scene.assert_refused(refused, fault);
            scene.recover(&session, fault).await;
            assert_eq!(scene.f.inbox(&session).await, ["Kept"]);
            scene.f.withdraw(&input).await;
            assert_eq!(scene.f.inbox(&session).await, [""; 0]);
        }
    }
}

#[tokio::test]
async fn a_delivery_that_cannot_be_stored_does_not_change() {
    for fault in FAULTS {
        for place in places("prompt.redelivered") {
            let mut scene = Scene::open().await;
            let session = scene.f.session().await;
            let input = scene.f.leave(&session, "Kept", Delivery::Steer).await;
            scene.arm(place, fault);
            let runtime = scene.f.runtime();
            let refused = runtime.set_delivery(&session, &input.id, Delivery::Queue);
            scene.assert_refused(refused.await, fault);
            // The refused change has not woken the session.
            assert_eq!(scene.f.runtime().active(), []);
            scene.recover(&session, fault).await;
            assert_eq!(scene.f.inbox(&session).await, ["Kept"]);
        }
    }
}
