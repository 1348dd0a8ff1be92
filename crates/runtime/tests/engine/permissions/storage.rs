//! Replies of `always` while storage fails or is slow: each request ends exactly once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencode_runtime::{Fault, Moment, RuntimeError};
use opencode_schema::permission::PermissionReply::{Always, Once};
use opencode_testkit::{Blockade, Fixture, Reply, test_hook};

use super::{equip, heard_asked, of_permissions, reply, saves, settled, waiting};

/// A host that blocks the next commit without entries at the blockade, once armed.
async fn stopping(blockade: &Blockade, armed: &Arc<AtomicBool>) -> Fixture {
    let (blockade, armed) = (blockade.clone(), Arc::clone(armed));
    let test_hook = test_hook(move |moment| {
        let is_saving = matches!(moment, Moment::Commit(entries) if entries.is_empty());
        if is_saving && armed.swap(false, Ordering::SeqCst) {
            blockade.pass();
        }
        Ok(())
    });
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    equip(&f);
    f
}

#[tokio::test]
async fn a_request_that_is_being_answered_cannot_get_another_answer() {
    let (blockade, armed) = (Blockade::new(), Arc::new(AtomicBool::new(false)));
    let f = stopping(&blockade, &armed).await;
    let session = f.session().await;
    let mut live = f.live();
    f.model
        .reply(saves("x", &["x"]))
        .reply(Reply::says("Well."));
    f.prompt(&session, "Go").await;
    heard_asked(&f, &mut live, &["x"]).await;
    f.recorded(&session, r#"tool.called c0 use {"on":["x"],"save":["x"]}"#)
        .await;
    let request = waiting(&f, &session).await.remove(0);
    armed.store(true, Ordering::SeqCst);
    let (runtime, asked) = (f.runtime().clone(), request.clone());
    let always = tokio::spawn(async move {
        let (session, id) = (&asked.session_id, &asked.id);
        runtime.reply_permission(session, id, Always, None).await
    });
    f.blocked(&blockade).await;
    // The request is still pending, and no event was sent.
    assert_eq!(waiting(&f, &session).await, std::slice::from_ref(&request));
    let other = f
        .runtime()
        .reply_permission(&session, &request.id, Once, None);
    assert!(matches!(other.await, Err(RuntimeError::PermissionNotFound(id)) if id == request.id));
    blockade.release();
    f.within("always", always).await.unwrap().unwrap();
    f.wait(&session).await;
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(of_permissions(&live)[1..], ["permission.v2.replied always"]);
}

#[tokio::test]
async fn an_answer_that_cannot_be_stored_leaves_the_request_waiting() {
    let locked = Arc::new(AtomicBool::new(false));
    let file = Arc::clone(&locked);
    let test_hook = test_hook(move |moment| match moment {
        Moment::Begin if file.load(Ordering::SeqCst) => Err(Fault::Locked),
        _ => Ok(()),
    });
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    equip(&f);
    let session = f.session().await;
    let mut live = f.live();
    f.model
        .reply(saves("x", &["x"]))
        .reply(Reply::says("Well."));
    f.prompt(&session, "Go").await;
    heard_asked(&f, &mut live, &["x"]).await;
    f.recorded(&session, r#"tool.called c0 use {"on":["x"],"save":["x"]}"#)
        .await;
    let request = waiting(&f, &session).await.remove(0);
    locked.store(true, Ordering::SeqCst);
    let refused = f
        .runtime()
        .reply_permission(&session, &request.id, Always, None);
    assert!(matches!(refused.await, Err(RuntimeError::Store(_))));
    locked.store(false, Ordering::SeqCst);
    reply(&f, &request, Always).await;
    f.wait(&session).await;
    assert_eq!(settled(&f, &session).await, ["tool.success c0 {}"]);
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(of_permissions(&live)[1..], ["permission.v2.replied always"]);
}
