//! A cursor decodes to the page that it was made for. Hostile cursors are refused.

use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use opencode_protocol::cursor::{CursorError, MessagesCursor, SessionsCursor};
use opencode_protocol::failure::Failure;
use opencode_protocol::input::{MessagesQuery, Order, SessionsQuery};
use opencode_protocol::operation::Channel;
use opencode_protocol::output::PageCursors;
use opencode_protocol::page::{
    Direction, MessagesPage, PageAnchor, SessionAnchor, SessionFilters, SessionsPage,
};
use opencode_schema::id::{SessionID, WorkspaceID};
use proptest::prelude::*;
use serde_json::{Value, json};

fn session(text: &str) -> SessionID {
    SessionID::parse(text).expect("a session's id")
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Asc), Just(Order::Desc)]
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Previous), Just(Direction::Next)]
}

fn text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(".{0,40}")
}

prop_compose! {
    fn filters()(
        workspace in proptest::option::of("wrk[a-z]{0,8}"),
        search in text(),
        directory in text(),
        project in text(),
        subpath in text(),
        archived in any::<Option<bool>>(),
        roots in any::<bool>(),
        parent in proptest::option::of("ses[a-z]{0,8}"),
    ) -> SessionFilters {
        let workspace = workspace.map(|text| WorkspaceID::parse(&text).expect("a workspace's id"));
        let parent = parent.map(|text| session(&text));
        SessionFilters { workspace, search, directory, project, subpath, archived, roots, parent }
    }
}

prop_compose! {
    fn sessions_page()(
        scope in filters(),
        order in order(),
        limit in 1..=1000u32,
        time in any::<i64>(),
        id in "ses.{0,20}",
        direction in direction(),
    ) -> SessionsPage {
        let anchor = SessionAnchor { time, id: session(&id) };
        SessionsPage { scope, order, limit, from: Some(PageAnchor { anchor, direction }) }
    }
}

prop_compose! {
    fn messages_page()(
        id in "ses.{0,20}",
        order in order(),
        limit in 1..=200u32,
        anchor in any::<u64>(),
        direction in direction(),
    ) -> MessagesPage {
        MessagesPage { scope: session(&id), order, limit, from: Some(PageAnchor { anchor, direction }) }
    }
}

/// A cursor of a client.
fn cursor<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(Value::from(text)).expect("any text is a cursor at first")
}

/// A cursor that a hostile caller forged.
fn forged(content: &Value) -> String {
    URL_SAFE_NO_PAD.encode(content.to_string())
}

proptest! {
    #[test]
    fn cursors_lead_back_to_their_page(sessions in sessions_page(), messages in messages_page()) {
        let given = SessionsCursor::encode(&sessions);
        prop_assert!(given.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
        prop_assert_eq!(given.decode(), Ok(sessions));
        prop_assert_eq!(cursor::<MessagesCursor>(given.as_str()).decode(&messages.scope), Err(CursorError::WrongKind));
        let given = MessagesCursor::encode(&messages);
        prop_assert_eq!(given.decode(&session("ses")).is_ok(), messages.scope.as_str() == "ses");
        prop_assert_eq!(given.decode(&messages.scope.clone()), Ok(messages));
        prop_assert_eq!(cursor::<SessionsCursor>(given.as_str()).decode(), Err(CursorError::WrongKind));
    }

    #[test]
    fn invalid_text_is_not_a_cursor(text in ".{0,80}") {
        prop_assert_eq!(cursor::<SessionsCursor>(&text).decode(), Err(CursorError::Undecodable));
        let bytes = URL_SAFE_NO_PAD.encode(&text);
        prop_assert_eq!(cursor::<SessionsCursor>(&bytes).decode(), Err(CursorError::Undecodable));
    }
}

#[test]
fn a_cursor_contains_its_complete_query() {
    let page = MessagesPage {
        scope: session("ses_a"),
        order: Order::Asc,
        limit: 3,
        from: Some(PageAnchor {
            anchor: 7,
            direction: Direction::Next,
        }),
    };
    let given = MessagesCursor::encode(&page);
    let content: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(given.as_str()).unwrap()).unwrap();
    assert_eq!(
        content,
        json!({
            "version": 1,
            "kind": "messages",
            "page": {
                "scope": "ses_a",
                "order": "asc",
                "limit": 3,
                "from": { "anchor": 7, "direction": "next" },
            },
        })
    );
    let padded = URL_SAFE.encode(content.to_string());
    assert!(padded.ends_with('='));
    let padded: MessagesCursor = cursor(&padded);
    assert_eq!(padded.decode(&session("ses_a")), Ok(page));
    assert_eq!(
        padded.decode(&session("ses_b")),
        Err(CursorError::ForeignSession)
    );
}

#[test]
fn forged_cursors_are_refused() {
    let page = |limit: Value, from: Value| json!({ "scope": "ses_a", "order": "asc", "limit": limit, "from": from });
    let from = json!({ "anchor": 7, "direction": "next" });
    let good = page(json!(3), from.clone());
    let accepts = |text: &str| cursor::<MessagesCursor>(text).decode(&session("ses_a"));
    assert!(
        accepts(&forged(
            &json!({ "version": 1, "kind": "messages", "page": good })
        ))
        .is_ok()
    );
    for content in [
        json!({ "version": 2, "kind": "messages", "page": good }),
        json!({ "version": 1, "kind": "other", "page": good }),
        json!({ "version": 1, "kind": "messages", "page": page(json!(0), from.clone()) }),
        json!({ "version": 1, "kind": "messages", "page": page(json!(201), from.clone()) }),
        json!({ "version": 1, "kind": "messages", "page": page(json!(1e9), from) }),
        json!({ "version": 1, "kind": "messages", "page": page(json!(3), Value::Null) }),
        json!({ "version": 1, "kind": "messages", "page": page(json!(3), json!({ "anchor": -1, "direction": "next" })) }),
        json!({ "version": 1, "kind": "messages" }),
        json!([]),
    ] {
        assert_eq!(
            accepts(&forged(&content)),
            Err(CursorError::Undecodable),
            "{content}"
        );
    }
    for text in [
        "",
        "=",
        "a",
        "%",
        &"A".repeat(100_000),
        &URL_SAFE_NO_PAD.encode("[".repeat(10_000)),
    ] {
        assert_eq!(accepts(text), Err(CursorError::Undecodable));
    }
}

fn invalid_cursor(message: &str) -> Failure {
    Failure::invalid_cursor(message)
}

#[test]
fn sessions_are_selected_by_a_query_or_a_cursor() {
    let query = SessionsQuery {
        limit: Some(u64::MAX),
        directory: Some("/w".into()),
        ..SessionsQuery::default()
    };
    let page = SessionsPage {
        scope: SessionFilters {
            directory: Some("/w".into()),
            ..SessionFilters::default()
        },
        order: Order::Desc,
        limit: 1000,
        from: None,
    };
    assert_eq!(query.page(), Ok(page.clone()));
    assert_eq!(SessionsQuery::default().page().unwrap().limit, 50);
    for directory in [".", "w", "~/w", "w:x"] {
        let relative = SessionsQuery {
            directory: Some(directory.into()),
            ..SessionsQuery::default()
        };
        let message = format!(
            "The directory {directory:?} is not an absolute path; give the full path, from the root on"
        );
        assert_eq!(
            relative.page(),
            Err(Failure::invalid_field("directory", message))
        );
    }

    let anchor = |time, id| SessionAnchor {
        time,
        id: session(id),
    };
    let cursors = page.cursors(Some((anchor(9, "ses_9"), anchor(5, "ses_5"))));
    let beside = |anchor, direction| SessionsPage {
        from: Some(PageAnchor { anchor, direction }),
        ..page.clone()
    };
    let next = beside(anchor(5, "ses_5"), Direction::Next);
    let previous = beside(anchor(9, "ses_9"), Direction::Previous);
    assert_eq!(cursors.previous.as_ref().unwrap().decode(), Ok(previous));
    // A client that puts its directory into every query gets the next page, too.
    let continued = SessionsQuery {
        directory: Some("/other".into()),
        order: Some(Order::Asc),
        cursor: cursors.next.clone(),
        ..SessionsQuery::default()
    };
    assert_eq!(continued.clone().page(), Ok(next.clone()));
    let smaller = SessionsQuery {
        limit: Some(3),
        ..continued
    };
    assert_eq!(smaller.page(), Ok(SessionsPage { limit: 3, ..next }));
    let empty = SessionsQuery {
        cursor: Some(cursor("")),
        ..SessionsQuery::default()
    };
    assert_eq!(empty.page(), Err(invalid_cursor("Invalid cursor")));
    let none = PageCursors {
        previous: None,
        next: None,
    };
    assert_eq!(page.cursors(None), none);
    assert_eq!(json!(none), json!({ "previous": null, "next": null }));
}

#[test]
fn a_search_is_limited_to_the_length_of_a_title() {
    let search = |text: &str| {
        let search = Some(text.to_owned());
        let query = SessionsQuery {
            search,
            ..SessionsQuery::default()
        };
        query.page()
    };
    for (text, problem) in [
        (
            "é".repeat(2049),
            "Expected a text of at most 4096 bytes, got one of 4098",
        ),
        ("a\0".into(), "Expected a text without a NUL character"),
    ] {
        let refused = Failure::InvalidRequest {
            message: format!("{problem}\n  at [\"search\"]"),
            kind: Some(Channel::Query),
            field: None,
        };
        assert_eq!(search(&text), Err(refused));
    }
    // A cursor can contain the text, although its encoding is longer.
    for character in ["a", "%", "\u{1}"] {
        let page = search(&character.repeat(4096)).unwrap();
        let anchor = || SessionAnchor {
            time: 0,
            id: session("ses_a"),
        };
        let next = page.cursors(Some((anchor(), anchor()))).next.unwrap();
        assert_eq!(next.decode().unwrap().scope, page.scope);
    }
}

#[test]
fn messages_are_selected_by_a_query_or_a_cursor() {
    let id = session("ses_a");
    let page = MessagesPage {
        scope: id.clone(),
        order: Order::Desc,
        limit: 50,
        from: None,
    };
    let empty = MessagesQuery {
        cursor: Some(cursor("")),
        order: Some(Order::Desc),
        limit: None,
    };
    assert_eq!(MessagesQuery::default().page(&id), Ok(page.clone()));
    assert_eq!(empty.page(&id), Ok(page.clone()));

    let three = MessagesPage { limit: 3, ..page };
    let next = three.cursors(Some((9, 7))).next;
    let continued = |order, limit| MessagesQuery {
        cursor: next.clone(),
        order,
        limit,
    };
    let expected = MessagesPage {
        from: Some(PageAnchor {
            anchor: 7,
            direction: Direction::Next,
        }),
        ..three
    };
    assert_eq!(continued(None, None).page(&id), Ok(expected.clone()));
    let wider = MessagesPage {
        limit: 100,
        ..expected
    };
    assert_eq!(continued(None, Some(100)).page(&id), Ok(wider));
    assert_eq!(
        continued(Some(Order::Desc), None).page(&id),
        Err(invalid_cursor("Cursor cannot be combined with order"))
    );
    assert_eq!(
        continued(None, None).page(&session("ses_b")),
        Err(invalid_cursor("Cursor belongs to another session"))
    );
}
