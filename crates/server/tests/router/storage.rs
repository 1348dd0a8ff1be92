//! Failures of storage on the wire.

use std::sync::{Arc, Mutex};

use opencode_runtime::{Fault, Moment, TestHook};
use opencode_testkit::Fixture;
use serde_json::{Value, json};

use crate::api::Api;

/// Fails once, at the point that the test chooses.
#[derive(Default)]
struct Faulty {
    begin: Mutex<Option<Fault>>,
    read: Mutex<Option<Fault>>,
}

impl TestHook for Faulty {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        let fault = match moment {
            Moment::Begin => &self.begin,
            Moment::Read => &self.read,
            _ => return Ok(()),
        };
        fault.lock().unwrap().take().map_or(Ok(()), Err)
    }
}

async fn open() -> (Api, Arc<Faulty>) {
    let faulty = Arc::new(Faulty::default());
    let test_hook = Arc::clone(&faulty);
    let f = Fixture::with(move |options| {
        options.test_hook = Some(Arc::clone(&test_hook) as Arc<dyn TestHook>);
    });
    (Api::on(f.await), faulty)
}

/// Status, tag and service. The message is not compared.
fn status_and_service(answer: (u16, Value)) -> (u16, Value) {
    let (status, body) = answer;
    (status, json!([body["_tag"], body["service"]]))
}

#[tokio::test]
async fn a_locked_file_makes_the_service_unavailable() {
    let (api, faulty) = open().await;
    let session = api.f.session().await;
    let prompt = format!("/api/session/{session}/prompt");
    let hi = json!({"id": "msg_hi", "prompt": {"text": "Hi"}, "resume": false});
    let busy = (503, json!(["ServiceUnavailableError", "store"]));
    *faulty.begin.lock().unwrap() = Some(Fault::Locked);
    assert_eq!(
        status_and_service(api.post_json(&prompt, &hi).await.status_and_json()),
        busy
    );
    *faulty.read.lock().unwrap() = Some(Fault::Locked);
    let get = format!("/api/session/{session}");
    assert_eq!(
        status_and_service(api.get(&get).await.status_and_json()),
        busy
    );
    // Nothing was stored, and the caller may try again.
    assert_eq!(api.f.events(&session).await, [""; 0]);
    api.post_json(&prompt, &hi).await.ok();
    assert_eq!(api.f.events(&session).await, ["prompt.admitted Hi"]);
}

#[tokio::test]
async fn a_failed_store_refuses_all_writes() {
    let (api, faulty) = open().await;
    let session = api.f.session().await;
    let prompt = format!("/api/session/{session}/prompt");
    let hi = json!({"prompt": {"text": "Hi"}, "resume": false});
    *faulty.begin.lock().unwrap() = Some(Fault::Full);
    for _ in 0..2 {
        let answer = api.post_json(&prompt, &hi).await;
        assert_eq!(
            status_and_service(answer.status_and_json()),
            (503, json!(["StorePoisonedError", null]))
        );
    }
}
