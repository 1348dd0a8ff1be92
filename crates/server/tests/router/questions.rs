//! Questions over the wire.

use opencode_schema::id::SessionID;
use opencode_testkit::{Reply, built_in_tools};
use serde_json::{Value, json};

use crate::api::Api;

/// A session whose model has asked a question, and the questions that wait.
async fn asked() -> (Api, SessionID, Value) {
    let api = Api::open().await;
    api.f.register(built_in_tools());
    let session = api.f.session().await;
    let mut live = api.f.live();
    let option = json!({"label": "Red", "description": "warm"});
    let question = json!({"question": "Which?", "header": "Colour", "options": [option]});
    let input = json!({"questions": [question]});
    api.f.model.reply(Reply::calls("c0", "question", input));
    api.f.prompt(&session, "Go").await;
    api.f
        .read_until(&mut live, "question.v2.asked Which?")
        .await;
    let waiting = api.get(&format!("/api/session/{session}/question")).await;
    (api, session, waiting.ok()["data"].clone())
}

#[tokio::test]
async fn questions_are_listed_and_answered_once() {
    let (api, session, waiting) = asked().await;
    assert_eq!(waiting.as_array().unwrap().len(), 1);
    let here = api.get("/api/location").await.ok();
    assert_eq!(
        api.get("/api/question/request").await.ok(),
        json!({"location": here, "data": waiting})
    );
    let id = waiting[0]["id"].as_str().unwrap();
    let path = format!("/api/session/{session}/question/{id}/reply");
    let answers = json!({"answers": [["Red"]]});
    api.f.model.reply(Reply::says("Red."));
    api.post_json(&path, &answers).await.is_bare(204);
    api.f.wait(&session).await;
    let told = json!({
        "_tag": "QuestionNotFoundError",
        "requestID": id,
        "message": format!("Question request not found: {id}"),
    });
    assert_eq!(
        api.post_json(&path, &answers).await.status_and_json(),
        (404, told)
    );
}

#[tokio::test]
async fn questions_are_rejected() {
    let (api, session, waiting) = asked().await;
    let id = waiting[0]["id"].as_str().unwrap();
    let path = format!("/api/session/{session}/question/{id}/reject");
    api.post(&path).await.is_bare(204);
    api.f.wait(&session).await;
    let listed = api.get("/api/question/request").await.ok();
    assert_eq!(listed["data"], json!([]));
    let last = api.f.events(&session).await.pop();
    assert_eq!(last.unwrap(), "step.ended tool-calls");
    assert_eq!(api.post(&path).await.status, 404);
}
