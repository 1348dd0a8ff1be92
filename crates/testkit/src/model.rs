//! A model that answers by script and keeps its requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream;
use opencode_llm::{
    EventStream, LlmError, LlmEvent, LlmRequest, ModelClient, Prefix, PrefixReport,
};
use opencode_protocols::adapter;
use tokio::sync::watch;

use crate::check::check;
use crate::reply::{Reply, Step};

type Answer = Box<dyn Fn(&LlmRequest) -> Reply + Send>;

/// Answers the requests with the scripted replies, both in order. Clones share one model.
///
/// The model checks each request against the general rules. A broken rule, a request without a
/// reply and an unused reply fail the test at its end.
#[derive(Clone, Default)]
pub struct ScriptedModel {
    script: Arc<Mutex<Script>>,
    asked: watch::Sender<usize>,
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    otherwise: Option<Answer>,
    requests: Vec<LlmRequest>,
    violations: Vec<String>,
}

impl ScriptedModel {
    /// A model without replies.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reply to the end of the script.
    pub fn reply(&self, reply: Reply) -> &Self {
        self.script().replies.push_back(reply);
        self
    }

    /// Sets the function that makes the replies after the end of the script.
    pub fn otherwise(&self, answer: impl Fn(&LlmRequest) -> Reply + Send + 'static) -> &Self {
        self.script().otherwise = Some(Box::new(answer));
        self
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<LlmRequest> {
        self.script().requests.clone()
    }

    /// The newest request.
    pub fn last_request(&self) -> LlmRequest {
        let script = self.script();
        script.requests.last().expect("there was a request").clone()
    }

    /// Waits until there are `count` requests.
    pub(crate) async fn asked(&self, count: usize) {
        let mut asked = self.asked.subscribe();
        asked
            .wait_for(|asked| *asked >= count)
            .await
            .expect("the model itself keeps the sender");
    }

    /// Deviations from the script, and broken rules of requests.
    pub(crate) fn problems(&self) -> Vec<String> {
        let script = self.script();
        let unused = script.replies.len();
        let unused = (unused > 0).then(|| format!("{unused} replies were never asked for"));
        script.violations.iter().cloned().chain(unused).collect()
    }

    fn begin(&self, request: LlmRequest) -> Playing {
        let mut script = self.script();
        let number = script.requests.len();
        if let Err(problem) = check(&request) {
            let violation = format!("request {number}: {problem}");
            script.violations.push(violation);
        }
        let reply = script.replies.pop_front();
        let reply = reply.or_else(|| Some(script.otherwise.as_ref()?(&request)));
        let reply = reply.unwrap_or_else(|| {
            let violation = format!("request {number} has no reply in the script");
            script.violations.push(violation);
            Reply::fails(LlmError::invalid_request("the script has no reply"))
        });
        script.requests.push(request);
        drop(script);
        self.asked.send_modify(|asked| *asked += 1);
        Playing(reply.steps)
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelClient for ScriptedModel {
    fn stream(&self, request: LlmRequest) -> EventStream {
        enum Reading {
            Fresh(ScriptedModel, Box<LlmRequest>),
            Begun(Playing),
        }
        let fresh = Reading::Fresh(self.clone(), Box::new(request));
        Box::pin(stream::unfold(fresh, |reading| async {
            let mut playing = match reading {
                Reading::Fresh(model, request) => model.begin(*request),
                Reading::Begun(playing) => playing,
            };
            let item = playing.next().await?;
            Some((item, Reading::Begun(playing)))
        }))
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        adapter(request.model.protocol).prefix(request, former)
    }
}

/// The rest of a reply.
struct Playing(VecDeque<Step>);

impl Playing {
    async fn next(&mut self) -> Option<Result<Vec<LlmEvent>, LlmError>> {
        loop {
            match self.0.pop_front()? {
                Step::Emit(events) => return Some(Ok(events)),
                Step::Fail(error) => return Some(Err(error)),
                Step::Hold(gate) => gate.pass().await,
            }
        }
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        for step in &self.0 {
            if let Step::Hold(gate) = step {
                gate.abandon();
            }
        }
    }
}
