//! Compaction that a caller requests.

use std::sync::Arc;

use futures::stream;
use opencode_llm::{
    EventStream, LlmError, LlmEvent, LlmRequest, ModelClient, Prefix, PrefixReport,
};
use opencode_runtime::{RuntimeError, StageRevert};
use opencode_testkit::{Gate, Reply, ScriptedModel, ScriptedSource, compact};

use super::*;

async fn compacted(f: &Fixture, session: &SessionID) -> Result<(), String> {
    let compacted = f.within("compact", f.runtime().compact(session)).await;
    compacted.map_err(|error| match error {
        RuntimeError::Unavailable { service, message } => format!("{service}: {message}"),
        other => other.to_string(),
    })
}

#[tokio::test]
async fn a_history_is_compacted_on_demand_and_the_next_turn_uses_the_checkpoint() {
    // It works for any size of the history, and also if automatic compaction is off.
    let (f, session) = with(json!({"auto": false, "keep": {"tokens": 4}})).await;
    f.model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Hi").await;
    assert_eq!(compacted(&f, &session).await, Ok(()));
    assert_eq!(
        f.events_after(&session, GROWN).await,
        [
            "compaction.started manual",
            "compaction.ended manual SUMMARY"
        ]
    );
    assert_eq!(f.runtime().active(), []);
    f.ask(&session, "Next").await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [&*checkpoint("SUMMARY", "ng enough answer"), "user: Next"]
    );
}

#[tokio::test]
async fn a_short_or_compacted_history_is_not_compacted() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    let none: [String; 0] = [];
    assert_eq!(compacted(&f, &session).await, Ok(()));
    assert_eq!(f.events(&session).await, none);
    f.model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::says("SUMMARY"));
    f.ask(&session, "Hi").await;
    for _ in 0..2 {
        assert_eq!(compacted(&f, &session).await, Ok(()));
    }
    assert_eq!(f.events_after(&session, GROWN).await.len(), 2);
    let unknown = SessionID::parse("ses_unknown").unwrap();
    assert_eq!(
        compacted(&f, &unknown).await,
        Err("Session not found: ses_unknown".to_owned())
    );
}

#[tokio::test]
async fn it_waits_for_a_drain_and_delays_other_work() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    let (turn, summary) = (Gate::new(), Gate::new());
    f.model
        .reply(Reply::new().text("A long enough answer").hold(&turn).stop())
        .reply(Reply::new().text("SUMMARY").hold(&summary).stop())
        .reply(Reply::says("Yes."));
    f.prompt(&session, "Hi").await;
    f.reached(&turn).await;
    let mut asked = Box::pin(f.runtime().compact(&session));
    assert!(futures::poll!(&mut asked).is_pending());
    turn.release();
    f.reached(&summary).await;
    assert_eq!(f.runtime().active(), std::slice::from_ref(&session));
    f.prompt(&session, "Next").await;
    assert_eq!(f.runtime().inbox(&session).await.unwrap().len(), 1);
    summary.release();
    f.within("compact", asked).await.unwrap();
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, GROWN).await,
        [
            "compaction.started manual",
            "prompt.admitted Next",
            "compaction.ended manual SUMMARY",
            "prompted Next",
            "step.started",
            "text.started",
            "text.ended Yes.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn an_interruption_of_the_preceding_drain_does_not_interrupt_it() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    f.model.reply(Reply::says("A long enough answer"));
    f.ask(&session, "Hi").await;
    let turn = Gate::new();
    f.model
        .reply(Reply::nothing().hold(&turn))
        .reply(Reply::says("SUMMARY"));
    f.prompt(&session, "Next").await;
    f.reached(&turn).await;
    let mut asked = Box::pin(f.runtime().compact(&session));
    assert!(futures::poll!(&mut asked).is_pending());
    f.interrupt(&session).await;
    f.within("compact", asked).await.unwrap();
    assert_eq!(
        f.events_after(&session, GROWN).await,
        [
            "prompt.admitted Next",
            "prompted Next",
            "interrupted",
            "compaction.started manual",
            "compaction.ended manual SUMMARY",
        ]
    );
    // The unanswered input is in the checkpoint.
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    assert_eq!(ended["recent"], json!("swer\n\n[User]: Next"));
}

#[tokio::test]
async fn a_failure_is_reported_to_the_caller() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    f.model.reply(Reply::says("A long enough answer"));
    f.ask(&session, "Hi").await;
    f.model.reply(Reply::says(""));
    assert_eq!(
        compacted(&f, &session).await,
        Err(format!(
            "session.compact: The history of {session} was not compacted: the model answered with nothing"
        ))
    );
    f.switch_model(&session, "gone").await;
    let error = compacted(&f, &session).await.unwrap_err();
    assert!(
        error.starts_with("session.compact: ") && error.contains("mock/gone"),
        "{error}"
    );
    let started = ["compaction.started manual", "model.switched mock gone"];
    assert_eq!(f.events_after(&session, GROWN).await, started);
}

#[tokio::test]
async fn an_interruption_ends_it_and_the_session_continues() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    let summary = Gate::new();
    f.model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::new().begin_text().delta("SUM").hold(&summary));
    f.ask(&session, "Hi").await;
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let asked = tokio::spawn(async move { runtime.compact(&id).await });
    f.reached(&summary).await;
    f.interrupt(&session).await;
    let error = f.within("compact", asked).await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("The compaction of {session} was interrupted")
    );
    assert_eq!(
        f.events_after(&session, GROWN).await,
        ["compaction.started manual"]
    );
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        ["user: Hi", "assistant: A long enough answer", "user: Next"]
    );
}

#[tokio::test]
async fn it_continues_after_its_caller_is_dropped() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    let summary = Gate::new();
    f.model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::new().text("SUMMARY").hold(&summary).stop());
    f.ask(&session, "Hi").await;
    let mut asked = Box::pin(f.runtime().compact(&session));
    assert!(futures::poll!(&mut asked).is_pending());
    drop(asked);
    f.reached(&summary).await;
    summary.release();
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, GROWN).await,
        [
            "compaction.started manual",
            "compaction.ended manual SUMMARY"
        ]
    );
}

#[tokio::test]
async fn it_ends_with_its_host() {
    let (mut f, session) = with(json!({"keep": {"tokens": 4}})).await;
    let summary = Gate::new();
    f.model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::new().begin_text().hold(&summary));
    f.ask(&session, "Hi").await;
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let asked = tokio::spawn(async move { runtime.compact(&id).await });
    f.reached(&summary).await;
    f.close().await;
    let error = f.within("compact", asked).await.unwrap().unwrap_err();
    assert!(matches!(error, RuntimeError::Unavailable { .. }), "{error}");
    f.reopen().await;
    assert_eq!(
        f.events_after(&session, GROWN).await,
        ["compaction.started manual"]
    );
}

#[tokio::test]
async fn it_needs_no_context() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    f.model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::says("SUMMARY"));
    f.ask(&session, "Hi").await;
    let source = ScriptedSource::new("acme/rules");
    source.fail();
    let _contributed = f.contribute(&f.project.directory(), &source);
    assert_eq!(compacted(&f, &session).await, Ok(()));
}

#[tokio::test]
async fn concurrent_requests_share_one_compaction() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    f.model
        .reply(Reply::says("A long enough answer"))
        .reply(Reply::says("SUMMARY"));
    f.ask(&session, "Hi").await;
    let asked = [(); 3].map(|()| compacted(&f, &session));
    let answers = futures::future::join_all(asked).await;
    assert_eq!(answers, [Ok(()), Ok(()), Ok(())]);
    assert_eq!(f.events_after(&session, GROWN).await.len(), 2);
}

#[tokio::test]
async fn a_staged_revert_is_committed_before() {
    let (f, session) = with(json!({"keep": {"tokens": 4}})).await;
    f.model.otherwise(|_| Reply::says("A long enough answer"));
    f.ask(&session, "One").await;
    let boundary = f.ask(&session, "Two").await;
    f.ask(&session, "Three").await;
    let staged = f.runtime().stage_revert(StageRevert {
        session_id: session.clone(),
        message_id: boundary.id,
        part_id: None,
        exact: true,
        files: false,
    });
    f.within("stage", Box::pin(staged)).await.unwrap();
    f.model.reply(Reply::says("SUMMARY"));
    assert_eq!(compacted(&f, &session).await, Ok(()));
    assert_eq!(
        f.events_after(&session, 3 * GROWN).await,
        [
            "revert.staged",
            "revert.committed",
            "compaction.started manual",
            "compaction.ended manual SUMMARY",
        ]
    );
    let prompt = compact::messages(&f.model.last_request()).remove(0);
    let (conversation, _) = prompt.split_once("\n\nAbove").unwrap();
    assert_eq!(
        conversation,
        "user: <conversation>\n[User]: One\n\n[Assistant]: A long enough an\n</conversation>"
    );
}

/// A model that answers turns, and streams summaries without pause and without end.
struct Unceasing(ScriptedModel);

impl ModelClient for Unceasing {
    fn stream(&self, request: LlmRequest) -> EventStream {
        if !request.system.is_empty() {
            return self.0.stream(request);
        }
        let more = LlmEvent::TextDelta {
            id: "text-0".into(),
            text: String::new(),
            provider_metadata: None,
        };
        Box::pin(stream::repeat_with(move || Ok(vec![more.clone()])))
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        self.0.prefix(request, former)
    }
}

#[tokio::test]
async fn an_endless_summary_can_be_interrupted() {
    let turns = || {
        let model = ScriptedModel::new();
        model.reply(Reply::says("A long enough answer"));
        Arc::new(Unceasing(model))
    };
    let f = Fixture::with(move |options| options.model = turns()).await;
    configure(&f, json!({"keep": {"tokens": 4}}));
    let session = f.session().await;
    f.ask(&session, "Hi").await;
    let (runtime, id) = (f.runtime().clone(), session.clone());
    let asked = tokio::spawn(async move { runtime.compact(&id).await });
    f.recorded(&session, "compaction.started manual").await;
    f.interrupt(&session).await;
    let error = f.within("compact", asked).await.unwrap().unwrap_err();
    assert!(matches!(error, RuntimeError::Unavailable { .. }), "{error}");
}
