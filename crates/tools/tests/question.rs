//! Tests for the questions of the `question` tool, its message to the model, and refusals.

mod common;

use std::sync::{Arc, Mutex};

use common::{Recorder, built_in_tools, call, context, denied, registry, success, text};
use futures::future::BoxFuture;
use opencode_schema::{
    message::ErrorKind,
    question::{QuestionAnswer, QuestionInfo},
};
use opencode_tools::{
    Contributions, PermissionError, QuestionError, QuestionRequest, Questions, Settlement,
};
use serde_json::{Value, json};

type Answer = Result<Vec<QuestionAnswer>, QuestionError>;

/// Records all questions and returns one fixed answer.
struct People {
    asked: Mutex<Vec<Vec<QuestionInfo>>>,
    answer: Answer,
}

impl Questions for People {
    fn ask(&self, request: QuestionRequest) -> BoxFuture<'_, Answer> {
        let mut asked = self
            .asked
            .lock()
            .expect("no test panics while it holds this");
        asked.push(request.questions);
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

fn asking(question: &str) -> Value {
    json!({
        "question": question,
        "header": "Short",
        "options": [{"label": "Red", "description": "warm"}],
    })
}

/// Returns the settlement of a call, and the questions to the user as JSON.
async fn settle(
    input: Value,
    permission: Result<(), PermissionError>,
    answer: Answer,
) -> (Settlement, Value) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let registry = registry(&Contributions::default(), temp.path());
    let _registration = registry.host().register(built_in_tools());
    let turn = registry.materialize("/project", |_| true);
    let people = Arc::new(People {
        asked: Mutex::default(),
        answer,
    });
    let permissions = Recorder::new(move |_| permission.clone());
    let mut context = context(temp.path());
    context.ports.questions = Arc::clone(&people) as Arc<dyn Questions>;
    context.permissions = Arc::clone(&permissions) as Arc<dyn opencode_tools::Permissions>;
    let settlement = turn.settle(call("question", input), &context).await;
    let everything = ("question".to_owned(), vec!["*".to_owned()], vec![]);
    assert_eq!(permissions.asked(), [everything]);
    let asked = people
        .asked
        .lock()
        .expect("no test panics while it holds this");
    (settlement, json!(*asked))
}

#[tokio::test]
async fn the_model_receives_each_question_with_its_answer() {
    for (questions, answers, told) in [
        (json!([asking("A?")]), json!([["Red"]]), r#""A?"="Red""#),
        (
            json!([asking("A?"), asking("B?"), asking("C?")]),
            json!([["Red", "own words"], []]),
            r#""A?"="Red, own words", "B?"="Unanswered", "C?"="Unanswered""#,
        ),
        (json!([]), json!([]), ""),
        (
            json!([asking("A?")]),
            json!([["x"], ["more"]]),
            r#""A?"="x""#,
        ),
    ] {
        let answer = serde_json::from_value(answers.clone()).expect("answers are lists of labels");
        let (settled, asked) = settle(json!({"questions": questions}), Ok(()), Ok(answer)).await;
        let told = format!(
            "User has answered your questions: {told}. You can now continue with the user's answers in mind."
        );
        assert_eq!(
            settled,
            success(json!({"answers": answers}), vec![text(&told)])
        );
        assert_eq!(asked, json!([questions]));
    }
}

#[tokio::test]
async fn invalid_parameters_create_no_request() {
    let mut question = asking("A?");
    question["multiple"] = json!(true);
    let shown = question.clone();
    question["custom"] = json!(false);
    question["other"] = json!(1);
    let (_, asked) = settle(json!({"questions": [question]}), Ok(()), Ok(vec![])).await;
    assert_eq!(asked, json!([[shown]]));
}

#[tokio::test]
async fn refusals_fail_the_call_or_end_the_turn() {
    let failed = |message: &str| Settlement::Failed {
        message: message.to_owned(),
        kind: ErrorKind::Permission,
    };
    let corrected = PermissionError::Corrected {
        feedback: "just go on".to_owned(),
    };
    let input = json!({"questions": [asking("A?")]});
    for (permission, answer, expected, asked) in [
        (
            Err(PermissionError::Blocked),
            Ok(vec![]),
            denied("Permission denied: question"),
            json!([]),
        ),
        (
            Err(corrected),
            Ok(vec![]),
            failed("Permission denied: question: just go on"),
            json!([]),
        ),
        (
            Err(PermissionError::Declined),
            Ok(vec![]),
            Settlement::Declined,
            json!([]),
        ),
        (
            Ok(()),
            Err(QuestionError::Rejected),
            Settlement::Declined,
            json!([input["questions"]]),
        ),
        (
            Ok(()),
            Err(QuestionError::Unanswered),
            failed("Permission denied: question: no user is there to answer"),
            json!([input["questions"]]),
        ),
    ] {
        let settled = settle(input.clone(), permission, answer).await;
        assert_eq!(settled, (expected, asked));
    }
}
