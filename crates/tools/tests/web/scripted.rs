//! A web with scripted answers, and the outcome of a call that uses it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use opencode_net::{DownloadError, HttpRequest, HttpResponse, Web};
use opencode_schema::{clock::SystemClock, id::SessionID};
use opencode_tools::{
    Contributions, PermissionError, PermissionRequest, Permissions, SearchServices, Settlement,
    built_in_tools,
};
use serde_json::Value;

use crate::common::{Recorder, call, context, registry};

/// An answer, an error, or no answer at all.
#[derive(Clone)]
pub(crate) enum Answer {
    Response(HttpResponse),
    Error(&'static str),
    Never,
}

/// Returns a success with this content type.
pub(crate) fn page(content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    answer(200, &[("content-type", content_type)], body)
}

pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Answer {
    let headers = headers.iter().map(|(name, value)| {
        let name: HeaderName = name.parse().expect("it is a name");
        (name, HeaderValue::from_str(value).expect("it is a value"))
    });
    Answer::Response(HttpResponse {
        status: StatusCode::from_u16(status).expect("it is a status"),
        headers: HeaderMap::from_iter(headers),
        body: body.into(),
    })
}

/// Returns its answers one after another and records the requests.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<HttpRequest>>,
}

impl Web for Scripted {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, DownloadError>> {
        self.asked.lock().expect("no test panics").push(request);
        let answer = self.answers.lock().expect("no test panics").pop_front();
        Box::pin(async move {
            match answer.expect("there is an answer for every request") {
                Answer::Response(response) => Ok(response),
                Answer::Error(reason) => Err(DownloadError(reason.to_owned())),
                Answer::Never => std::future::pending().await,
            }
        })
    }
}

/// The outcome of a call.
pub(crate) struct Outcome {
    pub(crate) settlement: Settlement,
    pub(crate) permissions: Vec<PermissionRequest>,
    pub(crate) requests: Vec<HttpRequest>,
}

impl Outcome {
    /// Returns the addresses of all requests in order.
    pub(crate) fn addresses(&self) -> Vec<&str> {
        let requests = self.requests.iter();
        requests.map(|request| request.address.as_str()).collect()
    }

    /// Returns the resources of all permission requests in order.
    pub(crate) fn resources(&self) -> Vec<&str> {
        let asked = self.permissions.iter();
        asked
            .flat_map(|request| request.resources.iter().map(String::as_str))
            .collect()
    }
}

type Allow = Box<dyn Fn(&PermissionRequest) -> Result<(), PermissionError> + Send + Sync>;

/// A call with all its inputs and answers.
pub(crate) struct Script {
    pub(crate) tool: &'static str,
    pub(crate) input: Value,
    pub(crate) answers: Vec<Answer>,
    pub(crate) allow: Allow,
    pub(crate) services: SearchServices,
    pub(crate) session: &'static str,
}

impl Script {
    pub(crate) fn new(tool: &'static str, input: Value, answers: Vec<Answer>) -> Self {
        Self {
            tool,
            input,
            answers,
            allow: Box::new(|_| Ok(())),
            services: SearchServices::from_variables(|_| None),
            session: "ses_1",
        }
    }

    pub(crate) async fn run(self) -> Outcome {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let registry = registry(&Contributions::default(), temp.path());
        let web = Arc::new(Scripted {
            answers: Mutex::new(self.answers.into()),
            ..Scripted::default()
        });
        let reached = Arc::clone(&web) as Arc<dyn Web>;
        let tools = built_in_tools(&SystemClock, &reached, self.services);
        let _registration = registry.host().register(tools);
        let turn = registry.materialize("/project", |_| true);
        let permissions = Recorder::new(self.allow);
        let mut context = context(temp.path());
        context.session_id = SessionID::parse(self.session).expect("it has the prefix");
        context.permissions = Arc::clone(&permissions) as Arc<dyn Permissions>;
        let settlement = turn.settle(call(self.tool, self.input), &context).await;
        let left = web.answers.lock().expect("no test panics").len();
        assert_eq!(left, 0, "every answer is fetched");
        let requests = std::mem::take(&mut *web.asked.lock().expect("no test panics"));
        let permissions = std::mem::take(&mut *permissions.asked.lock().expect("no test panics"));
        Outcome {
            settlement,
            permissions,
            requests,
        }
    }
}

/// Returns headers as pairs of texts.
pub(crate) fn pairs(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let headers = headers.iter();
    headers
        .map(|(name, value)| (name.as_str(), value.to_str().expect("it is a text")))
        .collect()
}
