//! The log of a session in finite pages.

use opencode_schema::prompt::Delivery;
use opencode_testkit::Reply;
use serde_json::{Value, json};

use crate::api::Api;
use crate::sse::shown;

#[tokio::test]
async fn pages_can_be_read_to_the_end() {
    let (api, session) = Api::with_session().await;
    api.f.model.reply(Reply::says("Hello."));
    api.f.ask(&session, "Hi").await;
    let path = format!("/api/session/{session}/history");
    let mut seen = Vec::new();
    let mut query = "limit=4".to_owned();
    loop {
        let page = api.get(&format!("{path}?{query}")).await.ok();
        let events = page["data"].as_array().unwrap().clone();
        let has_more = page["hasMore"] == json!(true);
        assert_eq!(page, json!({"data": events, "hasMore": has_more}));
        assert_eq!(events.len(), if has_more { 4 } else { 2 });
        let last = events.last().unwrap()["durable"]["seq"].clone();
        seen.extend(events);
        if !has_more {
            let end = api.get(&format!("{path}?after={last}")).await.ok();
            assert_eq!(end, json!({"data": [], "hasMore": false}));
            break;
        }
        query = format!("limit=4&after={last}");
    }
    let texts: Vec<_> = seen.iter().map(shown).collect();
    assert_eq!(texts, api.f.events(&session).await);
    let whole = api.get(&path).await.ok();
    assert_eq!(whole, json!({"data": seen, "hasMore": false}));
}

#[tokio::test]
async fn a_page_of_large_events_ends_early_and_indicates_it() {
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}");
    for _ in 0..6 {
        let body = json!({"prompt": {"text": "x".repeat(8_000_000)}, "resume": false});
        api.post_json(&format!("{path}/prompt"), &body).await.ok();
    }
    let page = async |after: usize| {
        let page = format!("{path}/history?limit=100&after={after}");
        let page = api.get(&page).await.ok();
        let seqs = page["data"].as_array().unwrap().iter();
        let seqs: Vec<_> = seqs.map(|event| event["durable"]["seq"].clone()).collect();
        (json!(seqs), page["hasMore"].clone())
    };
    assert_eq!(page(0).await, (json!([1, 2, 3, 4, 5]), json!(true)));
    assert_eq!(page(5).await, (json!([6]), json!(false)));
    assert_eq!(page(1).await, (json!([2, 3, 4, 5, 6]), json!(false)));
}

#[tokio::test]
async fn an_event_has_the_form_of_the_contract() {
    let (api, session) = Api::with_session().await;
    let receipt = api.f.leave(&session, "Hi", Delivery::Queue).await;
    let page = api.get(&format!("/api/session/{session}/history")).await;
    let page = page.ok();
    assert_eq!(
        page["data"],
        json!([{
            "id": page["data"][0]["id"],
            "type": "session.next.prompt.admitted",
            "durable": {"aggregateID": session, "seq": 1, "version": 1},
            "data": {
                "timestamp": receipt.time_created,
                "sessionID": session,
                "messageID": receipt.id,
                "prompt": {"text": "Hi"},
                "delivery": "queue",
            },
        }])
    );
}

#[tokio::test]
async fn a_page_has_fifty_events_by_default() {
    let (api, session) = Api::with_session().await;
    for n in 0..120 {
        api.f.leave(&session, &n.to_string(), Delivery::Steer).await;
    }
    let path = format!("/api/session/{session}/history");
    let seqs = |page: &Value| {
        let events = page["data"].as_array().unwrap().clone();
        let seq = |event: &Value| event["durable"]["seq"].as_u64().unwrap();
        (
            seq(&events[0]),
            seq(events.last().unwrap()),
            page["hasMore"].clone(),
        )
    };
    for (query, expected) in [
        ("", (1, 50, json!(true))),
        ("?limit=100", (1, 100, json!(true))),
        ("?limit=20", (1, 20, json!(true))),
        ("?after=20&limit=100", (21, 120, json!(false))),
        ("?after=&limit=1", (1, 1, json!(true))),
        ("?after=119", (120, 120, json!(false))),
    ] {
        let page = api.get(&format!("{path}{query}")).await.ok();
        assert_eq!(seqs(&page), expected, "{query}");
    }
}
