//! Questions of the model: answered, rejected, withdrawn.

use std::sync::Arc;

use opencode_runtime::RuntimeError;
use opencode_schema::id::{QuestionID, SessionID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::question::QuestionRequest;
use opencode_testkit::{Fixture, LiveLog, Reply, built_in_tools, compact};
use opencode_tools::Tool;
use serde_json::{Value, json};

/// Adds the built-in tool `question`.
pub(crate) fn question_tool(f: &Fixture) {
    let tools = built_in_tools().into_iter();
    let question: Vec<(String, Arc<dyn Tool>)> =
        tools.filter(|(name, _)| name == "question").collect();
    f.register(question);
}

fn colour() -> Value {
    json!({
        "question": "Which colour?",
        "header": "Colour",
        "options": [{"label": "Red", "description": "warm"}],
    })
}

const ASKED: &str = "question.v2.asked Which colour?";

/// A session whose model has asked for a colour.
async fn asked() -> (Fixture, SessionID, LiveLog, QuestionRequest) {
    let f = Fixture::open().await;
    question_tool(&f);
    let session = f.session().await;
    let mut live = f.live();
    let input = json!({"questions": [colour()]});
    f.model.reply(Reply::calls("c0", "question", input));
    f.prompt(&session, "Go").await;
    f.read_until(&mut live, ASKED).await;
    let request = waiting(&f, &session).await.remove(0);
    (f, session, live, request)
}

async fn waiting(f: &Fixture, session: &SessionID) -> Vec<QuestionRequest> {
    let listed = f.within("questions", f.runtime().questions(session));
    listed.await.unwrap()
}

fn of_questions(live: &LiveLog) -> Vec<String> {
    let events = live.events().into_iter();
    events
        .filter(|event| event.starts_with("question."))
        .collect()
}

#[tokio::test]
async fn an_answer_reaches_the_model() {
    let (f, session, mut live, request) = asked().await;
    let started = f.payloads(&session, "step.started").await;
    let expected = json!({
        "id": request.id,
        "sessionID": session,
        "questions": [colour()],
        "tool": {"messageID": started[0]["assistantMessageID"], "callID": "c0"},
    });
    assert_eq!(serde_json::to_value(&request).unwrap(), expected);
    assert_eq!(live.values().last().unwrap()["data"], expected);
    let here = f.new_session().location;
    let listed = f.runtime().question_requests(&here);
    assert_eq!(listed, std::slice::from_ref(&request));
    let there = LocationRef {
        workspace_id: Some(WorkspaceID::parse("wrk_other").unwrap()),
        ..here
    };
    assert_eq!(f.runtime().question_requests(&there), []);
    f.model.reply(Reply::says("Red it is."));
    let answers = vec![vec!["Red".to_owned()]];
    let replied = f.runtime().reply_question(&session, &request.id, answers);
    f.within("reply", replied).await.unwrap();
    f.wait(&session).await;
    assert_eq!(
        compact::messages(&f.model.last_request())[2],
        "tool: c0 = User has answered your questions: \"Which colour?\"=\"Red\". You can now \
         continue with the user's answers in mind."
    );
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(
        of_questions(&live),
        [ASKED, r#"question.v2.replied [["Red"]]"#]
    );
}

#[tokio::test]
async fn a_rejection_ends_the_drain_with_a_closed_step() {
    let (f, session, mut live, request) = asked().await;
    let rejected = f.runtime().reject_question(&session, &request.id);
    f.within("reject", rejected).await.unwrap();
    f.wait(&session).await;
    assert_eq!(f.model.requests().len(), 1);
    let events = f.events(&session).await;
    assert_eq!(
        events[events.len() - 2..],
        [
            "tool.failed c0 Tool execution interrupted",
            "step.ended tool-calls"
        ]
    );
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(of_questions(&live), [ASKED, "question.v2.rejected"]);
}

#[tokio::test]
async fn an_interruption_withdraws_the_questions() {
    let (f, session, mut live, _) = asked().await;
    f.interrupt(&session).await;
    assert_eq!(waiting(&f, &session).await, []);
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(of_questions(&live), [ASKED, "question.v2.rejected"]);
}

#[tokio::test]
async fn closing_the_host_withdraws_the_questions() {
    let (f, _, mut live, _) = asked().await;
    f.close().await;
    f.read_to_end(&mut live).await;
    assert_eq!(of_questions(&live), [ASKED, "question.v2.rejected"]);
    assert_eq!(live.events().last().unwrap(), "global.disposed");
}

#[tokio::test]
async fn only_pending_questions_of_the_session_can_be_answered() {
    let (f, session, _live, request) = asked().await;
    let other = f.session().await;
    let unknown = QuestionID::parse("que_x").unwrap();
    for (session, id) in [(&other, &request.id), (&session, &unknown)] {
        let replied = f.runtime().reply_question(session, id, vec![]).await;
        assert!(matches!(replied, Err(RuntimeError::QuestionNotFound(not)) if not == *id));
        let rejected = f.runtime().reject_question(session, id).await;
        assert!(matches!(rejected, Err(RuntimeError::QuestionNotFound(not)) if not == *id));
    }
    let huge = vec![vec!["x".repeat(1 << 20)]];
    let refused = f
        .runtime()
        .reply_question(&session, &request.id, huge)
        .await;
    assert!(matches!(refused, Err(RuntimeError::RequestTooLarge { .. })));
    assert_eq!(waiting(&f, &session).await, [request]);
    f.interrupt(&session).await;
}

#[tokio::test]
async fn an_agent_without_the_permission_is_not_offered_the_tool() {
    let f = Fixture::open().await;
    question_tool(&f);
    let session = f.session().await;
    f.switch_agent(&session, "general").await;
    f.model.reply(Reply::says("Well."));
    f.ask(&session, "Go").await;
    assert!(f.model.last_request().tools.is_empty());
}
