//! Removal of sessions: with their descendants, while they work, and against everything that runs beside it.

use futures::future::join_all;
use opencode_runtime::{CreateSession, RuntimeError};
use opencode_schema::id::SessionID;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, prompt_request};
use serde_json::{Value, json};

async fn remove(f: &Fixture, id: &SessionID, interrupt: bool) -> Result<(), RuntimeError> {
    let removed = f.runtime().remove_session(id, interrupt);
    f.within("remove", removed).await
}

async fn child(f: &Fixture, parent: &SessionID) -> SessionID {
    let request = CreateSession {
        parent_id: Some(parent.clone()),
        ..f.new_session()
    };
    f.create(request).await.id
}

async fn exists(f: &Fixture, id: &SessionID) -> bool {
    match f.runtime().session(id).await {
        Ok(_) => true,
        Err(RuntimeError::SessionNotFound(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

fn deleted(events: &[Value]) -> Vec<&str> {
    let deleted = events.iter().filter(|it| it["type"] == "session.deleted");
    deleted
        .map(|it| it["data"]["info"]["id"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_session_goes_with_its_descendants_and_no_other() {
    let f = Fixture::open().await;
    let (root, other) = (f.session().await, f.session().await);
    let middle = child(&f, &root).await;
    let leaf = child(&f, &middle).await;
    let kept = child(&f, &other).await;
    f.model.reply(Reply::says("Hello."));
    f.ask(&leaf, "Hi").await;
    f.leave(&middle, "Later", Delivery::Queue).await;
    let mut live = f.live();
    remove(&f, &root, false).await.unwrap();
    for (id, expected) in [
        (&root, false),
        (&middle, false),
        (&leaf, false),
        (&other, true),
        (&kept, true),
    ] {
        assert_eq!(exists(&f, id).await, expected);
    }
    let again = remove(&f, &root, false).await;
    assert!(matches!(again, Err(RuntimeError::SessionNotFound(id)) if id == root));
    f.close().await;
    f.read_to_end(&mut live).await;
    let expected = [&root, &middle, &leaf].map(SessionID::as_str);
    assert_eq!(deleted(live.values()), expected);
    // The last record is complete, with the sums.
    let mut records = live.values().iter().map(|it| &it["data"]["info"]);
    let last = records.rfind(|it| it["id"] == leaf.as_str());
    assert!(last.unwrap()["tokens"]["output"].is_number());
}

#[tokio::test]
async fn a_session_that_works_is_removed_only_with_interrupt() {
    let f = Fixture::open().await;
    let root = f.session().await;
    let busy = child(&f, &root).await;
    let other = f.session().await;
    let gates = [Gate::new(), Gate::new()];
    for gate in &gates {
        f.model.reply(Reply::new().begin_text().hold(gate));
    }
    f.prompt(&busy, "Work").await;
    f.reached(&gates[0]).await;
    f.prompt(&other, "Work").await;
    f.reached(&gates[1]).await;
    let refused = remove(&f, &root, false).await;
    assert!(matches!(refused, Err(RuntimeError::SessionBusy(id)) if id == busy));
    assert!(exists(&f, &root).await);
    remove(&f, &root, true).await.unwrap();
    f.dropped(&gates[0]).await;
    assert!(!exists(&f, &root).await && !exists(&f, &busy).await);
    // The work of an unrelated session goes on.
    assert_eq!(f.runtime().active(), std::slice::from_ref(&other));
    f.interrupt(&other).await;
}

#[tokio::test]
async fn prompts_beside_a_removal_are_admitted_before_it_or_not_at_all() {
    let f = Fixture::open().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    for _ in 0..10 {
        let session = f.session().await;
        let prompts = (0..8).map(|n| f.try_admit(prompt_request(&session, &format!("{n}"))));
        let removing = remove(&f, &session, true);
        let (admitted, removed) = futures::join!(join_all(prompts), removing);
        removed.unwrap();
        for receipt in admitted {
            assert!(matches!(
                receipt,
                Ok(_) | Err(RuntimeError::SessionNotFound(_))
            ));
        }
        f.idle().await;
        assert!(!exists(&f, &session).await);
        assert!(f.interrupted().await.is_empty());
        let late = f.try_admit(prompt_request(&session, "late")).await;
        assert!(matches!(late, Err(RuntimeError::SessionNotFound(_))));
    }
}

#[tokio::test]
async fn streams_of_a_removed_session_end_as_not_found() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "Hi").await;
    let mut behind = f.runtime().events(&session, None).await.unwrap();
    let latest = f.stored(&session).await.last().unwrap().seq;
    let mut waiting = f.runtime().events(&session, Some(latest)).await.unwrap();
    let removed = async { remove(&f, &session, false).await.unwrap() };
    let (ended, ()) = tokio::join!(f.within("next", waiting.next()), removed);
    for ended in [ended, behind.next().await] {
        assert!(matches!(ended, Err(RuntimeError::SessionNotFound(id)) if id == session));
    }
}

#[tokio::test]
async fn the_id_of_a_removed_session_begins_anew() {
    let f = Fixture::open().await;
    let request = || CreateSession {
        id: Some(SessionID::parse("ses_mine").unwrap()),
        ..f.new_session()
    };
    let session = f.create(request()).await.id;
    f.model.reply(Reply::says("Yes.")).reply(Reply::says("No."));
    f.ask(&session, "Hi").await;
    let lines = f.export(&session).await;
    remove(&f, &session, false).await.unwrap();
    f.create(request()).await;
    assert_eq!(f.messages(&session).await.len(), 0);
    // Its request contains nothing of the former session.
    f.ask(&session, "Who?").await;
    assert_eq!(
        opencode_testkit::compact::messages(&f.model.last_request()),
        ["user: Who?"]
    );
    remove(&f, &session, false).await.unwrap();
    // An export of it can be imported again.
    let imported = f.import(&lines).await.unwrap();
    assert_eq!(imported.session.id, session);
    assert_eq!(f.export(&session).await, lines);
}

#[tokio::test]
async fn requests_of_a_removed_session_end() {
    let f = Fixture::open().await;
    f.project.write(
        "opencode.json",
        &json!({"permission": {"edit": "ask"}}).to_string(),
    );
    let session = f.session().await;
    let ask = opencode_runtime::AskPermission {
        session_id: session.clone(),
        id: None,
        action: "edit".into(),
        resources: vec!["a".into()],
        save: None,
        metadata: None,
        source: None,
        agent: None,
    };
    f.runtime().ask_permission(ask).await.unwrap();
    let location = f.new_session().location;
    assert_eq!(f.runtime().permission_requests(&location).len(), 1);
    remove(&f, &session, false).await.unwrap();
    assert_eq!(f.runtime().permission_requests(&location).len(), 0);
}

#[tokio::test]
async fn a_crash_right_after_a_removal_leaves_nothing_for_long() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    let child = child(&f, &session).await;
    f.model.otherwise(|_| Reply::says("Yes."));
    for n in 0..20 {
        f.ask(&session, &format!("{n}")).await;
    }
    let lines = f.export(&session).await;
    remove(&f, &session, false).await.unwrap();
    f.kill().await;
    assert!(!exists(&f, &session).await && !exists(&f, &child).await);
    f.idle().await;
    let left = f.runtime().storage_stats(9).await.unwrap();
    assert_eq!((left.sessions, left.largest), (0, vec![]));
    f.import(&lines).await.unwrap();
    assert_eq!(f.export(&session).await, lines);
}

#[tokio::test]
async fn a_removal_beside_the_creation_of_children_leaves_no_orphan() {
    let f = Fixture::open().await;
    for _ in 0..20 {
        let root = f.session().await;
        let request = CreateSession {
            parent_id: Some(root.clone()),
            ..f.new_session()
        };
        let children = (0..4).map(|_| f.runtime().create_session(request.clone()));
        let forks = (0..2).map(|_| {
            f.runtime().fork_session(opencode_runtime::ForkSession {
                session_id: root.clone(),
                message_id: None,
                part_id: None,
            })
        });
        let removing = remove(&f, &root, true);
        let (created, forked, removed) =
            futures::join!(join_all(children), join_all(forks), removing);
        removed.unwrap();
        let made = created.into_iter().chain(forked).flatten();
        for made in made {
            assert!(!exists(&f, &made.id).await, "{}", made.id);
        }
    }
}
