//! Sessions beside each other.

use futures::future::join_all;
use opencode_testkit::{Fixture, Gate, Reply, compact};

#[tokio::test]
async fn sessions_run_independently_and_active_lists_those_that_run() {
    let f = Fixture::open().await;
    let (one, other) = (f.session().await, f.session().await);
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("Wait.").hold(&gate).stop())
        .reply(Reply::says("Quick."));
    f.prompt(&one, "Slow").await;
    f.reached(&gate).await;
    f.ask(&other, "Quick").await;
    assert_eq!(f.runtime().active(), std::slice::from_ref(&one));
    assert_eq!(f.events(&other).await.last().unwrap(), "step.ended stop");
    assert_eq!(compact::messages(&f.model.last_request()), ["user: Quick"]);
    gate.release();
    f.wait(&one).await;
    assert_eq!(f.runtime().active(), []);
    assert_eq!(f.events(&one).await.last().unwrap(), "step.ended stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_sessions_at_once_all_settle() {
    let f = Fixture::open().await;
    f.model.otherwise(|request| {
        let asked = compact::messages(request);
        Reply::says(&format!("You said {}.", asked[0]))
    });
    let sessions = join_all((0..100).map(|_| f.session())).await;
    let prompts = sessions.iter().enumerate();
    join_all(prompts.map(|(n, session)| {
        let text = format!("number {n}");
        let f = &f;
        async move { f.ask(session, &text).await }
    }))
    .await;
    assert_eq!(f.runtime().active(), []);
    for (n, session) in sessions.iter().enumerate() {
        assert_eq!(
            f.events(session).await,
            [
                &format!("prompt.admitted number {n}"),
                &format!("prompted number {n}"),
                "step.started",
                "text.started",
                &format!("text.ended You said user: number {n}."),
                "step.ended stop",
            ]
        );
    }
}
