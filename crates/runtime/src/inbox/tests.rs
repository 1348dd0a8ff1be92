use std::sync::Arc;

use opencode_schema::clock::SystemClock;
use opencode_schema::event::{SessionCreated, SessionEvent, SessionRecord};
use opencode_schema::id::IdSource;
use opencode_schema::session::SessionTime;
use opencode_store::{Abort, LifecycleConflict};
use opencode_store::{DatabasePath, Durability, Store, StoreOptions};

use super::*;

const NOW: Millis = 1000;

async fn store() -> (Store, SessionID) {
    let ids = Arc::new(IdSource::new(Arc::new(SystemClock)));
    let id = SessionID::generate(&ids);
    let opened = Store::open(StoreOptions {
        path: DatabasePath::Memory,
        durability: Durability::Normal,
        ids,
        listener: Box::new(|_| {}),
        test_hook: None,
    });
    let store = opened.await.unwrap();
    let info = SessionRecord {
        id: id.clone(),
        slug: "quiet-otter".into(),
        project_id: "global".into(),
        workspace_id: None,
        directory: "/project".into(),
        path: None,
        parent_id: None,
        title: "A session".into(),
        agent: None,
        model: None,
        version: "1.0.0".into(),
        time: SessionTime {
            created: NOW,
            updated: NOW,
            archived: None,
        },
        permission: None,
        budget: None,
        cost: None,
        tokens: None,
        revert: None,
        share: None,
        summary: None,
    };
    let session = id.clone();
    let created = store.write(move |transaction| {
        transaction.append(&session, None, Draft::new(NOW, SessionCreated { info }))
    });
    created.await.unwrap();
    (store, id)
}

fn admission(session_id: &SessionID, text: &str, delivery: Delivery) -> Admission {
    Admission {
        session_id: session_id.clone(),
        id: None,
        prompt: Prompt {
            text: text.into(),
            files: None,
            agents: None,
            settings: None,
            mentions: None,
            command: None,
        },
        delivery,
        time: NOW,
        limit: u64::MAX,
    }
}

/// Promotes in a separate transaction and returns the texts in their new order.
async fn promoted(store: &Store, id: &SessionID, promotion: Promotion) -> Vec<String> {
    let id = id.clone();
    let texts = store.write(move |transaction| {
        let session = transaction.reader().session(&id)?.unwrap();
        let before = transaction.reader().latest_seq(session.key)?;
        let count = promote(
            transaction,
            &session,
            promotion,
            usize::MAX,
            Attached::default(),
        )?;
        let events = transaction
            .reader()
            .events(session.key, Some(before), 100)?;
        assert_eq!(events.len(), count);
        let texts = events.iter().map(|event| match event.payload() {
            Ok(SessionEvent::Prompted(prompted)) => prompted.prompt.text,
            other => panic!("{other:?}"),
        });
        Ok::<_, Abort<LifecycleConflict>>(texts.collect())
    });
    texts.await.unwrap()
}

#[tokio::test]
async fn a_promotion_takes_one_queued_input_and_then_all_steers() {
    let (store, id) = store().await;
    for (text, delivery) in [
        ("steer 1", Delivery::Steer),
        ("queue 1", Delivery::Queue),
        ("steer 2", Delivery::Steer),
        ("queue 2", Delivery::Queue),
    ] {
        let admission = admission(&id, text, delivery);
        let admitted = store.write(move |transaction| admit(transaction, admission));
        admitted.await.unwrap();
    }
    for (promotion, expected) in [
        (Promotion::Nothing, &[][..]),
        (
            Promotion::QueuedThenSteers,
            &["queue 1", "steer 1", "steer 2"],
        ),
        (Promotion::Steers, &[]),
        (Promotion::QueuedThenSteers, &["queue 2"]),
        (Promotion::QueuedThenSteers, &[]),
    ] {
        assert_eq!(promoted(&store, &id, promotion).await, expected);
    }
    store.close().await;
}
