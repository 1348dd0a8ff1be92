//! Lists of sessions: their content, and their pages in both orders and both directions.

use opencode_testkit::{Reply, built_in_tools};
use serde_json::{Value, json};

use crate::api::Api;

/// Sessions `ses_1` to `ses_5`, created a second apart. The last one has its own folder.
async fn five() -> Api {
    let api = Api::open().await;
    let elsewhere = api.f.project.path("sub");
    for n in 1..=5 {
        let mut body = json!({"id": format!("ses_{n}")});
        if n == 5 {
            body["location"] = json!({"directory": elsewhere});
        }
        api.create(body).await;
        api.f.clock.advance(1000);
    }
    api
}

#[tokio::test]
async fn the_sessions_of_tasks_are_listed_with_their_parent() {
    let (api, session) = Api::with_session().await;
    let tools = built_in_tools().into_iter();
    api.f
        .register(tools.filter(|(name, _)| name == "task").collect());
    let children = format!("/api/session/{session}/children");
    assert_eq!(api.get(&children).await.ok(), json!({"data": []}));
    let task = json!({"description": "Look", "prompt": "Where?", "agent": "explore"});
    api.f
        .model
        .reply(Reply::calls("c0", "task", task))
        .reply(Reply::says("Here."))
        .reply(Reply::says("Well."));
    api.f.ask(&session, "Go").await;
    let listed = api.get(&children).await.ok();
    let child = &listed["data"][0];
    let path = format!("/api/session/{}", child["id"].as_str().unwrap());
    let read = api.get(&path).await.ok();
    assert_eq!(listed, json!({"data": [read["data"]]}));
    assert_eq!(
        (&child["parentID"], &child["agent"], &child["title"]),
        (&json!(session), &json!("explore"), &json!("Look"))
    );
    let unknown = api.get("/api/session/ses_none/children").await;
    assert_eq!(
        (unknown.status, &unknown.json()["_tag"]),
        (404, &json!("SessionNotFoundError"))
    );
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
async fn pages_can_be_read_to_the_end_and_back_in_either_order() {
    let api = five().await;
    for (order, pages) in [
        ("asc", ["ses_1 ses_2", "ses_3 ses_4", "ses_5"]),
        ("desc", ["ses_5 ses_4", "ses_3 ses_2", "ses_1"]),
    ] {
        let beside = async |page: &Value, side: &str| {
            let cursor = page["cursor"][side].as_str().unwrap();
            // Some clients put their directory into every query. It has no effect beside a cursor.
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
async fn lists_match_their_filters() {
    let api = five().await;
    let (all, first) = ("ses_5 ses_4 ses_3 ses_2 ses_1", "ses_4 ses_3 ses_2 ses_1");
    let directory = api.f.project.directory();
    let below = format!("{directory}/sub");
    let relative = directory.trim_start_matches('/');
    for (query, expected) in [
        (String::new(), all),
        ("limit=100000".to_owned(), all),
        (format!("directory={directory}"), first),
        (format!("directory={directory}/./"), first),
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
    // The next page keeps the filters of the first request.
    let page = list(&api, &format!("directory={directory}&limit=3")).await;
    let next = page["cursor"]["next"].as_str().unwrap();
    assert_eq!(ids(&list(&api, &format!("cursor={next}")).await), "ses_1");
}

#[tokio::test]
async fn an_invalid_directory_is_reported() {
    let api = five().await;
    let relative = json!({
        "_tag": "InvalidRequestError",
        "message": "The directory \"a/b\" is not an absolute path; give the full path, from the root on",
        "field": "directory",
    });
    let answer = api.get("/api/session?directory=a%2Fb").await;
    assert_eq!(answer.status_and_json(), (400, relative));
    // A filter has no effect beside a cursor.
    let page = list(&api, "limit=2").await;
    let next = page["cursor"]["next"].as_str().unwrap();
    let page = list(&api, &format!("cursor={next}&directory=a%2Fb")).await;
    assert_eq!(ids(&page), "ses_3 ses_2");
}

#[tokio::test]
async fn cursors_of_other_lists_are_refused() {
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
        assert_eq!(answer.status_and_json(), (400, expected), "{cursor}");
    }
}
