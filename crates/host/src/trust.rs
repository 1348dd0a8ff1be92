//! Questions to the embedding program whether it trusts the project of a Location.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, Stream, stream};
use opencode_location::trust::AskTrust;
use opencode_runtime::RequestNotice;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

/// Time limit of the program, which may ask the user.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Maximum number of questions at the same time.
const MAX_WAITING: usize = 1_000;

/// Maximum number of characters of a reason.
const MAX_REASON: usize = 1_000;

/// A question about a Location.
#[derive(Debug, Serialize)]
struct TrustQuestion {
    /// Id of the question, for its answer.
    id: u32,
    /// The directory of the Location, in normal form.
    directory: String,
}

/// The answer of the program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum TrustAnswer {
    /// True if it trusts the project.
    Trusted(bool),
    /// The reason why it has no answer.
    Error(String),
}

type Answer = Result<bool, String>;

type Notice = RequestNotice<TrustQuestion, u32>;

/// A question that waits. Dropping it ends the question.
struct PendingQuestion {
    id: u32,
    state: Arc<Mutex<State>>,
    answered: oneshot::Receiver<Answer>,
}

impl Drop for PendingQuestion {
    fn drop(&mut self) {
        lock(&self.state).give_up(self.id);
    }
}

/// The questions of one host. They wait for the program, which may begin to answer later.
pub(crate) struct TrustQuestions(Arc<Mutex<State>>);

struct State {
    /// The channel to the program. `None` when the host closes.
    questions: Option<mpsc::UnboundedSender<Notice>>,
    /// Taken by the program when it begins to answer.
    asked: Option<mpsc::UnboundedReceiver<Notice>>,
    last: u32,
    waiting: HashMap<u32, oneshot::Sender<Answer>>,
}

impl TrustQuestions {
    pub(crate) fn new() -> Self {
        let (questions, asked) = mpsc::unbounded_channel();
        Self(Arc::new(Mutex::new(State {
            questions: Some(questions),
            asked: Some(asked),
            last: 0,
            waiting: HashMap::new(),
        })))
    }

    /// Returns the questions as JSON `{"asked": {id, directory}}`, and `{"ended": id}` for each that ends without an
    /// answer. Only the first caller receives them. Ends with the host.
    pub(crate) fn attend(&self) -> impl Stream<Item = String> + Send + use<> {
        let asked = lock(&self.0).asked.take();
        stream::unfold(asked, |asked| async {
            let mut asked = asked?;
            let notice = asked.recv().await?;
            let text = serde_json::to_string(&notice).expect("a question is plain data");
            Some((text, Some(asked)))
        })
    }

    /// Answers a question with JSON `{"trusted": boolean}` or `{"error": reason}`. A question that does
    /// not wait any more needs no answer.
    pub(crate) fn answer(&self, id: u32, answer: &str) {
        let answer = match serde_json::from_str(answer) {
            Ok(TrustAnswer::Trusted(trusted)) => Ok(trusted),
            Ok(TrustAnswer::Error(reason)) => Err(reason.chars().take(MAX_REASON).collect()),
            Err(error) => Err(error.to_string()),
        };
        if let Some(waiting) = lock(&self.0).waiting.remove(&id) {
            // The send fails if the opening of the Location was dropped.
            let _ = waiting.send(answer);
        }
    }

    /// Answers every question with no.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.0);
        let waiting: Vec<_> = state.waiting.keys().copied().collect();
        for id in waiting {
            state.give_up(id);
        }
        state.questions = None;
    }
}

impl AskTrust for TrustQuestions {
    fn ask(&self, directory: &str) -> BoxFuture<'static, Answer> {
        let asked = lock(&self.0).ask(directory);
        let waits = asked.map(|(id, answered)| PendingQuestion {
            id,
            state: Arc::clone(&self.0),
            answered,
        });
        async move {
            let mut waits = waits?;
            match tokio::time::timeout(TIME_LIMIT, &mut waits.answered).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err("the host closes".to_owned()),
                Err(_) => Err(format!(
                    "it has not answered within {} seconds",
                    TIME_LIMIT.as_secs()
                )),
            }
        }
        .boxed()
    }
}

impl State {
    fn ask(&mut self, directory: &str) -> Result<(u32, oneshot::Receiver<Answer>), String> {
        if self.waiting.len() >= MAX_WAITING {
            return Err(format!("more than {MAX_WAITING} questions wait"));
        }
        let (answer, answered) = oneshot::channel();
        self.last = self.last.wrapping_add(1);
        let question = TrustQuestion {
            id: self.last,
            directory: directory.to_owned(),
        };
        let asked = RequestNotice::Asked(question);
        let sent = self.questions.as_ref().map(|way| way.send(asked));
        if !matches!(sent, Some(Ok(()))) {
            return Err("the host closes".to_owned());
        }
        self.waiting.insert(self.last, answer);
        Ok((self.last, answered))
    }

    /// Ends a question without an answer, unless it has ended already.
    fn give_up(&mut self, id: u32) {
        if self.waiting.remove(&id).is_some()
            && let Some(questions) = &self.questions
        {
            // The send fails if the program stopped reading.
            let _ = questions.send(RequestNotice::Ended(id));
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock()
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;

    #[tokio::test]
    async fn a_question_waits_for_the_program() {
        let questions = TrustQuestions::new();
        let asked = questions.ask("/a");
        let mut attended = Box::pin(questions.attend());
        let question = attended.next().await;
        let text = r#"{"asked":{"id":1,"directory":"/a"}}"#;
        assert_eq!(question.as_deref(), Some(text));
        questions.answer(1, r#"{"trusted":true}"#);
        assert_eq!(asked.await, Ok(true));
        drop(questions.ask("/b"));
        attended.next().await;
        // The end of an answered question is not sent.
        let ended = attended.next().await;
        assert_eq!(ended.as_deref(), Some(r#"{"ended":2}"#));
    }

    #[tokio::test(start_paused = true)]
    async fn no_answer_is_no_trust() {
        let questions = TrustQuestions::new();
        let late = questions.ask("/a");
        let reason = "it has not answered within 60 seconds";
        assert_eq!(late.await, Err(reason.to_owned()));
        let failed = questions.ask("/a");
        questions.answer(2, r#"{"error":"no idea"}"#);
        assert_eq!(failed.await, Err("no idea".to_owned()));
        let wrong = questions.ask("/a");
        questions.answer(3, r#"{"trusted":"yes"}"#);
        assert!(wrong.await.unwrap_err().contains("invalid type"));
        let closing = questions.ask("/a");
        questions.end();
        assert_eq!(closing.await, Err("the host closes".to_owned()));
        assert_eq!(questions.ask("/a").await, Err("the host closes".to_owned()));
        let attended: Vec<_> = questions.attend().collect().await;
        let ended = |notice: &&String| notice.starts_with(r#"{"ended""#);
        let ended: Vec<_> = attended.iter().filter(ended).collect();
        assert_eq!(attended.len(), 6);
        assert_eq!(ended, [r#"{"ended":1}"#, r#"{"ended":4}"#]);
    }
}
