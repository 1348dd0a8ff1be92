//! The status and the body of every failure.

use opencode_log::Level;
use opencode_schema::message::SessionMessage;
use opencode_testkit::{RecordedLog, Reply};
use serde_json::{Value, json};

use crate::api::Api;

fn invalid(kind: &str, message: &str) -> Value {
    json!({"_tag": "InvalidRequestError", "message": message, "kind": kind})
}

fn cursor(message: &str) -> Value {
    json!({"_tag": "InvalidCursorError", "message": message})
}

#[tokio::test]
async fn failures_of_reads_are_reported_completely() {
    let (api, session) = Api::with_session().await;
    let other = api.f.session().await;
    api.f.model.reply(Reply::says("Hello."));
    let foreign = api.f.ask(&other, "Hi").await.id;
    let pending = api
        .f
        .leave(&session, "Hi", opencode_schema::prompt::Delivery::Steer)
        .await
        .id;
    let missing = |message: &str| {
        json!({
            "_tag": "MessageNotFoundError",
            "sessionID": session,
            "messageID": message,
            "message": format!("Message not found: {message}"),
        })
    };
    for (path, status, body) in [
        (
            "/message/foo".to_owned(),
            400,
            invalid(
                "Params",
                "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"messageID\"]",
            ),
        ),
        ("/message/msg_x".to_owned(), 404, missing("msg_x")),
        // A message of another session, or one that is not promoted yet, counts as unknown.
        (
            format!("/message/{foreign}"),
            404,
            missing(foreign.as_str()),
        ),
        (
            format!("/message/{pending}"),
            404,
            missing(pending.as_str()),
        ),
        (
            "/message?limit=201".to_owned(),
            400,
            invalid(
                "Query",
                "Expected a value less than or equal to 200, got 201\n  at [\"limit\"]",
            ),
        ),
        (
            "/message?limit=0".to_owned(),
            400,
            invalid(
                "Query",
                "Expected a value greater than or equal to 1, got 0\n  at [\"limit\"]",
            ),
        ),
        (
            "/message?limit=1&limit=2".to_owned(),
            400,
            invalid(
                "Query",
                "Expected string | undefined, got [\"1\",\"2\"]\n  at [\"limit\"]",
            ),
        ),
        (
            "/message?order=up".to_owned(),
            400,
            invalid(
                "Query",
                "Expected \"asc\" | \"desc\", got \"up\"\n  at [\"order\"]",
            ),
        ),
        (
            "/message?cursor=!".to_owned(),
            400,
            cursor("Invalid cursor"),
        ),
        (
            "/message?cursor=abc&order=asc".to_owned(),
            400,
            cursor("Cursor cannot be combined with order"),
        ),
        (
            "/history?limit=0".to_owned(),
            400,
            invalid(
                "Query",
                "Expected a value greater than 0, got 0\n  at [\"limit\"]",
            ),
        ),
        (
            "/history?limit=101".to_owned(),
            400,
            invalid(
                "Query",
                "Expected a value less than or equal to 100, got 101\n  at [\"limit\"]",
            ),
        ),
        (
            "/event?after=-1".to_owned(),
            400,
            invalid(
                "Query",
                "Expected a value greater than or equal to 0, got -1\n  at [\"after\"]",
            ),
        ),
    ] {
        let answer = api.get(&format!("/api/session/{session}{path}")).await;
        assert_eq!(answer.status_and_json(), (status, body), "{path}");
    }
}

#[tokio::test]
async fn failures_of_prompts_are_reported_completely() {
    let (api, session) = Api::with_session().await;
    let other = api.f.session().await;
    api.f.model.reply(Reply::says("Hello."));
    let path = |session: &str| format!("/api/session/{session}/prompt");
    let hi = json!({"id": "msg_c1", "prompt": {"text": "Hi"}});
    api.post_json(&path(session.as_str()), &hi).await.ok();
    api.f.wait(&session).await;
    let SessionMessage::Assistant(answer) = &api.f.messages(&session).await[1] else {
        panic!("there is an answer")
    };
    let conflict = |id: &str| {
        json!({
            "_tag": "ConflictError",
            "message": format!("Prompt message ID conflicts with an existing durable record: {id}"),
            "resource": id,
        })
    };
    let ho = json!({"id": "msg_c1", "prompt": {"text": "Ho"}});
    let queued = json!({"id": "msg_c1", "prompt": {"text": "Hi"}, "delivery": "queue"});
    let taken = json!({"id": answer.id, "prompt": {"text": "Hi"}});
    for (at, body, status, told) in [
        (&session, &ho, 409, conflict("msg_c1")),
        (&session, &queued, 409, conflict("msg_c1")),
        (&other, &hi, 409, conflict("msg_c1")),
        (&session, &taken, 409, conflict(answer.id.as_str())),
        (
            &session,
            &json!({"prompt": {"text": 5}}),
            400,
            invalid(
                "Payload",
                "Expected string, got 5\n  at [\"prompt\"][\"text\"]",
            ),
        ),
        (
            &session,
            &json!({}),
            400,
            invalid("Payload", "Missing key\n  at [\"prompt\"]"),
        ),
        (
            &session,
            &json!({"prompt": null}),
            400,
            invalid(
                "Payload",
                "Expected PromptInput, got null\n  at [\"prompt\"]",
            ),
        ),
        (
            &session,
            &json!({"prompt": {"text": ""}, "delivery": "later"}),
            400,
            invalid(
                "Payload",
                "Expected \"steer\" | \"queue\", got \"later\"\n  at [\"delivery\"]",
            ),
        ),
        (
            &session,
            &json!({"id": "foo", "prompt": {"text": ""}}),
            400,
            invalid(
                "Payload",
                "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"id\"]",
            ),
        ),
        (
            &session,
            &json!({"prompt": {"text": "", "files": "A"}}),
            400,
            invalid(
                "Payload",
                "Expected array, got \"A\"\n  at [\"prompt\"][\"files\"]",
            ),
        ),
    ] {
        let answer = api.post_json(&path(at.as_str()), body).await;
        let (got, value) = answer.status_and_json();
        // Messages about optional fields mention null, too. Their wording is not part of the contract.
        let value = match value["message"].as_str() {
            Some(message) => {
                let message = message.replace(" | null", "");
                let mut value = value.clone();
                value["message"] = message.into();
                value
            }
            None => value,
        };
        assert_eq!((got, value), (status, told), "{body}");
    }
}

#[tokio::test]
async fn invalid_locations_are_refused() {
    let api = Api::open().await;
    let refused = |message: &str| {
        let body = json!({
            "_tag": "InvalidRequestError",
            "message": message,
            "field": "location.directory",
        });
        (400, body)
    };
    let relative = json!({"location": {"directory": "a/b"}});
    let answer = api.post_json("/api/session", &relative).await;
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert_eq!(answer.status_and_json(), refused(&message));
    assert!(message.contains("a/b"), "{message}");
    let missing = api.f.project.path("missing");
    let encoded = missing.to_string_lossy().replace('/', "%2F");
    let answer = api
        .get(&format!("/api/location?location[directory]={encoded}"))
        .await;
    let message = format!(
        "The directory {} does not exist; create it first or give another one",
        missing.display()
    );
    assert_eq!(answer.status_and_json(), refused(&message));
}

#[tokio::test]
async fn ids_that_no_path_can_contain_are_refused_for_new_records() {
    let (api, session) = Api::with_session().await;
    let prompts = format!("/api/session/{session}/prompt");
    for (path, id, mut body) in [
        ("/api/session", "ses_a/b", json!({})),
        ("/api/session", "ses_a\u{7}", json!({})),
        (
            prompts.as_str(),
            "msg_a/b",
            json!({"prompt": {"text": "Hi"}}),
        ),
    ] {
        body["id"] = json!(id);
        let message =
            format!("The id {id:?} holds a slash or a control character; choose another one");
        let refused = json!({"_tag": "InvalidRequestError", "message": message, "field": "id"});
        assert_eq!(
            api.post_json(path, &body).await.status_and_json(),
            (400, refused)
        );
    }
}

#[tokio::test]
async fn the_length_of_names_of_agents_and_models_is_limited() {
    let (api, session) = Api::with_session().await;
    let (longest, longer) = ("é".repeat(512), "é".repeat(513));
    let at = |rest: &str| format!("/api/session/{session}{rest}");
    let agent = |name: &str| json!({"agent": name});
    let model = |name: &str| json!({"model": {"id": "m1", "providerID": "mock", "variant": name}});
    api.post_json(&at("/agent"), &agent(&longest))
        .await
        .is_bare(204);
    api.post_json(&at("/model"), &model(&longest))
        .await
        .is_bare(204);
    for (path, field, body) in [
        (at("/agent"), "agent", agent(&longer)),
        (at("/model"), "model", model(&longer)),
        ("/api/session".into(), "agent", agent(&longer)),
        ("/api/session".into(), "model", model(&longer)),
    ] {
        let message =
            "A name of 1026 bytes is longer than any agent or model has; at most 1024 are accepted";
        let refused = json!({"_tag": "InvalidRequestError", "message": message, "field": field});
        assert_eq!(
            api.post_json(&path, &body).await.status_and_json(),
            (400, refused)
        );
    }
    assert_eq!(api.f.events(&session).await.len(), 2);
    // An existing session is returned, and the other fields are ignored.
    let again = json!({"id": session, "agent": longer});
    assert_eq!(api.create(again).await["id"], json!(session));
    let unknown = "/api/session/ses_none/agent";
    let answer = api.post_json(unknown, &agent(&longer)).await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn a_panic_ends_one_request_and_not_the_host() {
    let mut log = RecordedLog::begin();
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}/prompt");
    let hi = json!({"prompt": {"text": "Hi"}, "resume": false});
    api.f.clock.panic_once();
    let answer = api.post_json(&path, &hi).await;
    let (status, told) = answer.status_and_json();
    let reference = told["ref"].as_str().unwrap();
    let digits = reference.strip_prefix("err_").unwrap();
    assert_eq!(digits.len(), 8, "{reference}");
    assert!(
        digits.bytes().all(|it| b"0123456789abcdef".contains(&it)),
        "{reference}"
    );
    assert_eq!(
        (status, told.clone()),
        (
            500,
            json!({
                "_tag": "UnknownError",
                "message": format!(
                    "A bug in opencode-embedded ended this call ({reference}); standard error says where. Please report it at https://github.com/opencode-embedded/opencode-embedded/issues"
                ),
                "ref": reference,
            })
        )
    );
    let entry = log.find("a panic ended a call").await;
    assert_eq!(entry.fields["reference"], reference);
    assert_eq!(
        (entry.level, &*entry.target),
        (Level::Error, "opencode::server")
    );
    api.post_json(&path, &hi).await.ok();
    assert_eq!(api.f.events(&session).await, ["prompt.admitted Hi"]);
}

#[tokio::test]
async fn a_closed_host_is_reported() {
    let (api, session) = Api::with_session().await;
    api.f.close().await;
    let hi = json!({"prompt": {"text": "Hi"}});
    let path = format!("/api/session/{session}/prompt");
    for answer in [
        api.post_json(&path, &hi).await,
        api.get(&format!("/api/session/{session}")).await,
        api.get("/api/session").await,
        api.post_json("/api/session", &json!({})).await,
        api.get(&format!("/api/session/{session}/event")).await,
        // Even an invalid request gets no other failure.
        api.post_json(&path, &json!({})).await,
    ] {
        let (status, told) = answer.status_and_json();
        assert_eq!(
            (status, &told["_tag"]),
            (503, &json!("ServiceUnavailableError"))
        );
    }
}

#[tokio::test]
async fn answers_have_the_headers_that_clients_read() {
    let (api, session) = Api::with_session().await;
    let ok = api.get("/api/health").await;
    let refused = api.get("/api/session/ses_nope").await;
    for answer in [&ok, &refused] {
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("vary"), Some("Origin"));
        let length = answer.text.len().to_string();
        assert_eq!(answer.header("content-length"), Some(&*length));
    }
    let nothing = api.post(&format!("/api/session/{session}/interrupt")).await;
    nothing.is_bare(204);
}
