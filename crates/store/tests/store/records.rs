//! Changes of the session's own row, its epoch and its shell messages by events.

use opencode_schema::event::SessionEvent;
use opencode_store::{Abort, Epoch, LifecycleConflict, SessionRow};
use serde_json::{Value, json};

use crate::harness::{
    Bench, admitted, append, event, message_id, of_a, project, prompted, step_started, with,
};

async fn set_epoch(bench: &Bench, session: &SessionRow, epoch: &Epoch) {
    let (key, epoch) = (session.key, epoch.clone());
    let write = bench.store.write(move |transaction| {
        transaction.set_epoch(key, &epoch)?;
        Ok::<_, Abort<&'static str>>(())
    });
    write.await.unwrap();
}

async fn epoch(bench: &Bench, session: &SessionRow) -> Option<Epoch> {
    let key = session.key;
    bench.store.read(move |db| db.epoch(key)).await.unwrap()
}

fn an_epoch(baseline_seq: u64) -> Epoch {
    Epoch {
        baseline: "You are in /project.\n".into(),
        snapshot: r#"{"core/date":{"value":"Fri Nov 20 2026"}}"#.into(),
        baseline_seq: baseline_seq.into(),
    }
}

fn system(id: &str) -> SessionEvent {
    event("context.updated", json!({"messageID": id, "text": "news"}))
}

fn committed(id: &str) -> SessionEvent {
    event("revert.committed", json!({"messageID": id}))
}

#[tokio::test]
async fn a_session_is_returned_as_created() {
    let bench = Bench::new().await;
    let small = json!({
        "id": "ses_a", "slug": "s", "projectID": "p", "directory": "/d", "title": "T",
        "version": "1", "time": {"created": 5, "updated": 6},
    });
    let zero = json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    let shown = json!({
        "id": "ses_a", "projectID": "p", "cost": 0.0, "tokens": zero,
        "time": {"created": 5, "updated": 6}, "title": "T", "location": {"directory": "/d"},
    });
    let model = json!({"id": "m", "providerID": "p"});
    let more = json!({
        "workspaceID": "wrk_1", "path": "sub", "parentID": "ses_p", "agent": "plan", "model": model,
        "time": {"created": 5, "updated": 6, "archived": 7},
    });
    let more_shown = json!({
        "location": {"directory": "/d", "workspaceID": "wrk_1"}, "subpath": "sub",
        "parentID": "ses_p", "agent": "plan", "model": with(model, json!({"variant": "default"})),
        "time": {"created": 5, "updated": 6, "archived": 7},
    });
    for (id, change, change_shown) in [
        ("ses_a", json!({}), json!({})),
        ("ses_b", json!({"path": ""}), json!({})),
        ("ses_c", more, more_shown),
    ] {
        let id_only = json!({"id": id});
        let info = with(with(small.clone(), id_only.clone()), change);
        let id = opencode_schema::id::SessionID::parse(id).unwrap();
        let created = event("session.created", json!({"info": info}));
        append(&bench.store, &id, 5, created).await.unwrap();
        let row = bench.store.read(move |db| db.session(&id)).await.unwrap();
        let expected = with(with(shown.clone(), id_only), change_shown);
        assert_eq!(json!(row.unwrap().info), expected);
    }
}

#[tokio::test]
async fn choices_and_moves_change_the_record_and_its_time() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let mut expected = json!(session.info);
    let full_move =
        json!({"location": {"directory": "/b", "workspaceID": "wrk_1"}, "subdirectory": "x"});
    let info = json!({
        "id": "ses_a", "slug": "s", "projectID": "p", "directory": "/ignored", "title": "New",
        "version": "2", "parentID": "ses_p", "time": {"created": 0, "updated": 60, "archived": 61},
    });
    let revert = json!({"messageID": "msg_1", "snapshot": "s", "files": []});
    for (time, event, change) in [
        (
            10,
            event(
                "agent.switched",
                json!({"messageID": "msg_1", "agent": "plan"}),
            ),
            json!({"agent": "plan"}),
        ),
        (
            20,
            event(
                "model.switched",
                json!({"messageID": "msg_2", "model": {"id": "m", "providerID": "p"}}),
            ),
            json!({"model": {"id": "m", "providerID": "p", "variant": "default"}}),
        ),
        (
            30,
            event("moved", full_move),
            json!({"location": {"directory": "/b", "workspaceID": "wrk_1"}, "subpath": "x"}),
        ),
        (
            40,
            event("revert.staged", json!({"revert": revert})),
            json!({"revert": revert}),
        ),
        (
            50,
            event("revert.cleared", json!({})),
            json!({"revert": null}),
        ),
        (
            60,
            event("session.updated", json!({"info": info})),
            json!({"title": "New", "projectID": "p", "parentID": "ses_p", "time": {"created": 1000, "updated": 60, "archived": 61}}),
        ),
        (
            70,
            event("moved", json!({"location": {"directory": "/c"}})),
            json!({"location": {"directory": "/c"}, "subpath": null}),
        ),
    ] {
        bench.append(&session, time, event).await;
        expected = with(expected, change);
        expected["time"]["updated"] = json!(time);
        expected
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        assert_eq!(json!(bench.row(&session).await.unwrap().info), expected);
    }
    let messages = json!([
        {"type": "agent-switched", "id": "msg_1", "time": {"created": 10}, "agent": "plan"},
        {"type": "model-switched", "id": "msg_2", "time": {"created": 20}, "model": {"id": "m", "providerID": "p"}},
    ]);
    assert_eq!(json!(bench.messages(&session).await), messages);
}

#[tokio::test]
async fn an_epoch_is_replaced_and_a_move_removes_it() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    assert_eq!(epoch(&bench, &session).await, None);
    for at in [0, 7] {
        set_epoch(&bench, &session, &an_epoch(at)).await;
        assert_eq!(epoch(&bench, &session).await, Some(an_epoch(at)));
    }
    set_epoch(&bench, &other, &an_epoch(1)).await;
    bench
        .append(
            &session,
            5,
            event("moved", json!({"location": {"directory": "/b"}})),
        )
        .await;
    assert_eq!(epoch(&bench, &session).await, None);
    assert_eq!(epoch(&bench, &other).await, Some(an_epoch(1)));
}

#[tokio::test]
async fn a_committed_revert_removes_only_later_messages() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    bench.append(&other, 5, step_started("msg_other")).await;
    for event in [
        admitted("msg_1", "one", "steer"),
        prompted("msg_1", "one", "steer"),
        step_started("msg_a"),
        of_a("tool.input.started", json!({"callID": "c", "name": "read"})),
        admitted("msg_2", "two", "steer"),
        prompted("msg_2", "two", "steer"),
        admitted("msg_3", "three", "queue"),
        step_started("msg_b"),
        event("revert.staged", json!({"revert": {"messageID": "msg_a"}})),
    ] {
        bench.append(&session, 5, event).await;
    }
    let messages = bench.messages(&session).await;
    let log = bench.events(&session).await;
    bench.append(&session, 9, committed("msg_a")).await;
    assert_eq!(bench.messages(&session).await, messages[..2]);
    assert_eq!(bench.events(&session).await[..9], log);
    let info = bench.row(&session).await.unwrap().info;
    assert_eq!((info.revert, info.time.updated), (None, 9));
    assert_eq!(bench.messages(&other).await.len(), 1);
    for (id, promoted) in [("msg_2", Some(6)), ("msg_3", None)] {
        let id = message_id(id);
        let input = bench
            .store
            .read(move |db| db.input(&id))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(input.receipt.promoted_seq, promoted);
    }
    // The entries of deleted messages stay readable. Further entries for them have no effect.
    let of_b = json!({"assistantMessageID": "msg_b", "textID": "t"});
    bench
        .append(&session, 10, event("text.started", of_b))
        .await;
    assert_eq!(bench.messages(&session).await, messages[..2]);
    // A boundary that does not exist, or is in another session.
    for boundary in ["msg_b", "msg_other"] {
        let refused = append(&bench.store, &session.info.id, 9, committed(boundary)).await;
        assert_eq!(
            refused,
            Err(Abort::Refused(LifecycleConflict::NoBoundary(message_id(
                boundary
            ))))
        );
    }
}

#[tokio::test]
async fn a_boundary_within_a_message_keeps_the_parts_before_it() {
    let staged = |message: &str| {
        let revert = json!({"messageID": message, "partID": "t"});
        event("revert.staged", json!({ "revert": revert }))
    };
    // The last part of that name counts: there are two of them, with a call in between.
    let kept = ["text t", "tool c"];
    let all = ["text t", "tool c", "text t", "tool d"];
    for (before, expected) in [
        (vec![], &all[..]),
        (vec![staged("msg_a")], &kept),
        // Staged for another message, or cleared.
        (vec![staged("msg_1")], &all),
        (
            vec![staged("msg_a"), event("revert.cleared", json!({}))],
            &all,
        ),
        (vec![staged("msg_1"), staged("msg_a")], &kept),
    ] {
        let (bench, session) = Bench::with_session("ses_a").await;
        for event in [
            prompted("msg_1", "one", "steer"),
            step_started("msg_a"),
            of_a("text.started", json!({"textID": "t"})),
            of_a("tool.input.started", json!({"callID": "c", "name": "read"})),
            of_a("text.started", json!({"textID": "t"})),
            of_a("tool.input.started", json!({"callID": "d", "name": "read"})),
            prompted("msg_2", "two", "steer"),
        ]
        .into_iter()
        .chain(before)
        .chain([committed("msg_a")])
        {
            bench.append(&session, 5, event).await;
        }
        let messages = bench.messages(&session).await;
        let ids: Vec<_> = messages.iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, ["msg_1", "msg_a"]);
        let parts = messages[1]["content"].as_array().unwrap();
        let name = |part: &serde_json::Value| {
            let of = |key: &str| part[key].as_str().unwrap().to_owned();
            format!("{} {}", of("type"), of("id"))
        };
        assert_eq!(parts.iter().map(name).collect::<Vec<_>>(), expected);
        // Deleted calls are not open any more.
        let key = session.key;
        let open = bench
            .store
            .read(move |db| db.open_calls(key))
            .await
            .unwrap();
        let open: Vec<_> = open.iter().map(|call| call.call_id.as_str()).collect();
        let expected: Vec<_> = expected
            .iter()
            .filter_map(|it| it.strip_prefix("tool "))
            .collect();
        assert_eq!(open, expected);
    }
}

#[tokio::test]
async fn a_committed_revert_removes_the_epoch_only_with_a_newer_system_message() {
    // Entries: 1 user, 2 system, 3 user, 4 system, 5 user.
    for (boundary, baseline_seq, is_kept) in [
        ("msg_5", 0, true),
        ("msg_3", 0, false),
        ("msg_3", 3, false),
        ("msg_3", 4, true),
        ("msg_4", 0, true),
        ("msg_1", 4, true),
        ("msg_1", 3, false),
    ] {
        let (bench, session) = Bench::with_session("ses_a").await;
        for at in 1..=5 {
            let id = format!("msg_{at}");
            let event = if at % 2 == 0 {
                system(&id)
            } else {
                prompted(&id, "x", "steer")
            };
            bench.append(&session, 5, event).await;
        }
        set_epoch(&bench, &session, &an_epoch(baseline_seq)).await;
        bench.append(&session, 6, committed(boundary)).await;
        let kept = epoch(&bench, &session).await.is_some();
        assert_eq!(kept, is_kept, "back to {boundary}, baseline {baseline_seq}");
    }
}

#[tokio::test]
async fn a_deleted_session_leaves_only_its_log() {
    let (bench, session) = Bench::with_session("ses_a").await;
    let other = bench.session("ses_b").await;
    for session in [&session, &other] {
        let id = |kind: &str| format!("msg_{kind}_{}", session.key);
        bench
            .append(session, 5, prompted(&id("u"), "x", "steer"))
            .await;
        bench
            .append(session, 5, admitted(&id("p"), "x", "steer"))
            .await;
        bench.append(session, 5, step_started(&id("a"))).await;
        set_epoch(&bench, session, &an_epoch(0)).await;
    }
    let before = (bench.row(&other).await, bench.messages(&other).await);
    let info = json!({
        "id": "ses_a", "slug": "s", "projectID": "p", "directory": "/", "title": "T",
        "version": "1", "time": {"created": 1, "updated": 2},
    });
    bench
        .append(&session, 6, event("session.deleted", json!({"info": info})))
        .await;
    assert_eq!(bench.row(&session).await, None);
    assert_eq!(bench.messages(&session).await, Vec::<Value>::new());
    assert_eq!(epoch(&bench, &session).await, None);
    let id = message_id(&format!("msg_p_{}", session.key));
    let input = bench.store.read(move |db| db.input(&id));
    assert_eq!(input.await.unwrap(), None);
    assert_eq!(
        (bench.row(&other).await, bench.messages(&other).await),
        before
    );
    assert_eq!(epoch(&bench, &other).await, Some(an_epoch(0)));
}

#[tokio::test]
async fn a_shell_command_is_ended_by_the_name_of_its_run() {
    let started = |id: &str, call: &str| {
        event(
            "shell.started",
            json!({"messageID": id, "callID": call, "command": "ls"}),
        )
    };
    let ended =
        |call: &str, output: &str| event("shell.ended", json!({"callID": call, "output": output}));
    let shell = |id: &str, call: &str, time: Value, output: &str| json!({"type": "shell", "id": id, "time": time, "callID": call, "command": "ls", "output": output});
    let messages = project([
        started("msg_1", "c"),
        started("msg_2", "c"),
        started("msg_3", "d"),
        ended("c", "newest"),
        ended("unknown", "nobody's"),
        prompted("msg_4", "x", "steer"),
    ])
    .await;
    let expected = [
        shell("msg_1", "c", json!({"created": 11}), ""),
        shell(
            "msg_2",
            "c",
            json!({"created": 12, "completed": 14}),
            "newest",
        ),
        shell("msg_3", "d", json!({"created": 13}), ""),
    ];
    assert_eq!(messages[..3], expected);
}
