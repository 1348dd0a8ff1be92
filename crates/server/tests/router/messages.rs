//! Pages of messages, in both orders and both directions.

use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::Reply;
use serde_json::{Value, json};

use crate::api::Api;

/// A session with seven prompts and one answer.
async fn eight() -> (Api, SessionID) {
    let (api, session) = Api::with_session().await;
    for n in 1..=7 {
        api.f.leave(&session, &n.to_string(), Delivery::Steer).await;
    }
    api.f.model.reply(Reply::says("8"));
    api.f.run(&session).await;
    (api, session)
}

/// Returns the texts of the messages.
fn texts(page: &Value) -> Vec<String> {
    let messages = page["data"].as_array().unwrap().iter();
    let text = |message: &Value| match message["type"].as_str() {
        Some("user") => message["text"].clone(),
        _ => message["content"][0]["text"].clone(),
    };
    messages
        .map(|message| text(message).as_str().unwrap().to_owned())
        .collect()
}

fn joined(page: &Value) -> String {
    texts(page).join(" ")
}

async fn page(api: &Api, session: &SessionID, query: &str) -> Value {
    let path = format!("/api/session/{session}/message?{query}");
    api.get(&path).await.ok()
}

async fn beside(api: &Api, session: &SessionID, page_of: &Value, side: &str) -> Value {
    let cursor = page_of["cursor"][side].as_str().unwrap();
    page(api, session, &format!("cursor={cursor}")).await
}

#[tokio::test]
async fn pages_can_be_read_to_the_end_and_back_in_either_order() {
    let (api, session) = eight().await;
    for (order, pages) in [
        ("asc", ["1 2 3", "4 5 6", "7 8"]),
        ("desc", ["8 7 6", "5 4 3", "2 1"]),
    ] {
        let first = page(&api, &session, &format!("limit=3&order={order}")).await;
        let second = beside(&api, &session, &first, "next").await;
        let third = beside(&api, &session, &second, "next").await;
        assert_eq!([&first, &second, &third].map(joined), pages);
        let end = beside(&api, &session, &third, "next").await;
        let nothing = json!({"data": [], "cursor": {"previous": null, "next": null}});
        assert_eq!(end, nothing);
        // The opposite direction returns the same pages in the same order.
        let back = beside(&api, &session, &third, "previous").await;
        assert_eq!(back, second);
        let back = beside(&api, &session, &back, "previous").await;
        assert_eq!(back, first);
        assert_eq!(beside(&api, &session, &back, "previous").await, nothing);
    }
}

#[tokio::test]
async fn by_default_a_page_has_fifty_messages_newest_first() {
    let (api, session) = Api::with_session().await;
    for n in 0..60 {
        api.f.leave(&session, &n.to_string(), Delivery::Steer).await;
    }
    api.f.model.reply(Reply::says("60"));
    api.f.run(&session).await;
    let first = api
        .get(&format!("/api/session/{session}/message"))
        .await
        .ok();
    let newest: Vec<_> = (11..=60).rev().map(|n| n.to_string()).collect();
    assert_eq!(texts(&first), newest);
    // The cursor contains the page size. The parameter `limit` replaces it.
    let next = first["cursor"]["next"].as_str().unwrap();
    let oldest = page(&api, &session, &format!("cursor={next}")).await;
    assert_eq!(texts(&oldest).len(), 11);
    let two = page(&api, &session, &format!("cursor={next}&limit=2")).await;
    assert_eq!(joined(&two), "10 9");
    let more = beside(&api, &session, &two, "next").await;
    assert_eq!(joined(&more), "8 7");
}

#[tokio::test]
async fn later_messages_are_found_from_the_last_cursors() {
    let (api, session) = eight().await;
    let newest = page(&api, &session, "limit=2").await;
    let oldest = page(&api, &session, "limit=200&order=asc").await;
    api.f.model.reply(Reply::says("10"));
    api.f.ask(&session, "9").await;
    let later = beside(&api, &session, &newest, "previous").await;
    assert_eq!(joined(&later), "10 9");
    let later = beside(&api, &session, &oldest, "next").await;
    assert_eq!(joined(&later), "9 10");
}

#[tokio::test]
async fn cursors_of_other_lists_are_refused() {
    let (api, session) = eight().await;
    let other = api.f.session().await;
    let cursor = page(&api, &session, "limit=2").await["cursor"]["next"].clone();
    let cursor = cursor.as_str().unwrap();
    let sessions = api.get("/api/session?limit=1").await.ok();
    let sessions = sessions["cursor"]["next"].as_str().unwrap();
    let (mut changed, padded) = (cursor.to_owned(), format!("{cursor}=="));
    changed.truncate(cursor.len() - 4);
    let cursor_error = |message: &str| {
        (
            400,
            json!({"_tag": "InvalidCursorError", "message": message}),
        )
    };
    for (session, query, expected) in [
        (
            &other,
            format!("cursor={cursor}"),
            cursor_error("Cursor belongs to another session"),
        ),
        (
            &session,
            format!("cursor={sessions}"),
            cursor_error("Cursor belongs to another operation"),
        ),
        (
            &session,
            format!("cursor={changed}"),
            cursor_error("Invalid cursor"),
        ),
        (
            &session,
            "cursor=e30".to_owned(),
            cursor_error("Invalid cursor"),
        ),
        (
            &session,
            format!("cursor={}", "A".repeat(60_000)),
            cursor_error("Invalid cursor"),
        ),
        (
            &session,
            format!("cursor={cursor}&order=desc"),
            cursor_error("Cursor cannot be combined with order"),
        ),
    ] {
        let path = format!("/api/session/{session}/message?{query}");
        assert_eq!(api.get(&path).await.status_and_json(), expected, "{query}");
    }
    // An empty cursor counts as absent, and padding is accepted.
    assert_eq!(
        joined(&page(&api, &session, "cursor=&limit=2").await),
        "8 7"
    );
    let remainder = cursor.len() % 4;
    if remainder == 2 {
        assert_eq!(
            joined(&page(&api, &session, &format!("cursor={padded}")).await),
            "6 5"
        );
    }
}

#[tokio::test]
async fn one_message_and_the_active_history_equal_the_page() {
    let (api, session) = eight().await;
    let all = page(&api, &session, "order=asc").await;
    let context = api.get(&format!("/api/session/{session}/context")).await;
    assert_eq!(context.ok(), json!({"data": all["data"]}));
    for message in all["data"].as_array().unwrap() {
        let id = message["id"].as_str().unwrap();
        let one = api
            .get(&format!("/api/session/{session}/message/{id}"))
            .await;
        assert_eq!(one.ok(), json!({"data": message}));
    }
}
