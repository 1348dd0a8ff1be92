//! Failed reads.

use opencode_runtime::Order;
use opencode_testkit::Reply;

use crate::disturbance::{FAULTS, Place, Scene};

#[tokio::test]
async fn a_failed_read_is_refused_and_the_next_one_works() {
    for fault in FAULTS {
        let scene = Scene::open().await;
        let session = scene.session_with_prompt().await;
        let runtime = scene.f.runtime();
        scene.arm(Place::Read, fault);
        scene.assert_refused(runtime.session(&session).await, fault);
        scene.arm(Place::Read, fault);
        let messages = runtime.messages(&session, Order::Ascending, None, 10);
        scene.assert_refused(messages.await, fault);
        scene.arm(Place::Read, fault);
        scene.assert_refused(runtime.inbox(&session).await, fault);
        scene.arm(Place::Read, fault);
        scene.assert_refused(runtime.interrupted().await, fault);
        assert_eq!(scene.f.inbox(&session).await, ["Kept"]);
        scene.f.prompt(&session, "More").await;
    }
}

#[tokio::test]
async fn a_drain_that_cannot_read_ends_and_its_input_stays_pending() {
    for fault in FAULTS {
        let scene = Scene::open().await;
        let session = scene.session_with_prompt().await;
        let mut live = scene.f.live();
        scene.arm(Place::Read, fault);
        // Admission only writes. The first read is in the drain that the admission wakes.
        scene.f.prompt(&session, "More").await;
        scene.heard_failure(&mut live, fault).await;
        scene.f.wait(&session).await;
        assert_eq!(scene.f.inbox(&session).await, ["Kept", "More"]);
        scene.f.model.reply(Reply::says("Hello."));
        scene.f.run(&session).await;
        assert_eq!(scene.f.inbox(&session).await, [""; 0]);
    }
}
