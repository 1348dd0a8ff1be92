//! The state of one connection that its parts share.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage,
    ProgressNotificationParam, ProgressToken, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use tokio_util::sync::CancellationToken;

use crate::call::Progress;
use crate::changes::Changes;
use crate::in_flight::InFlight;
use crate::limits::MAX_SERVER_REQUESTS;
use crate::server_log::ServerLog;

/// The end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The server, or the way to it, has closed.
    Closed,
    /// The server broke a rule.
    Broken(String),
    /// The server accepts no token of the host, and only the user can get another.
    NeedsAuth,
    /// The user must register a client.
    NeedsClientRegistration(String),
}

impl End {
    /// Returns the message of requests that fail because of it.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Closed => "Connection closed".to_owned(),
            Self::Broken(reason) => reason.clone(),
            Self::NeedsAuth => "The user must authorize the host at the server.".to_owned(),
            Self::NeedsClientRegistration(reason) => reason.clone(),
        }
    }
}

/// The state of one connection that its parts share.
pub(crate) struct Link {
    ended: CancellationToken,
    end: Mutex<Option<End>>,
    requests: Mutex<Requests>,
    /// Changes that the server announced.
    pub(crate) changes: Changes,
    pub(crate) log: ServerLog,
}

/// The requests of the host without an answer.
pub(crate) enum Waiting {
    /// There is none, except for the handshake.
    Nothing,
    /// There is one.
    One(RequestId),
    /// There are several.
    Several,
}

#[derive(Default)]
struct Requests {
    /// Requests of the host without an answer, by their progress token.
    sent: HashMap<ProgressToken, (RequestId, Arc<InFlight>)>,
    /// Tool calls, the newest last.
    calls: Vec<Arc<InFlight>>,
    /// The handshake without an answer.
    handshake: Option<RequestId>,
    /// Requests of the server.
    received: HashSet<RequestId>,
}

impl Link {
    pub(crate) fn new(server: &str) -> Self {
        Self {
            ended: CancellationToken::new(),
            end: Mutex::new(None),
            requests: Mutex::default(),
            changes: Changes::default(),
            log: ServerLog::new(server),
        }
    }

    /// Ends the connection. Only the first end counts.
    pub(crate) fn finish(&self, end: End) {
        self.end.lock().get_or_insert(end);
        self.ended.cancel();
    }

    /// Returns when the connection has ended.
    pub(crate) async fn ended(&self) -> End {
        self.ended.cancelled().await;
        self.end().unwrap_or(End::Closed)
    }

    /// Returns the end of the connection.
    pub(crate) fn end(&self) -> Option<End> {
        self.end.lock().clone()
    }

    /// Registers a tool call. Questions of the server can belong to it.
    pub(crate) fn add_call(&self, call: &Arc<InFlight>) {
        self.requests.lock().calls.push(Arc::clone(call));
    }

    /// Removes a request that is over.
    pub(crate) fn remove(&self, request: &Arc<InFlight>) {
        request.finish();
        let mut requests = self.requests.lock();
        requests.calls.retain(|call| !Arc::ptr_eq(call, request));
        requests
            .sent
            .retain(|_, (_, sent)| !Arc::ptr_eq(sent, request));
    }

    /// Returns the newest call, if all calls belong to one session.
    pub(crate) fn asking_call(&self) -> Option<Arc<InFlight>> {
        let requests = self.requests.lock();
        let newest = requests.calls.last()?;
        let session = newest.session();
        let is_only = requests.calls.iter().all(|call| call.session() == session);
        is_only.then(|| Arc::clone(newest))
    }

    /// True if a request of the host with this id has no answer.
    pub(crate) fn is_waiting(&self, id: &RequestId) -> bool {
        let (requests, id) = (self.requests.lock(), id.to_string());
        let mut sent = requests.sent.values();
        sent.any(|(sent, _)| sent.to_string() == id)
    }

    /// Returns the id of the handshake if this is the id of an answer to it.
    pub(crate) fn handshake(&self, answered: &RequestId) -> Option<RequestId> {
        let requests = self.requests.lock();
        let handshake = requests.handshake.as_ref();
        // Some servers return the number as a text.
        handshake
            .filter(|id| id.to_string() == answered.to_string())
            .cloned()
    }

    /// Returns the requests of the host without an answer.
    pub(crate) fn waiting(&self) -> Waiting {
        let requests = self.requests.lock();
        let mut sent = requests.sent.values();
        match (sent.next(), sent.next()) {
            (None, _) => Waiting::Nothing,
            (Some((id, _)), None) => Waiting::One(id.clone()),
            (Some(_), Some(_)) => Waiting::Several,
        }
    }

    /// Called with each message before the host sends it.
    pub(crate) fn sends(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(message) => {
                let request = &message.request;
                if matches!(request, ClientRequest::InitializeRequest(_)) {
                    self.requests.lock().handshake = Some(message.id.clone());
                }
                let tracked = request.extensions().get::<Arc<InFlight>>();
                let token = request.get_meta().get_progress_token();
                if let (Some(tracked), Some(token)) = (tracked, token) {
                    let sent = (message.id.clone(), Arc::clone(tracked));
                    self.requests.lock().sent.insert(token, sent);
                }
            }
            JsonRpcMessage::Response(answer) => self.answered(Some(&answer.id)),
            JsonRpcMessage::Error(answer) => self.answered(answer.id.as_ref()),
            JsonRpcMessage::Notification(_) => {}
        }
    }

    fn answered(&self, id: Option<&RequestId>) {
        if let Some(id) = id {
            self.requests.lock().received.remove(id);
        }
    }

    /// Called with each message of the server, in their order. Handles notifications, and returns the
    /// messages that are left.
    pub(crate) fn receives(&self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                return self.accepts(&request.id).then_some(message);
            }
            JsonRpcMessage::Response(answer) => {
                self.forget_progress(&answer.id);
                return Some(message);
            }
            JsonRpcMessage::Error(answer) => {
                answer.id.iter().for_each(|id| self.forget_progress(id));
                return Some(message);
            }
            JsonRpcMessage::Notification(_) => {}
        }
        let JsonRpcMessage::Notification(notification) = message else {
            return None;
        };
        match notification.notification {
            ServerNotification::ProgressNotification(it) => self.progress(it.params),
            ServerNotification::LoggingMessageNotification(it) => self.log.message(&it.params),
            ServerNotification::ToolListChangedNotification(_) => self.changes.tools(),
            ServerNotification::PromptListChangedNotification(_) => self.changes.prompts(),
            ServerNotification::ResourceListChangedNotification(_) => self.changes.resources(),
            ServerNotification::CancelledNotification(it) => {
                self.answered(it.params.request_id.as_ref());
                return Some(ServerJsonRpcMessage::notification(it.into()));
            }
            _ => {}
        }
        None
    }

    /// Called with each answer. No progress follows the answer.
    fn forget_progress(&self, answered: &RequestId) {
        // Some servers return the number as a text.
        let answered = answered.to_string();
        let mut requests = self.requests.lock();
        requests
            .sent
            .retain(|_, (id, _)| id.to_string() != answered);
        requests.handshake.take_if(|id| id.to_string() == answered);
    }

    /// True if a request of the server may be answered.
    fn accepts(&self, id: &RequestId) -> bool {
        let mut requests = self.requests.lock();
        if requests.received.len() == MAX_SERVER_REQUESTS && !requests.received.contains(id) {
            drop(requests);
            let reason = "The server sends requests and does not read the answers.";
            self.finish(End::Broken(reason.to_owned()));
            return false;
        }
        requests.received.insert(id.clone())
    }

    fn progress(&self, report: ProgressNotificationParam) {
        // Some servers return the number as a text.
        let token = report.progress_token.0.to_string();
        let requests = self.requests.lock();
        let mut sent = requests.sent.iter();
        let sent = sent.find(|(known, _)| known.0.to_string() == token);
        let request = sent.map(|(_, (_, request))| Arc::clone(request));
        drop(requests);
        if let Some(request) = request {
            request.progress(Progress {
                progress: report.progress,
                total: report.total,
                message: report.message,
            });
        }
    }
}
