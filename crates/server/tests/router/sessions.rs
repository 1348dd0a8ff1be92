//! Creating, reading and listing sessions.

use opencode_testkit::{Gate, Reply};
use serde_json::{Value, json};

use crate::api::Api;

async fn create(api: &Api, body: Value) -> Value {
    api.put_in("/api/session", &body).await.ok()["data"].clone()
}

/// Sessions `ses_1` to `ses_5`, a second apart, the last of them in a folder of its own.
async fn five() -> Api {
    let api = Api::open().await;
    let elsewhere = api.f.project.path("sub");
    for n in 1..=5 {
        let mut body = json!({"id": format!("ses_{n}")});
        if n == 5 {
            body["location"] = json!({"directory": elsewhere});
        }
        create(&api, body).await;
        api.f.clock.advance(1000);
    }
    api
}

fn ids(page: &Value) -> String {
    let sessions = page["data"].as_array().unwrap().iter();
    let ids: Vec<_> = sessions.map(|it| it["id"].as_str().unwrap()).collect();
    ids.join(" ")
}

async fn list(api: &Api, query: &str) -> Value {
    api.get(&format!("/api/session?{query}")).await.ok()
}

#[tokio::test]
async fn a_session_reads_as_it_was_created() {
    let api = Api::open().await;
    let directory = api.f.project.directory();
    let created = create(
        &api,
        json!({
            "id": "ses_mine",
            "agent": "plan",
            "model": {"id": "m2", "providerID": "mock"},
        }),
    )
    .await;
    assert_eq!(
        created,
        json!({
            "id": "ses_mine",
            "projectID": "global",
            "agent": "plan",
            "model": {"id": "m2", "providerID": "mock", "variant": "default"},
            "cost": 0.0,
            "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            "time": {"created": 1_795_179_302_007_i64, "updated": 1_795_179_302_007_i64},
            "title": "New session - 2026-11-20T12:55:02.007Z",
            "location": {"directory": directory},
            "subpath": directory.trim_start_matches('/'),
        })
    );
    let read = api.get("/api/session/ses_mine").await.ok();
    assert_eq!(read, json!({"data": created}));
    // The id decides, whatever else is asked.
    api.f.clock.advance(1000);
    let again = create(
        &api,
        json!({"id": "ses_mine", "agent": "build", "location": {"directory": "x"}}),
    );
    assert_eq!(again.await, created);
}

#[tokio::test]
async fn a_session_lives_where_body_query_header_or_host_say() {
    let api = Api::open().await;
    let place = |name: &str| api.f.project.path(name).to_string_lossy().into_owned();
    let selected = format!("/api/session?location[directory]={}", place("query"));
    let encoded = format!(
        "/api/session?location%5Bdirectory%5D={}",
        place("query").replace('/', "%2F")
    );
    let in_body = json!({"location": {"directory": place("body")}}).to_string();
    for (path, header, body, expected) in [
        ("/api/session", None, "{}", api.f.project.directory()),
        ("/api/session", Some(place("header")), "{}", place("header")),
        (
            "/api/session",
            Some(place("header").replace('/', "%2F")),
            "{}",
            place("header"),
        ),
        (&selected, Some(place("header")), "{}", place("query")),
        (&encoded, None, "{}", place("query")),
        (&selected, None, &in_body, place("body")),
        // The same place, however it is written.
        (
            "/api/session",
            Some(format!("{}/../dots/", place("x"))),
            "{}",
            place("dots"),
        ),
    ] {
        let mut request = crate::api::request("POST", path, body.to_owned().into());
        if let Some(header) = header {
            let value = header.parse().unwrap();
            request.headers_mut().insert("x-opencode-directory", value);
        }
        let answer = api.send(request).await.ok();
        assert_eq!(answer["data"]["location"], json!({"directory": expected}));
    }
}

#[tokio::test]
async fn the_location_says_where_a_request_works() {
    let api = Api::open().await;
    let directory = api.f.project.directory();
    let outside = json!({"directory": directory, "project": {"id": "global", "directory": "/"}});
    assert_eq!(api.get("/api/location").await.ok(), outside);
    let path =
        format!("/api/location?location[directory]={directory}/x/..&location[workspace]=wrk_1");
    let mut echoed = outside;
    echoed["workspaceID"] = json!("wrk_1");
    assert_eq!(api.get(&path).await.ok(), echoed);
}

#[tokio::test]
async fn a_session_in_a_repository_belongs_to_its_project() {
    let api = Api::open().await;
    api.f.project.git();
    let directory = api.f.project.directory();
    let location = api.get("/api/location").await.ok();
    let id = location["project"]["id"].as_str().unwrap();
    assert_eq!(
        location,
        json!({"directory": directory, "project": {"id": id, "directory": directory}})
    );
    assert!(
        id.len() == 40,
        "a repository without a remote is known by its root commit: {id}"
    );
    let below = json!({"location": {"directory": format!("{directory}/a/b")}});
    for (body, subpath) in [(json!({}), None), (below, Some("a/b"))] {
        let created = create(&api, body).await;
        let subpath = subpath.map(Value::from);
        assert_eq!(
            (created["projectID"].as_str(), created.get("subpath")),
            (Some(id), subpath.as_ref())
        );
    }
}

#[tokio::test]
async fn pages_go_to_the_end_and_back_in_either_order() {
    let api = five().await;
    for (order, pages) in [
        ("asc", ["ses_1 ses_2", "ses_3 ses_4", "ses_5"]),
        ("desc", ["ses_5 ses_4", "ses_3 ses_2", "ses_1"]),
    ] {
        let beside = async |page: &Value, side: &str| {
            let cursor = page["cursor"][side].as_str().unwrap();
            // Some clients put their directory into every query; beside a cursor it says nothing.
            list(
                &api,
                &format!("cursor={cursor}&directory=%2Fnowhere&order=asc"),
            )
            .await
        };
        let first = list(&api, &format!("limit=2&order={order}")).await;
        let second = beside(&first, "next").await;
        let third = beside(&second, "next").await;
        assert_eq!([&first, &second, &third].map(ids), pages);
        let nothing = json!({"data": [], "cursor": {"previous": null, "next": null}});
        assert_eq!(beside(&third, "next").await, nothing);
        assert_eq!(beside(&third, "previous").await, second);
        assert_eq!(beside(&second, "previous").await, first);
        assert_eq!(beside(&first, "previous").await, nothing);
    }
}

#[tokio::test]
async fn lists_hold_what_is_asked_for() {
    let api = five().await;
    let (all, first) = ("ses_5 ses_4 ses_3 ses_2 ses_1", "ses_4 ses_3 ses_2 ses_1");
    let directory = api.f.project.directory();
    let below = format!("{directory}/sub");
    let relative = directory.trim_start_matches('/');
    for (query, expected) in [
        (String::new(), all),
        ("limit=100000".to_owned(), all),
        (format!("directory={directory}"), first),
        (format!("directory={below}"), "ses_5"),
        ("project=global".to_owned(), all),
        (format!("project=global&subpath={relative}/sub"), "ses_5"),
        (format!("project=other&directory={below}"), "ses_5"),
        ("project=other".to_owned(), ""),
        ("directory=".to_owned(), ""),
        ("search=new%20SESSION".to_owned(), all),
        ("search=12:55:04".to_owned(), "ses_3"),
        ("search=nothing".to_owned(), ""),
        ("workspace=wrk_1".to_owned(), ""),
    ] {
        assert_eq!(ids(&list(&api, &query).await), expected, "{query}");
    }
    // Turning the page keeps to what was asked for.
    let page = list(&api, &format!("directory={directory}&limit=3")).await;
    let next = page["cursor"]["next"].as_str().unwrap();
    assert_eq!(ids(&list(&api, &format!("cursor={next}")).await), "ses_1");
}

#[tokio::test]
async fn cursors_from_elsewhere_are_refused() {
    let api = five().await;
    api.f.model.reply(Reply::says("Hello."));
    let session = opencode_schema::id::SessionID::parse("ses_1").unwrap();
    api.f.ask(&session, "Hi").await;
    let messages = api.get("/api/session/ses_1/message").await.ok();
    let foreign = messages["cursor"]["next"].as_str().unwrap();
    for (cursor, message) in [
        ("", "Invalid cursor"),
        ("!", "Invalid cursor"),
        ("e30", "Invalid cursor"),
        (foreign, "Cursor belongs to another operation"),
    ] {
        let answer = api.get(&format!("/api/session?cursor={cursor}")).await;
        let expected = json!({"_tag": "InvalidCursorError", "message": message});
        assert_eq!(answer.told(), (400, expected), "{cursor}");
    }
}

#[tokio::test]
async fn a_running_session_is_active_until_it_is_interrupted() {
    let (api, session) = Api::with_session().await;
    let gate = Gate::new();
    api.f.model.reply(Reply::new().begin_text().hold(&gate));
    assert_eq!(
        api.get("/api/session/active").await.ok(),
        json!({"data": {}})
    );
    let prompt = format!("/api/session/{session}/prompt");
    let hi = json!({"prompt": {"text": "Hi"}});
    let receipt = api.put_in(&prompt, &hi).await.ok();
    assert_eq!(
        receipt,
        json!({"data": {
            "admittedSeq": 1,
            "id": receipt["data"]["id"],
            "sessionID": session,
            "prompt": {"text": "Hi"},
            "delivery": "steer",
            "timeCreated": 1_795_179_302_007_i64,
        }})
    );
    api.f.reached(&gate).await;
    let running = json!({"data": {session.as_str(): {"type": "running"}}});
    assert_eq!(api.get("/api/session/active").await.ok(), running);
    api.post(&format!("/api/session/{session}/interrupt"))
        .await
        .is_bare(204);
    assert_eq!(
        api.get("/api/session/active").await.ok(),
        json!({"data": {}})
    );
}

#[tokio::test]
async fn waiting_returns_when_the_session_is_idle() {
    let (api, session) = Api::with_session().await;
    let wait = format!("/api/session/{session}/wait");
    api.post(&wait).await.is_bare(204);
    let gate = Gate::new();
    api.f
        .model
        .reply(Reply::new().text("Hello.").hold(&gate).stop());
    api.f.prompt(&session, "Hi").await;
    api.f.reached(&gate).await;
    let release = async { gate.release() };
    let (waited, ()) = tokio::join!(api.post(&wait), release);
    waited.is_bare(204);
    let events = api.f.events(&session).await;
    assert_eq!(events.last().unwrap(), "step.ended stop");
}

#[tokio::test]
async fn switches_are_read_back() {
    let (api, session) = Api::with_session().await;
    let at = |rest: &str| format!("/api/session/{session}{rest}");
    api.f.clock.advance(1000);
    let agent = json!({"agent": "plan"});
    api.put_in(&at("/agent"), &agent).await.is_bare(204);
    let model = json!({"model": {"id": "m2", "providerID": "mock"}});
    for _ in 0..2 {
        api.put_in(&at("/model"), &model).await.is_bare(204);
    }
    let info = api.get(&at("")).await.ok()["data"].clone();
    assert_eq!(
        (&info["agent"], &info["model"], &info["time"]["updated"]),
        (
            &json!("plan"),
            &json!({"id": "m2", "providerID": "mock", "variant": "default"}),
            &json!(1_795_179_303_007_i64),
        )
    );
    let messages = api.get(&at("/message?order=asc")).await.ok()["data"].clone();
    let time = json!({"created": 1_795_179_303_007_i64});
    assert_eq!(
        messages,
        json!([
            {
                "type": "agent-switched", "id": messages[0]["id"], "time": time,
                "agent": "plan",
            },
            {
                "type": "model-switched", "id": messages[1]["id"], "time": time,
                "model": {"id": "m2", "providerID": "mock"},
            },
        ])
    );
}
