//! The recorded reason why a request does not continue the previous one, in cases in which the
//! texts do not show it.

use opencode_runtime::StageRevert;
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, Reply, ScriptedSource};
use serde_json::{Value, json};

/// The reasons that the steps of a session have recorded, oldest first.
async fn reasons(f: &Fixture, session: &SessionID) -> Vec<Option<String>> {
    let messages = serde_json::to_value(f.messages(session).await).unwrap();
    let reports = messages.as_array().unwrap().iter();
    let reports = reports.filter_map(|message| message.pointer("/metadata/prefix"));
    let reasons = reports.map(|report| report.get("reason")?.as_str());
    reasons.map(|reason| reason.map(str::to_owned)).collect()
}

fn some(reasons: &[&str]) -> Vec<Option<String>> {
    let reasons = reasons.iter().map(|reason| Some((*reason).to_owned()));
    reasons
        .map(|reason| reason.filter(|it| !it.is_empty()))
        .collect()
}

#[tokio::test]
async fn an_identical_new_baseline_is_still_a_replacement() {
    for reopens in [false, true] {
        let mut f = Fixture::open().await;
        let session = f.session().await;
        f.model.otherwise(|_| Reply::says("Yes."));
        let source = ScriptedSource::telling("acme/rules", "one");
        let here = f.project.directory();
        let mut told = f.contribute(&here, &source);
        f.ask(&session, "1").await;
        source.set("two");
        f.ask(&session, "2").await;
        if reopens {
            f.reopen().await;
            told = f.contribute(&here, &source);
        }
        // No update can describe this change, so the epoch is replaced, and its update is no longer
        // part of the history.
        source.set("one").accept("one");
        f.ask(&session, "3").await;
        let requests = f.model.requests();
        assert_eq!(requests[2].system, requests[0].system);
        assert_eq!(
            reasons(&f, &session).await,
            some(&["first", "", "replacement"]),
            "{reopens}"
        );
        drop(told);
    }
}

#[tokio::test]
async fn an_epoch_that_starts_late_after_a_compaction_is_a_replacement() {
    for reopens in [false, true] {
        let mut f = Fixture::open().await;
        let keep = json!({"compaction": {"keep": {"tokens": 10}}});
        f.project.write("opencode.json", &keep.to_string());
        let session = f.session().await;
        f.model.otherwise(|_| Reply::says("Yes."));
        let sources = ["acme/rules", "acme/other"].map(|key| ScriptedSource::telling(key, "one"));
        let here = f.project.directory();
        let mut told = sources.each_ref().map(|source| f.contribute(&here, source));
        f.ask(&session, "1").await;
        sources[0].set("two");
        f.ask(&session, "2").await;
        sources[0].set("one");
        f.ask(&session, "3").await;
        let compacted = f.within("compact", f.runtime().compact(&session)).await;
        compacted.unwrap();
        sources[1].fail();
        f.ask(&session, "4").await;
        if reopens {
            f.reopen().await;
            told = sources.each_ref().map(|source| f.contribute(&here, source));
        }
        // The baseline is the same text, but it now includes the changes that were updates before.
        sources[1].set("one");
        f.ask(&session, "5").await;
        assert_eq!(
            reasons(&f, &session).await,
            some(&["first", "", "", "compaction", "replacement"]),
            "{reopens}"
        );
        drop(told);
    }
}

#[tokio::test]
async fn the_next_process_knows_a_move_during_a_step() {
    let mut f = Fixture::open().await;
    f.project.write("one/a.txt", "");
    f.project.git();
    let session = f.session().await;
    let gate = Gate::new();
    f.model
        .reply(
            Reply::new()
                .begin_text()
                .delta("Yes")
                .hold(&gate)
                .end_text()
                .stop(),
        )
        .reply(Reply::says("Moved."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    let one = f.project.path("one").to_string_lossy().into_owned();
    f.move_to(&session, one).await;
    gate.release();
    f.wait(&session).await;
    f.reopen().await;
    f.ask(&session, "Where are you?").await;
    assert_eq!(reasons(&f, &session).await, some(&["first", "move"]));
}

#[tokio::test]
async fn the_next_process_knows_the_closing_text_of_a_last_turn() {
    for reopens in [false, true] {
        let mut f = Fixture::open().await;
        let config: Value = json!({"agent": {"build": {"steps": 1}}});
        f.project.write("opencode.json", &config.to_string());
        let session = f.session().await;
        f.model.otherwise(|_| Reply::says("Yes."));
        f.ask(&session, "1").await;
        if reopens {
            f.reopen().await;
        }
        f.ask(&session, "2").await;
        let expected = some(&["first", "step-limit"]);
        assert_eq!(reasons(&f, &session).await, expected, "{reopens}");
    }
}

#[tokio::test]
async fn a_reverted_request_still_counts_as_sent() {
    for reopens in [false, true] {
        let mut f = Fixture::open().await;
        let session = f.session().await;
        f.model.otherwise(|_| Reply::says("Yes."));
        f.ask(&session, "1").await;
        let boundary = f.ask(&session, "2").await.id;
        f.ask(&session, "3").await;
        let staged = f.runtime().stage_revert(StageRevert {
            session_id: session.clone(),
            message_id: boundary,
            part_id: None,
            exact: true,
            files: false,
        });
        f.within("stage", staged).await.unwrap();
        if reopens {
            f.reopen().await;
        }
        f.ask(&session, "4").await;
        let expected = some(&["first", "revert"]);
        assert_eq!(reasons(&f, &session).await, expected, "{reopens}");
    }
}
