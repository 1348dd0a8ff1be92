//! Questions to the embedding program whether it trusts the project of a Location.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_location::location::AskTrust;
use serde_json::json;

use crate::program::calls::ProgramCalls;

/// Name of the function in calls.
const FUNCTION: &str = "trust";

/// Time limit of the program, which may ask the user.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Maximum number of characters of a reason.
const MAX_REASON: usize = 1_000;

type Answer = Result<bool, String>;

/// The questions of one host. They wait for the program, which may begin to answer later.
pub(crate) struct TrustQuestions(ProgramCalls);

impl TrustQuestions {
    pub(crate) fn new(calls: ProgramCalls) -> Self {
        Self(calls)
    }
}

impl AskTrust for TrustQuestions {
    fn ask(&self, directory: &str) -> BoxFuture<'static, Answer> {
        let call = self.0.begin(FUNCTION, &json!({ "directory": directory }));
        async move {
            let mut call = call.map_err(|error| reason(&error.message))?;
            match tokio::time::timeout(TIME_LIMIT, call.result()).await {
                Ok(answer) => answer.map_err(|error| reason(&error.message)),
                Err(_) => Err(format!(
                    "it has not answered within {} seconds",
                    TIME_LIMIT.as_secs()
                )),
            }
        }
        .boxed()
    }
}

fn reason(message: &str) -> String {
    message.chars().take(MAX_REASON).collect()
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;

    #[tokio::test]
    async fn a_trust_question_waits_for_the_answer_of_the_program() {
        let calls = ProgramCalls::new();
        let asked = TrustQuestions::new(calls.clone()).ask("/a");
        let notices = Box::pin(calls.notices()).next().await;
        let text = r#"[{"call":{"id":1,"function":"trust","input":{"directory":"/a"}}}]"#;
        assert_eq!(notices.as_deref(), Some(text));
        calls.receive(1, r#"{"result":true}"#);
        assert_eq!(asked.await, Ok(true));
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_or_invalid_answer_is_an_error() {
        let calls = ProgramCalls::new();
        let questions = TrustQuestions::new(calls.clone());
        let late = questions.ask("/a");
        let reason = "it has not answered within 60 seconds";
        assert_eq!(late.await, Err(reason.to_owned()));
        let failed = questions.ask("/a");
        calls.receive(2, r#"{"error":{"message":"no idea"}}"#);
        assert_eq!(failed.await, Err("no idea".to_owned()));
        let wrong = questions.ask("/a");
        calls.receive(3, r#"{"result":"yes"}"#);
        assert!(wrong.await.unwrap_err().contains("invalid type"));
        let closing = questions.ask("/a");
        calls.end();
        assert_eq!(closing.await, Err("the host closes".to_owned()));
        assert_eq!(questions.ask("/a").await, Err("the host closes".to_owned()));
    }
}
