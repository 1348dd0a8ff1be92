//! Lists of sessions: filters, order, pages.

use opencode_schema::id::SessionID;
use opencode_store::{Anchored, Order, SessionFilter};
use serde_json::json;

use crate::harness::{Bench, append, event, with};

/// Creates sessions from `(id, time, members that differ)`.
async fn bench() -> Bench {
    let bench = Bench::new().await;
    for (id, time, more) in [
        (
            "ses_d",
            10,
            json!({"directory": "/a", "title": "Fix the Parser"}),
        ),
        (
            "ses_b",
            20,
            json!({"directory": "/a", "path": "sub", "title": "100%"}),
        ),
        (
            "ses_c",
            20,
            json!({"directory": "/b", "path": "", "workspaceID": "wrk_1"}),
        ),
        (
            "ses_a",
            20,
            json!({"directory": "/b", "projectID": "q", "title": "parse_r"}),
        ),
        ("ses_e", 30, json!({"directory": "/a"})),
    ] {
        let base = json!({
            "id": id, "slug": "s", "projectID": "p", "directory": "/", "title": "T",
            "version": "1", "time": {"created": time, "updated": 1},
        });
        let created = event("session.created", json!({"info": with(base, more)}));
        let id = SessionID::parse(id).unwrap();
        append(&bench.store, &id, time, created).await.unwrap();
    }
    bench
}

async fn list(
    bench: &Bench,
    filter: &SessionFilter,
    order: Order,
    anchor: Option<Anchored<(i64, String)>>,
    limit: usize,
) -> String {
    let filter = filter.clone();
    let read = bench
        .store
        .read(move |db| db.sessions(&filter, order, anchor.as_ref(), limit));
    let rows = read.await.unwrap();
    rows.iter().map(|row| &row.info.id.as_str()[4..]).collect()
}

#[tokio::test]
async fn filters_are_combined_with_and() {
    let bench = bench().await;
    let none = SessionFilter::default;
    let some = |text: &str| Some(text.to_owned());
    for (filter, expected) in [
        (none(), "dbcae"),
        (
            SessionFilter {
                directory: some("/a"),
                ..none()
            },
            "dbe",
        ),
        (
            SessionFilter {
                directory: some("/A"),
                ..none()
            },
            "",
        ),
        (
            SessionFilter {
                project: some("q"),
                ..none()
            },
            "a",
        ),
        (
            SessionFilter {
                subpath: some("sub"),
                ..none()
            },
            "b",
        ),
        (
            SessionFilter {
                subpath: some(""),
                ..none()
            },
            "dcae",
        ),
        (
            SessionFilter {
                workspace: some("wrk_1"),
                ..none()
            },
            "c",
        ),
        (
            SessionFilter {
                search: some("parse"),
                ..none()
            },
            "da",
        ),
        (
            SessionFilter {
                search: some("0%"),
                ..none()
            },
            "b",
        ),
        (
            SessionFilter {
                search: some("'; DROP TABLE session; --"),
                ..none()
            },
            "",
        ),
        (
            SessionFilter {
                directory: some("/b"),
                project: some("p"),
                ..none()
            },
            "c",
        ),
    ] {
        let all = list(&bench, &filter, Order::Ascending, None, 9).await;
        assert_eq!(all, expected, "{filter:?}");
        let reversed: String = expected.chars().rev().collect();
        let all = list(&bench, &filter, Order::Descending, None, 9).await;
        assert_eq!(all, reversed, "{filter:?}");
    }
}

#[tokio::test]
async fn pages_are_slices_in_the_order_of_creation() {
    let bench = bench().await;
    let all = ["d", "b", "c", "a", "e"];
    let times = [10, 20, 20, 20, 30];
    for order in [Order::Ascending, Order::Descending] {
        for (at, id) in all.into_iter().enumerate() {
            for before in [false, true] {
                for limit in 0..5 {
                    let is_smaller = (order == Order::Ascending) == before;
                    let mut rest: Vec<_> = if is_smaller {
                        all[..at].to_vec()
                    } else {
                        all[at + 1..].to_vec()
                    };
                    // The page is next to the anchor, in the order of the list.
                    if is_smaller {
                        rest.reverse();
                    }
                    rest.truncate(limit);
                    if before {
                        rest.reverse();
                    }
                    let anchor = Anchored {
                        at: (times[at], format!("ses_{id}")),
                        before,
                    };
                    let page = list(
                        &bench,
                        &SessionFilter::default(),
                        order,
                        Some(anchor),
                        limit,
                    )
                    .await;
                    assert_eq!(page, rest.concat(), "{order:?} {id} {before} {limit}");
                }
            }
        }
    }
}
