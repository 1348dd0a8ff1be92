//! Checkpoints that save no tokens: the session is not compacted again before its history has grown.

use opencode_testkit::{Reply, compact};

use super::*;

#[tokio::test]
async fn a_checkpoint_without_gain_pauses_compaction_until_the_history_has_grown() {
    // Nearly the whole history stays verbatim.
    let (f, session) = with(json!({"keep": {"tokens": 12_900}})).await;
    grown(&f, &session).await;
    let long = filler("summary", 1_500);
    let mut live = f.live();
    f.model
        .reply(Reply::says(&long))
        .reply(Reply::says("Yes."))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    f.ask(&session, "Then").await;
    assert_eq!(
        asked(&f)[1..],
        [
            vec!["summary"],
            vec![CHECKPOINT],
            vec![CHECKPOINT, "assistant: Yes.", "user: Then"],
        ]
    );
    f.read_until(&mut live, "step.ended stop").await;
    let told = live.events();
    let errors: Vec<_> = told
        .iter()
        .filter(|it| it.starts_with("session.error"))
        .collect();
    let [error] = &errors[..] else {
        panic!("{told:#?}")
    };
    let error = error.split_inclusive(": ").next().unwrap();
    assert_eq!(
        error,
        format!("session.error The compaction of {session} did not make its request smaller: ")
    );
    // The history has grown by the size of the verbatim part, so it is compacted again.
    let gamma = filler("gamma", 13_000);
    f.model
        .reply(Reply::says(&gamma))
        .reply(Reply::says("SECOND"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "More").await;
    f.ask(&session, "Last").await;
    let last = f.model.last_request();
    let summary = compact::messages(&last).remove(0);
    assert!(summary.contains("<summary>\nSECOND\n</summary>"));
}
