//! Forks: copies of sessions up to a boundary.

use opencode_runtime::{ForkSession, RuntimeError};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::{AssistantPart, SessionMessage};
use opencode_schema::prompt::Delivery;
use opencode_schema::session::{SessionImport, SessionInfo};
use opencode_testkit::{Fixture, Gate, Reply, output};
use serde_json::{Value, json};

async fn fork(
    f: &Fixture,
    session: &SessionID,
    message: Option<&MessageID>,
    part: Option<&str>,
) -> Result<SessionInfo, RuntimeError> {
    let request = ForkSession {
        session_id: session.clone(),
        message_id: message.cloned(),
        part_id: part.map(str::to_owned),
    };
    f.within("fork", f.runtime().fork_session(request)).await
}

/// The messages without the values that a fork has of its own: ids, and the mark of a copy.
async fn content(f: &Fixture, session: &SessionID) -> Vec<Value> {
    let messages = f.messages(session).await.into_iter().map(|it| json!(it));
    let bare = messages.map(|mut message| {
        let members = message.as_object_mut().unwrap();
        members.remove("id");
        if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
            metadata.remove("copied");
        }
        if members.get("metadata") == Some(&json!({})) {
            members.remove("metadata");
        }
        message
    });
    bare.collect()
}

/// The ids of the messages, oldest first.
async fn ids(f: &Fixture, session: &SessionID) -> Vec<MessageID> {
    let messages = f.messages(session).await.into_iter().map(|it| json!(it));
    messages
        .map(|it| MessageID::parse(it["id"].as_str().unwrap()).unwrap())
        .collect()
}

/// A session with a prompt, a call, two texts, another prompt and its answer.
async fn talked() -> (Fixture, SessionID) {
    let f = Fixture::open().await;
    f.tool("echo", |input, _| async { output(input) });
    let session = f.session().await;
    f.model
        .reply(
            Reply::new()
                .text("Let me look.")
                .call("c0", "echo", json!({"n": 1}))
                .tool_calls(),
        )
        .reply(Reply::says("Here."))
        .reply(Reply::says("There."));
    f.ask(&session, "Where?").await;
    f.switch_agent(&session, "plan").await;
    f.ask(&session, "And now?").await;
    (f, session)
}

#[tokio::test]
async fn a_fork_has_the_content_of_its_source_and_ids_and_sums_of_its_own() {
    let (f, session) = talked().await;
    f.leave(&session, "Later", Delivery::Queue).await;
    let (before, lines) = (content(&f, &session).await, f.export(&session).await);
    let source = f.info(&session).await;
    let mut live = f.live();
    f.clock.advance(5000);
    let fork = fork(&f, &session, None, None).await.unwrap();
    assert_eq!(content(&f, &fork.id).await, before);
    assert_eq!(
        (&fork.parent_id, &fork.title, &fork.agent),
        (
            &Some(session.clone()),
            &format!("{} (fork #1)", source.title),
            &Some("plan".to_owned())
        )
    );
    assert_eq!((fork.cost, fork.tokens), (0.0, Default::default()));
    assert_eq!(fork.time.created, source.time.created + 5000);
    assert_eq!(fork.location, source.location);
    // The source is unchanged, and its waiting prompt stays its own.
    assert_eq!(f.export(&session).await, lines);
    assert_eq!(f.inbox(&fork.id).await, Vec::<String>::new());
    let children = f.runtime().children(&session).await.unwrap();
    assert_eq!(children, std::slice::from_ref(&fork));
    // The rows follow from the log, as after an import.
    let exported = f.export(&fork.id).await;
    f.runtime().remove_session(&fork.id, false).await.unwrap();
    f.import(&exported).await.unwrap();
    let imported = SessionInfo {
        imported: Some(SessionImport::default()),
        ..fork.clone()
    };
    assert_eq!(f.info(&fork.id).await, imported);
    assert_eq!(content(&f, &fork.id).await, before);
    assert_eq!(f.export(&fork.id).await, exported);
    f.close().await;
    f.read_to_end(&mut live).await;
    let created = live
        .values()
        .iter()
        .filter(|it| it["type"] == "session.created");
    assert_eq!(created.count(), 1);
    let copied = |it: &&Value| {
        let of_fork = it["data"]["sessionID"] == fork.id.as_str();
        of_fork && it["type"].as_str().unwrap().starts_with("session.next.")
    };
    assert_eq!(live.values().iter().filter(copied).count(), 0);
}

#[tokio::test]
async fn a_fork_ends_before_its_boundary() {
    let (f, session) = talked().await;
    let all = content(&f, &session).await;
    let ids = ids(&f, &session).await;
    for (at, id) in ids.iter().enumerate() {
        let fork = fork(&f, &session, Some(id), None).await.unwrap();
        assert_eq!(content(&f, &fork.id).await, all[..at]);
        // No recovery continues a fork whose last message is a prompt.
        assert!(f.interrupted().await.is_empty());
    }
    let first = fork(&f, &session, Some(&ids[0]), None).await;
    assert_eq!(first.unwrap().agent, None);
}

#[tokio::test]
async fn a_fork_may_end_within_an_answer() {
    let (f, session) = talked().await;
    let messages = f.messages(&session).await;
    let SessionMessage::Assistant(answer) = &messages[1] else {
        panic!("{messages:?}");
    };
    let [AssistantPart::Text { id, .. }, AssistantPart::Tool { .. }] = &answer.content[..] else {
        panic!("{answer:?}");
    };
    for (part, kept) in [(id.as_str(), 0), ("c0", 1)] {
        let fork = fork(&f, &session, Some(&answer.id), Some(part)).await;
        let fork = fork.unwrap().id;
        let content = content(&f, &fork).await;
        assert_eq!(content.len(), 2);
        assert_eq!(content[1]["content"].as_array().unwrap().len(), kept);
        f.model.reply(Reply::says("Well."));
        f.ask(&fork, "Go on").await;
    }
}

#[tokio::test]
async fn forks_are_numbered_and_stay_when_only_they_are_removed() {
    let (f, session) = talked().await;
    let mut titles = Vec::new();
    let mut id = session.clone();
    for _ in 0..3 {
        let fork = fork(&f, &id, None, None).await.unwrap();
        titles.push(fork.title.rsplit(" - ").next().unwrap().to_owned());
        id = fork.id;
    }
    let time = "2026-11-20T12:55:02.007Z";
    assert_eq!(titles, [1, 2, 3].map(|n| format!("{time} (fork #{n})")));
    f.runtime().remove_session(&id, false).await.unwrap();
    assert_eq!(f.messages(&session).await.len(), 6);
    // Forks go with their source.
    f.runtime().remove_session(&session, false).await.unwrap();
    let none = opencode_runtime::SessionFilter::default();
    let left = f
        .runtime()
        .sessions(none, opencode_runtime::Order::Ascending, None, 9);
    assert_eq!(left.await.unwrap(), []);
}

#[tokio::test]
async fn a_fork_needs_an_idle_session_and_a_boundary_of_it() {
    let (f, session) = talked().await;
    let other = f.session().await;
    let message = ids(&f, &session).await.swap_remove(0);
    let unknown = MessageID::parse("msg_none").unwrap();
    for (source, message, part, expected) in [
        (
            &session,
            Some(&unknown),
            None,
            "Message not found: msg_none",
        ),
        (&other, Some(&message), None, "Message not found"),
        (&session, Some(&message), Some("t"), "has no part \"t\""),
        (&session, None, Some("t"), "give its messageID"),
    ] {
        let refused = fork(&f, source, message, part).await.unwrap_err();
        assert!(refused.to_string().contains(expected), "{refused}");
    }
    let gone = SessionID::parse("ses_none").unwrap();
    let refused = fork(&f, &gone, None, None).await;
    assert!(matches!(refused, Err(RuntimeError::SessionNotFound(id)) if id == gone));
    let gate = Gate::new();
    f.model.reply(Reply::new().begin_text().hold(&gate));
    f.prompt(&session, "Work").await;
    f.reached(&gate).await;
    let refused = fork(&f, &session, None, None).await;
    assert!(matches!(refused, Err(RuntimeError::SessionBusy(id)) if id == session));
    f.interrupt(&session).await;
    fork(&f, &session, None, None).await.unwrap();
}

#[tokio::test]
async fn a_fork_that_a_crash_cut_leaves_nothing() {
    let (mut f, session) = talked().await;
    let before = content(&f, &session).await;
    let forked = fork(&f, &session, None, None).await.unwrap();
    f.kill().await;
    assert_eq!(content(&f, &forked.id).await, before);
    let none = opencode_runtime::SessionFilter::default();
    let listed = f
        .runtime()
        .sessions(none, opencode_runtime::Order::Ascending, None, 9);
    assert_eq!(listed.await.unwrap().len(), 2);
}
