//! Pending prompts: listing, withdrawing, another delivery, and their maximum number.

use opencode_runtime::Limits;
use opencode_schema::prompt::{Delivery, SessionInputAdmitted};
use opencode_testkit::{Fixture, Reply};
use serde_json::{Value, json};

use crate::api::Api;

const TIME: i64 = 1_795_179_302_007;

/// The list entry of a waiting prompt.
fn listed(receipt: &SessionInputAdmitted, delivery: &str) -> Value {
    json!({
        "admittedSeq": receipt.admitted_seq,
        "id": receipt.id,
        "sessionID": receipt.session_id,
        "prompt": {"text": receipt.prompt.text},
        "delivery": delivery,
        "timeCreated": TIME,
    })
}

fn not_found(session: &str, message: &str) -> (u16, Value) {
    let told = json!({
        "_tag": "InputNotFoundError",
        "sessionID": session,
        "messageID": message,
        "message": format!("No input {message} waits in the inbox of the session {session}"),
    });
    (404, told)
}

#[tokio::test]
async fn pending_inputs_are_listed_in_the_order_of_admission() {
    let (api, session) = Api::with_session().await;
    let inbox = format!("/api/session/{session}/inbox");
    assert_eq!(api.get(&inbox).await.ok(), json!({"data": []}));
    api.f.model.reply(Reply::says("Hello."));
    api.f.ask(&session, "Promoted").await;
    let queued = api.f.leave(&session, "First", Delivery::Queue).await;
    let steer = api.f.leave(&session, "Second", Delivery::Steer).await;
    let expected = json!({"data": [listed(&queued, "queue"), listed(&steer, "steer")]});
    assert_eq!(api.get(&inbox).await.ok(), expected);
}

#[tokio::test]
async fn a_pending_input_can_be_withdrawn_once() {
    let (api, session) = Api::with_session().await;
    let receipt = api.f.leave(&session, "Hi", Delivery::Steer).await;
    let id = receipt.id.as_str();
    let input = format!("/api/session/{session}/inbox/{id}");
    api.delete(&input).await.is_bare(204);
    assert_eq!(
        api.get(&format!("/api/session/{session}/inbox")).await.ok(),
        json!({"data": []})
    );
    let history = api.get(&format!("/api/session/{session}/history")).await;
    assert_eq!(
        history.ok()["data"][1],
        json!({
            "id": history.ok()["data"][1]["id"],
            "type": "session.next.prompt.withdrawn",
            "durable": {"aggregateID": session, "seq": 2, "version": 1},
            "data": {"timestamp": TIME, "sessionID": session, "messageID": id},
        })
    );
    assert_eq!(
        api.delete(&input).await.status_and_json(),
        not_found(session.as_str(), id)
    );
    // The id stays used.
    let again = json!({"id": id, "prompt": {"text": "Hi"}});
    let prompt = format!("/api/session/{session}/prompt");
    let conflict = json!({
        "_tag": "ConflictError",
        "message": format!("Prompt message ID conflicts with an existing durable record: {id}"),
        "resource": id,
    });
    assert_eq!(
        api.post_json(&prompt, &again).await.status_and_json(),
        (409, conflict)
    );
}

#[tokio::test]
async fn another_delivery_is_recorded_and_wakes_the_session() {
    let (api, session) = Api::with_session().await;
    let receipt = api.f.leave(&session, "Hi", Delivery::Queue).await;
    let input = format!("/api/session/{session}/inbox/{}", receipt.id);
    api.f.model.reply(Reply::says("Hello."));
    let changed = api.put_json(&input, &json!({"delivery": "steer"})).await;
    assert_eq!(changed.ok(), json!({"data": listed(&receipt, "steer")}));
    api.f.wait(&session).await;
    let events = api.f.events(&session).await;
    assert_eq!(
        events[..3],
        [
            "prompt.admitted Hi (queue)",
            "prompt.redelivered steer",
            "prompted Hi"
        ]
    );
    assert_eq!(events.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn the_same_delivery_wakes_the_session_and_records_nothing() {
    let (api, session) = Api::with_session().await;
    let receipt = api.f.leave(&session, "Hi", Delivery::Steer).await;
    let input = format!("/api/session/{session}/inbox/{}", receipt.id);
    api.f.model.reply(Reply::says("Hello."));
    let changed = api.put_json(&input, &json!({"delivery": "steer"})).await;
    assert_eq!(changed.ok(), json!({"data": listed(&receipt, "steer")}));
    api.f.wait(&session).await;
    let events = api.f.events(&session).await;
    assert_eq!(events[..2], ["prompt.admitted Hi", "prompted Hi"]);
}

#[tokio::test]
async fn only_pending_inputs_can_be_changed() {
    let (api, session) = Api::with_session().await;
    let other = api.f.session().await;
    let foreign = api.f.leave(&other, "Hi", Delivery::Steer).await.id;
    api.f.model.reply(Reply::says("Hello."));
    let promoted = api.f.ask(&session, "Hi").await.id;
    let conflict = json!({
        "_tag": "ConflictError",
        "message": format!(
            "The input {promoted} is promoted already; interrupt the session, or prompt it again"
        ),
        "resource": promoted,
    });
    for (id, told) in [
        ("msg_x", not_found(session.as_str(), "msg_x")),
        (
            foreign.as_str(),
            not_found(session.as_str(), foreign.as_str()),
        ),
        (promoted.as_str(), (409, conflict)),
    ] {
        let input = format!("/api/session/{session}/inbox/{id}");
        assert_eq!(api.delete(&input).await.status_and_json(), told, "{id}");
        let changed = api.put_json(&input, &json!({"delivery": "queue"})).await;
        assert_eq!(changed.status_and_json(), told, "{id}");
    }
    assert_eq!(api.f.inbox(&other).await, ["Hi"]);
}

#[tokio::test]
async fn only_two_deliveries_are_valid() {
    let (api, session) = Api::with_session().await;
    let input = format!("/api/session/{session}/inbox/msg_x");
    for (body, message) in [
        (json!({}), "Missing key\n  at [\"delivery\"]"),
        (
            json!({"delivery": "later"}),
            "Expected \"steer\" | \"queue\", got \"later\"\n  at [\"delivery\"]",
        ),
    ] {
        let told = json!({"_tag": "InvalidRequestError", "message": message, "kind": "Payload"});
        assert_eq!(
            api.put_json(&input, &body).await.status_and_json(),
            (400, told)
        );
    }
}

#[tokio::test]
async fn a_full_inbox_refuses_and_reports_it() {
    let f = Fixture::with(|options| {
        options.limits = Limits {
            inbox: 1,
            ..Limits::default()
        };
    });
    let api = Api::on(f.await);
    let session = api.f.session().await;
    let first = api.f.leave(&session, "First", Delivery::Steer).await;
    let prompt = format!("/api/session/{session}/prompt");
    let body = json!({"prompt": {"text": "Second"}, "resume": false});
    let told = json!({
        "_tag": "SessionBacklogError",
        "sessionID": session,
        "pending": 1,
        "limit": 1,
        "retryable": true,
        "message": format!("1 inputs wait in the inbox of the session {session}, and 1 may; try again once the session has taken some"),
    });
    assert_eq!(
        api.post_json(&prompt, &body).await.status_and_json(),
        (429, told)
    );
    assert_eq!(api.f.events(&session).await, ["prompt.admitted First"]);
    // As soon as there is room, the same prompt is accepted.
    let input = format!("/api/session/{session}/inbox/{}", first.id);
    api.delete(&input).await.is_bare(204);
    api.post_json(&prompt, &body).await.ok();
    assert_eq!(api.f.inbox(&session).await, ["Second"]);
}

#[tokio::test]
async fn a_prompt_that_no_event_can_contain_is_refused() {
    let (api, session) = Api::with_session().await;
    let prompt = format!("/api/session/{session}/prompt");
    let body = json!({"prompt": {"text": "x".repeat(8 * 1024 * 1024)}, "resume": false});
    let told = json!({
        "_tag": "InvalidRequestError",
        "message": "The prompt has 8388619 bytes as JSON, and at most 8388608 are accepted; attach large files by their path",
        "field": "prompt",
    });
    assert_eq!(
        api.post_json(&prompt, &body).await.status_and_json(),
        (400, told)
    );
    assert_eq!(api.f.events(&session).await, [""; 0]);
}
