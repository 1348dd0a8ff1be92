//! Tests for the permission and the request of the `task` tool, and for its message to the model.

mod common;

use std::sync::{Arc, Mutex};

use common::{Recorder, built_in_tools, call, context, denied, failed, registry, success, text};
use futures::future::BoxFuture;
use opencode_schema::{id::SessionID, message::ErrorKind};
use opencode_tools::{
    Contributions, Incomplete, PermissionError, Settlement, TaskError, TaskOutcome, TaskRequest,
    Tasks, TurnContext,
};
use serde_json::{Value, json};

type Outcome = Result<TaskOutcome, TaskError>;

/// Accepts tasks for the agent `general`, records them, and returns one fixed outcome.
struct Workers {
    given: Mutex<Vec<Value>>,
    outcome: Outcome,
}

impl Tasks for Workers {
    fn accepts(&self, agent: &str) -> bool {
        agent == "general"
    }

    fn agents(&self) -> Vec<String> {
        vec!["general".to_owned()]
    }

    fn run(&self, task: TaskRequest) -> BoxFuture<'_, Outcome> {
        let given = json!({
            "description": task.description,
            "prompt": task.prompt,
            "agent": task.agent,
            "sessionID": task.session_id,
            "cancelled": task.cancel.is_cancelled(),
        });
        let mut all = self
            .given
            .lock()
            .expect("no test panics while it holds this");
        all.push(given);
        Box::pin(std::future::ready(self.outcome.clone()))
    }
}

fn child() -> SessionID {
    SessionID::parse("ses_child").expect("it has the prefix")
}

fn says(text: &str) -> Outcome {
    Ok(TaskOutcome {
        session_id: child(),
        text: text.to_owned(),
        incomplete: None,
    })
}

fn input(agent: &str) -> Value {
    json!({"description": "Look around", "prompt": "Where is it?", "agent": agent})
}

/// The result of one call: its settlement, the tasks that were given, and the requested permissions.
struct Settled {
    settlement: Settlement,
    given: Vec<Value>,
    asked: Vec<(String, Vec<String>, Vec<String>)>,
}

async fn settle(
    input: Value,
    permission: Result<(), PermissionError>,
    outcome: Outcome,
    change: impl FnOnce(&mut TurnContext),
) -> Settled {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let registry = registry(&Contributions::default(), temp.path());
    let _registration = registry.host().register(built_in_tools());
    let turn = registry.materialize("/project", |_| true);
    let workers = Arc::new(Workers {
        given: Mutex::default(),
        outcome,
    });
    let permissions = Recorder::new(move |request| {
        assert_eq!(
            json!(request.metadata),
            json!({"description": "Look around"})
        );
        permission.clone()
    });
    let mut context = context(temp.path());
    context.ports.tasks = Arc::clone(&workers) as Arc<dyn Tasks>;
    context.permissions = Arc::clone(&permissions) as Arc<dyn opencode_tools::Permissions>;
    change(&mut context);
    let settlement = turn.settle(call("task", input), &context).await;
    let given = workers
        .given
        .lock()
        .expect("no test panics while it holds this");
    Settled {
        settlement,
        given: given.clone(),
        asked: permissions.asked(),
    }
}

#[tokio::test]
async fn an_incomplete_answer_is_told() {
    for (incomplete, note) in [
        (
            Incomplete::Length,
            "(the answer is incomplete: it reached the limit of its length; continue the session for the rest)",
        ),
        (
            Incomplete::ContentFilter,
            "(the answer is incomplete: the provider withheld the rest)",
        ),
    ] {
        let outcome = says("In the").map(|said| TaskOutcome {
            incomplete: Some(incomplete),
            ..said
        });
        let settled = settle(input("general"), Ok(()), outcome, |_| {}).await;
        let structured =
            json!({"sessionID": "ses_child", "text": "In the", "finish": incomplete.finish()});
        let content = vec![text("In the"), text(note), text("(session ses_child)")];
        assert_eq!(settled.settlement, success(structured, content));
    }
}

#[tokio::test]
async fn a_task_is_started_and_its_last_text_is_returned() {
    let with_session = |id: &str| {
        let mut input = input("general");
        input["sessionID"] = json!(id);
        input
    };
    for (input, session) in [
        (input("general"), json!(null)),
        (with_session("ses_before"), json!("ses_before")),
    ] {
        let Settled {
            settlement,
            given,
            asked,
        } = settle(input, Ok(()), says("In the attic."), |_| {}).await;
        let structured = json!({"sessionID": "ses_child", "text": "In the attic."});
        let content = vec![text("In the attic."), text("(session ses_child)")];
        assert_eq!(settlement, success(structured, content));
        let expected = json!({
            "description": "Look around",
            "prompt": "Where is it?",
            "agent": "general",
            "sessionID": session,
            "cancelled": false,
        });
        assert_eq!(given, [expected]);
        let any = (
            "task".to_owned(),
            vec!["general".to_owned()],
            vec!["*".to_owned()],
        );
        assert_eq!(asked, [any]);
    }
}

#[tokio::test]
async fn a_task_without_a_text_returns_only_its_session() {
    let settled = settle(input("general"), Ok(()), says(""), |_| {}).await;
    let structured = json!({"sessionID": "ses_child", "text": ""});
    let content = vec![text("(session ses_child)")];
    assert_eq!(settled.settlement, success(structured, content));
}

#[tokio::test]
async fn an_agent_that_takes_no_tasks_needs_no_permission_request() {
    let settled = settle(input("build"), Ok(()), says("No."), |_| {}).await;
    assert_eq!(
        settled.settlement,
        failed(
            "Unable to run task: build: no agent of this name takes tasks. The agents are: general"
        )
    );
    assert_eq!((settled.given, settled.asked), (vec![], vec![]));
}

#[tokio::test]
async fn a_refused_task_is_not_started() {
    let refused = |message: &str| Settlement::Failed {
        message: message.to_owned(),
        kind: ErrorKind::Permission,
    };
    let corrected = PermissionError::Corrected {
        feedback: "do it yourself".to_owned(),
    };
    for (permission, expected) in [
        (
            PermissionError::Blocked,
            denied("Unable to run task: general"),
        ),
        (
            corrected,
            refused("Unable to run task: general: do it yourself"),
        ),
        (PermissionError::Declined, Settlement::Declined),
    ] {
        let settled = settle(input("general"), Err(permission), says("No."), |_| {}).await;
        assert_eq!(settled.settlement, expected);
        assert_eq!(settled.given, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn a_failed_task_returns_the_reason_and_its_session() {
    for (error, expected) in [
        (
            TaskError::Failed {
                session_id: child(),
                reason: "the provider is gone".to_owned(),
            },
            failed(
                "Unable to run task: general: its session ses_child ended before the work did: the \
                 provider is gone",
            ),
        ),
        (
            TaskError::TooDeep { limit: 3 },
            failed(
                "Unable to run task: general: tasks may be nested 3 levels deep, and this session \
                 is that deep; do the work here",
            ),
        ),
        (
            TaskError::TooMany { limit: 8 },
            failed(
                "Unable to run task: general: 8 tasks of this session run, and no more may; call \
                 it again when one has ended",
            ),
        ),
        (
            TaskError::NotAChild(child()),
            failed(
                "Unable to run task: general: ses_child is no session of a task that this session \
                 gave",
            ),
        ),
        (
            TaskError::Unavailable("no storage".to_owned()),
            failed("Unable to run task: general: no storage"),
        ),
        (TaskError::Interrupted, Settlement::Interrupted),
    ] {
        let settled = settle(input("general"), Ok(()), Err(error), |_| {}).await;
        assert_eq!(settled.settlement, expected);
    }
}

#[tokio::test]
async fn an_interrupted_call_starts_no_task() {
    let settled = settle(input("general"), Ok(()), says("No."), |context| {
        context.cancel.cancel();
    })
    .await;
    assert_eq!(settled.settlement, Settlement::Interrupted);
    assert_eq!(settled.given, [] as [Value; 0]);
}

#[tokio::test]
async fn a_session_is_identified_by_its_id() {
    let mut input = input("general");
    input["sessionID"] = json!("child");
    let settled = settle(input, Ok(()), says("No."), |_| {}).await;
    let Settlement::Failed { message, .. } = settled.settlement else {
        panic!("{:?}", settled.settlement);
    };
    assert_eq!(
        message,
        "Invalid tool input: Expected a string starting with \"ses\", got \"child\"\n  at [\"sessionID\"]"
    );
}
