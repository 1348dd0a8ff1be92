//! Calls from the host to functions of the program.
//!
//! The host sends notices, and the program answers with messages. Both are JSON texts, so that this module needs no
//! knowledge of JavaScript. A call can have several messages before its result. Dropping a call tells the program that
//! its result is not needed any more.

use std::collections::HashMap;
use std::sync::Arc;

use futures::{Stream, StreamExt, stream};
use opencode_schema::Record;
use opencode_schema::message::ToolContent;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

/// Maximum number of calls at the same time. The channels to and from the program have no other limit.
const MAX_CALLS: usize = 10_000;

/// Maximum number of notices in one text for the program.
const MAX_BATCH: usize = 64;

/// Number of batches of events after which the program is notified that the host has taken them. `MAX_BATCHES` in
/// `src/host/program.ts` limits the batches that wait here.
const ACKNOWLEDGED: u32 = 16;

/// A notice to the program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Notice<'a, I> {
    /// A function must be called.
    Call {
        id: u32,
        function: &'a str,
        input: &'a I,
    },
    /// The call may act: the user has permitted it.
    Permitted(u32),
    /// The host has taken [`ACKNOWLEDGED`] more batches of events of the call.
    Taken(u32),
    /// The result of the call is not needed any more.
    Ended(u32),
}

/// A message of the program about a call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Message {
    /// The result of the function.
    Result(Box<RawValue>),
    /// The function failed.
    Error(ProgramError),
    /// The function reports its progress.
    Progress(Progress),
    /// The function needs a permission before it acts.
    Permission(Permission),
    /// The function sends a batch of events.
    Events(Box<RawValue>),
}

/// The failure of a function.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ProgramError {
    pub(crate) message: String,
    /// The stack of the thrown error, for the log.
    #[serde(default)]
    pub(crate) stack: Option<String>,
}

impl ProgramError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            stack: None,
        }
    }
}

/// The progress of a tool.
#[derive(Debug, Deserialize)]
pub(crate) struct Progress {
    #[serde(default)]
    pub(crate) structured: Record,
    #[serde(default)]
    pub(crate) content: Vec<ToolContent>,
}

/// A permission that a tool needs.
#[derive(Debug, Deserialize)]
pub(crate) struct Permission {
    pub(crate) action: String,
    pub(crate) resources: Vec<String>,
    #[serde(default)]
    pub(crate) save: Vec<String>,
}

/// The calls of one host. All clones are the same.
#[derive(Clone)]
pub(crate) struct ProgramCalls(Arc<Mutex<State>>);

struct State {
    /// The channel to the program. `None` after the host has closed.
    notices: Option<mpsc::UnboundedSender<String>>,
    /// Taken by the program when it begins to read.
    reader: Option<mpsc::UnboundedReceiver<String>>,
    last: u32,
    calls: HashMap<u32, mpsc::UnboundedSender<Message>>,
}

impl ProgramCalls {
    pub(crate) fn new() -> Self {
        let (notices, reader) = mpsc::unbounded_channel();
        Self(Arc::new(Mutex::new(State {
            notices: Some(notices),
            reader: Some(reader),
            last: 0,
            calls: HashMap::new(),
        })))
    }

    /// Returns the notices as JSON arrays. Only the first caller receives them. Ends with the host.
    pub(crate) fn notices(&self) -> impl Stream<Item = String> + Send + use<> {
        let reader = self.0.lock().reader.take();
        let notices = stream::unfold(reader, |reader| async {
            let mut reader = reader?;
            let notice = reader.recv().await?;
            Some((notice, Some(reader)))
        });
        notices
            .ready_chunks(MAX_BATCH)
            .map(|batch| format!("[{}]", batch.join(",")))
    }

    /// Begins a call of a function.
    ///
    /// # Errors
    ///
    /// Fails if the host is closed or too many calls run.
    pub(crate) fn begin<I: Serialize>(
        &self,
        function: &str,
        input: &I,
    ) -> Result<ProgramCall, ProgramError> {
        let mut state = self.0.lock();
        if state.calls.len() >= MAX_CALLS {
            let message = format!("more than {MAX_CALLS} functions of the program run");
            return Err(ProgramError::new(message));
        }
        let id = state.next_id();
        let call = Notice::Call {
            id,
            function,
            input,
        };
        if !state.notify(&call) {
            return Err(ProgramError::new("the host closes"));
        }
        let (sender, messages) = mpsc::unbounded_channel();
        state.calls.insert(id, sender);
        Ok(ProgramCall {
            id,
            calls: self.clone(),
            messages,
            taken: 0,
        })
    }

    /// Receives a message about a call as JSON. Returns false if the call does not wait any more.
    pub(crate) fn receive(&self, id: u32, message: &str) -> bool {
        let message = serde_json::from_str(message).unwrap_or_else(|error| {
            Message::Error(ProgramError::new(format!("its result is invalid: {error}")))
        });
        let mut state = self.0.lock();
        let is_last = matches!(message, Message::Result(_) | Message::Error(_));
        let call = match is_last {
            true => state.calls.remove(&id),
            false => state.calls.get(&id).cloned(),
        };
        call.is_some_and(|call| call.send(message).is_ok())
    }

    /// Ends all calls, and the notices.
    pub(crate) fn end(&self) {
        let mut state = self.0.lock();
        let calls: Vec<_> = state.calls.drain().map(|(id, _)| id).collect();
        for id in calls {
            state.notify(&Notice::<()>::Ended(id));
        }
        state.notices = None;
    }
}

impl State {
    fn next_id(&mut self) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.calls.contains_key(&self.last) {
                return self.last;
            }
        }
    }

    fn notify<I: Serialize>(&self, notice: &Notice<'_, I>) -> bool {
        let text = serde_json::to_string(notice).expect("a notice is plain data");
        let notices = self.notices.as_ref();
        notices.is_some_and(|notices| notices.send(text).is_ok())
    }
}

/// A call that runs. Dropping it tells the program that its result is not needed any more.
pub(crate) struct ProgramCall {
    id: u32,
    calls: ProgramCalls,
    messages: mpsc::UnboundedReceiver<Message>,
    /// Number of batches of events that were taken.
    taken: u32,
}

impl ProgramCall {
    /// Waits for the next message.
    pub(crate) async fn next(&mut self) -> Message {
        let message = self.messages.recv().await;
        message.unwrap_or_else(|| Message::Error(ProgramError::new("the host closes")))
    }

    /// Waits for the result and reads it. Ignores other messages.
    ///
    /// # Errors
    ///
    /// Fails if the function fails, its result is invalid or the host closes.
    pub(crate) async fn result<R: DeserializeOwned>(&mut self) -> Result<R, ProgramError> {
        loop {
            match self.next().await {
                Message::Result(value) => {
                    return serde_json::from_str(value.get()).map_err(|error| {
                        ProgramError::new(format!("its result is invalid: {error}"))
                    });
                }
                Message::Error(error) => return Err(error),
                Message::Progress(_) | Message::Permission(_) | Message::Events(_) => {}
            }
        }
    }

    /// Records that a batch of events was taken, so that the function may send more.
    pub(crate) fn took_events(&mut self) {
        self.taken = self.taken.wrapping_add(1);
        if self.taken.is_multiple_of(ACKNOWLEDGED) {
            self.calls.0.lock().notify(&Notice::<()>::Taken(self.id));
        }
    }

    /// Tells the function that the user has permitted its action.
    pub(crate) fn permit(&self) {
        self.calls
            .0
            .lock()
            .notify(&Notice::<()>::Permitted(self.id));
    }
}

impl Drop for ProgramCall {
    fn drop(&mut self) {
        let mut state = self.calls.0.lock();
        if state.calls.remove(&self.id).is_some() {
            state.notify(&Notice::<()>::Ended(self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn started(calls: &ProgramCalls) -> ProgramCall {
        calls.begin("f", &json!({ "a": 1 })).expect("it begins")
    }

    #[tokio::test]
    async fn notices_come_in_batches_in_their_order() {
        let calls = ProgramCalls::new();
        let first = started(&calls);
        first.permit();
        drop(first);
        let _second = started(&calls);
        let mut notices = Box::pin(calls.notices());
        let expected = concat!(
            r#"[{"call":{"id":1,"function":"f","input":{"a":1}}},{"permitted":1},{"ended":1},"#,
            r#"{"call":{"id":2,"function":"f","input":{"a":1}}}]"#
        );
        assert_eq!(notices.next().await.as_deref(), Some(expected));
        calls.end();
        assert_eq!(notices.next().await.as_deref(), Some(r#"[{"ended":2}]"#));
        assert_eq!(notices.next().await, None);
    }

    #[tokio::test]
    async fn taken_events_are_acknowledged_in_groups() {
        let calls = ProgramCalls::new();
        let mut call = started(&calls);
        for _ in 0..2 * ACKNOWLEDGED {
            assert!(calls.receive(1, r#"{"events":[1]}"#));
            assert!(matches!(call.next().await, Message::Events(batch) if batch.get() == "[1]"));
            call.took_events();
        }
        let mut notices = Box::pin(calls.notices());
        let notices = notices.next().await.unwrap();
        assert_eq!(notices.matches(r#"{"taken":1}"#).count(), 2, "{notices}");
    }

    #[tokio::test]
    async fn a_call_ends_with_its_first_result() {
        let calls = ProgramCalls::new();
        let mut call = started(&calls);
        let report = r#"{"progress":{"structured":{"done":1}}}"#;
        assert!(calls.receive(1, report));
        assert!(calls.receive(1, r#"{"result":"x"}"#));
        assert!(!calls.receive(1, r#"{"result":"y"}"#), "it has ended");
        assert!(!calls.receive(7, report), "it is unknown");
        assert!(matches!(call.next().await, Message::Progress(_)));
        assert!(matches!(call.next().await, Message::Result(value) if value.get() == "\"x\""));
    }

    #[tokio::test]
    async fn an_invalid_message_fails_the_call() {
        for text in ["", "{", r#"{"other":1}"#, r#"{"permission":{}}"#] {
            let calls = ProgramCalls::new();
            let mut call = started(&calls);
            calls.receive(1, text);
            assert!(matches!(call.next().await, Message::Error(_)), "{text}");
        }
    }

    #[tokio::test]
    async fn a_closed_host_calls_nothing() {
        let calls = ProgramCalls::new();
        let mut call = started(&calls);
        calls.end();
        assert!(matches!(call.next().await, Message::Error(_)));
        assert!(calls.begin("f", &()).is_err());
    }

    #[test]
    fn the_number_of_calls_is_limited() {
        let calls = ProgramCalls::new();
        let running: Vec<_> = (0..MAX_CALLS).map(|_| started(&calls)).collect();
        assert!(calls.begin("f", &()).is_err());
        drop(running);
        assert!(calls.begin("f", &()).is_ok());
    }
}
