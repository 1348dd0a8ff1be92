//! The requests of one Provider Turn. A request is sent again, after an announced wait, while the
//! provider refuses it temporarily and has produced no output.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{Either, select};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, stream};
use opencode_llm::{
    EventStream, LlmError, LlmEvent, LlmRequest, ModelClient, ResolvedModel, Retry, RetryPolicy,
    Sources,
};
use opencode_location::secret::Redactor;
use opencode_schema::clock::Millis;
use opencode_schema::event::{Retried, RetryError, SessionStatus};
use opencode_store::{Draft, SessionRow};

use super::fence::Fence;
use super::learnt_windows::LearntWindows;
use super::rate_limits::{Pass, RateLimits};
use crate::error::DrainError;
use crate::journal::Journal;
use crate::live::Announcer;
use crate::timer::Timer;

/// Time without data from the provider after which clients are notified, and the interval of further notifications.
const SILENCE: Duration = Duration::from_secs(30);

/// The failure of an answer that only ends.
pub(crate) const NO_FINISH: &str = "The provider ended its answer without saying that it was done";

/// Maximum number of characters of a provider's response body that are recorded.
const MAX_BODY: usize = 2_000;

/// An item of a provider's stream.
type Item = Result<Vec<LlmEvent>, LlmError>;

/// The reason that a turn has no further output.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The provider refused the request, or the connection or the protocol failed.
    Failed(LlmError),
    /// A caller moved the session, or switched its agent or model, while the turn waited for the
    /// provider. The provider produced no output, so the turn can be prepared again.
    Outdated,
}

/// The session changed while its request waited.
struct Outdated;

/// The output of one turn.
pub(crate) type Answer = BoxStream<'static, Result<Vec<LlmEvent>, AskError>>;

/// The requests of one turn.
struct Attempts {
    provider: Arc<Provider>,
    /// The state of the session that the request was prepared for.
    fence: Fence,
    secrets: Redactor,
    /// The request to send again. `None` once the provider has produced output.
    request: Option<LlmRequest>,
    stream: EventStream,
    model: Arc<ResolvedModel>,
    /// Present from the sending of the request to its first output.
    pass: Option<Pass>,
    began: Instant,
    retries: u32,
}

/// Sends requests to the model provider, and repeats them if the policy allows.
pub(crate) struct Provider {
    pub(crate) journal: Arc<Journal>,
    pub(crate) model: Arc<dyn ModelClient>,
    pub(crate) retry: RetryPolicy,
    pub(crate) limits: Arc<RateLimits>,
    pub(crate) windows: LearntWindows,
    pub(crate) timer: Arc<dyn Timer>,
}

impl Provider {
    /// Sends a request as often as the retry policy allows. Dropping the stream ends the request
    /// and the wait.
    pub(crate) fn ask(
        self: &Arc<Self>,
        request: LlmRequest,
        fence: Fence,
        secrets: Redactor,
    ) -> Answer {
        let attempts = Attempts {
            stream: self.model.stream(request.clone()),
            model: Arc::clone(&request.model),
            began: self.timer.now(),
            provider: Arc::clone(self),
            fence,
            secrets,
            request: Some(request),
            pass: None,
            retries: 0,
        };
        Box::pin(stream::unfold(attempts, |mut attempts| async {
            let item = attempts.next().await?;
            Some((item, attempts))
        }))
    }
}

impl Attempts {
    async fn next(&mut self) -> Option<Result<Vec<LlmEvent>, AskError>> {
        let item = loop {
            if self.pass.is_none()
                && let Some(request) = &self.request
            {
                let model = Arc::clone(&request.model);
                let Ok(pass) = self.waiting().enter(&model.provider_id).await else {
                    return Some(Err(AskError::Outdated));
                };
                self.pass = Some(pass);
            }
            let item = match (self.listen().await, &self.request) {
                (Some(item), _) => item,
                // No output, no failure and no end.
                (None, Some(request)) => {
                    Err(LlmError::unfinished(&request.model.route(), NO_FINISH))
                }
                (None, None) => return None,
            };
            let Some(request) = &self.request else {
                break item;
            };
            let Some(error) = refusal(&item) else {
                if has_output(&item) || item.is_err() {
                    self.accepted();
                    self.request = None;
                }
                break item.map_err(LlmError::without_output);
            };
            let (request, elapsed) = (request.clone(), self.elapsed());
            let asked = error.retry_after_ms.map(Duration::from_millis);
            let fraction = Sources::default().fraction();
            let policy = match error.gets_few_attempts() {
                true => self.provider.retry.with_few_attempts(),
                false => self.provider.retry,
            };
            let next = policy.next(asked, self.retries, elapsed, fraction);
            self.refused(&error, next);
            let wait = match next {
                Retry::After(wait) => wait,
                Retry::TooLate(wait) => break item.map_err(|error| too_late(error, wait)),
                Retry::Never => break item,
            };
            match self.wait(error, &request.model.provider_id, wait).await {
                Ok(true) => self.stream = self.provider.model.stream(request),
                Ok(false) => return Some(Err(AskError::Outdated)),
                // If the store fails here, it also fails to record the refusal. That error states the reason.
                Err(_) => break item,
            }
        };
        if let Some(window) = told_window(&item) {
            self.provider.windows.learn(&self.model, window);
        }
        Some(item.map_err(AskError::Failed))
    }

    fn waiting(&self) -> Waiting {
        let provider = Arc::clone(&self.provider);
        Waiting {
            fence: self.fence.clone(),
            retries: self.retries,
            longest: provider.retry.max_elapsed.saturating_sub(self.elapsed()),
            provider,
        }
    }

    fn accepted(&mut self) {
        if let Some(pass) = self.pass.take() {
            pass.accepted(self.provider.timer.now());
        }
    }

    /// Notes a refusal that may be temporary. A rate limit holds for the whole host.
    fn refused(&mut self, refused: &Refused, next: Retry) {
        let Some(pass) = self.pass.take() else {
            return;
        };
        let (now, is_limit) = (
            self.provider.timer.now(),
            refused.reason == opencode_llm::ErrorKind::RateLimit,
        );
        match next {
            Retry::After(wait) if is_limit => pass.refused(now + wait),
            // The turn fails with the refusal, and others may ask the provider themselves.
            _ if is_limit => drop(pass),
            _ => pass.accepted(now),
        }
    }

    /// Returns the next item. Notifies clients if the provider sends no data for a long time.
    async fn listen(&mut self) -> Option<Item> {
        let mut silent = Duration::ZERO;
        let mut next = self.stream.next();
        if let Some(item) = (&mut next).now_or_never() {
            return item;
        }
        loop {
            match select(next, self.provider.timer.after(SILENCE)).await {
                Either::Left((item, _)) => {
                    if !silent.is_zero() {
                        announce_busy(&self.provider.journal.announcer, self.fence.session(), None);
                    }
                    return item;
                }
                Either::Right(((), waiting)) => {
                    silent += SILENCE;
                    announce_busy(
                        &self.provider.journal.announcer,
                        self.fence.session(),
                        Some(silent),
                    );
                    next = waiting;
                }
            }
        }
    }

    /// Waits before the next request. Records and announces the wait unless it is brief. Returns true
    /// if the fence still holds afterwards, which is also checked before the first request.
    async fn wait(
        &mut self,
        refused: Refused,
        provider: &str,
        wait: Duration,
    ) -> Result<bool, DrainError> {
        self.retries += 1;
        // The timer starts before the announcement, so that the wait ends at the announced time.
        let passed = self.provider.timer.after(wait);
        if refused.gets_few_attempts() {
            passed.await;
            return self.fence.is_current(&self.provider.journal).await;
        }
        let next = after(&self.provider.journal, wait);
        let error = refused.recorded(next, provider, &self.secrets);
        let status = SessionStatus::Retry {
            attempt: self.retries,
            message: error.message.clone(),
            next,
        };
        let retried = Retried {
            attempt: self.retries,
            error,
        };
        let drafts = vec![Draft::new(self.provider.journal.now(), retried)];
        let session = self.fence.session();
        self.provider
            .journal
            .commit(session, drafts, Vec::new())
            .await?;
        let id = &session.info.id;
        self.provider
            .journal
            .announcer
            .announce_status_change(id, status);
        passed.await;
        announce_busy(&self.provider.journal.announcer, session, None);
        self.fence.is_current(&self.provider.journal).await
    }

    fn elapsed(&self) -> Duration {
        let now = self.provider.timer.now();
        now.saturating_duration_since(self.began)
    }
}

/// A request that waits for the rate limit of its provider.
struct Waiting {
    provider: Arc<Provider>,
    fence: Fence,
    retries: u32,
    longest: Duration,
}

impl Waiting {
    /// Waits until the rate limit lets the request go.
    ///
    /// # Errors
    ///
    /// The session changed during the wait.
    async fn enter(self, provider_id: &str) -> Result<Pass, Outdated> {
        let journal = &self.provider.journal;
        let session = self.fence.session();
        let mut has_waited = false;
        let announce = |left| {
            has_waited = true;
            let status = SessionStatus::Retry {
                attempt: self.retries,
                message: format!(
                    "The provider {provider_id} limits its requests; this session waits behind others of the host"
                ),
                next: after(journal, left),
            };
            journal
                .announcer
                .announce_status_change(&session.info.id, status);
        };
        let (limits, timer) = (&self.provider.limits, &*self.provider.timer);
        let entering = limits.enter(provider_id, self.longest, timer, announce);
        let pass = entering.await;
        if has_waited {
            announce_busy(&journal.announcer, session, None);
            // If the store fails here, it also fails to record the turn. That error states the reason.
            if let Ok(false) = self.fence.is_current(journal).await {
                return Err(Outdated);
            }
        }
        Ok(pass)
    }
}

/// The time after this wait.
fn after(journal: &Journal, wait: Duration) -> Millis {
    let millis = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    journal.now().saturating_add(millis)
}

fn announce_busy(announcer: &Announcer, session: &SessionRow, silent: Option<Duration>) {
    let silent_ms = silent.map(|silent| u64::try_from(silent.as_millis()).unwrap_or(u64::MAX));
    let status = SessionStatus::Busy { silent_ms };
    announcer.announce_status_change(&session.info.id, status);
}

/// A refusal that may be temporary.
struct Refused {
    message: String,
    reason: opencode_llm::ErrorKind,
    status: Option<u16>,
    retry_after_ms: Option<u64>,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    /// The answer ended without an end and without output.
    is_unfinished: bool,
}

impl Refused {
    fn of(error: &LlmError) -> Self {
        let http = error.http();
        let headers = http.map(|http| http.response_headers.as_slice());
        let headers = headers.unwrap_or_default().iter();
        let said = headers.filter(|(name, _)| is_limit_header(name));
        Self {
            message: error.to_string(),
            reason: error.kind(),
            status: error.status(),
            retry_after_ms: error.retry_after_ms(),
            headers: said.cloned().collect(),
            body: http.map(|http| http.body.chars().take(MAX_BODY).collect()),
            is_unfinished: error.is_unfinished(),
        }
    }

    /// True if the server failed without mentioning load or a time to wait, or answered with nothing. Such a failure
    /// either passes at once or not at all, so a long wait is not useful.
    fn gets_few_attempts(&self) -> bool {
        let failed = |status: u16| status >= 500 && !matches!(status, 503 | 529);
        let has_failed = self.status.is_some_and(failed) && self.retry_after_ms.is_none();
        has_failed || self.is_unfinished
    }

    /// Returns the refusal as it is recorded, without the secrets of the Location.
    fn recorded(self, next: Millis, provider: &str, secrets: &Redactor) -> RetryError {
        let clean = |mut text: String| {
            secrets.clean(&mut text);
            text
        };
        let headers = self.headers.into_iter();
        let headers: BTreeMap<_, _> = headers.map(|(name, value)| (name, clean(value))).collect();
        let metadata = [
            (RetryError::NEXT, next.to_string()),
            ("providerID", provider.to_owned()),
            ("reason", self.reason.as_str().to_owned()),
        ];
        let metadata = metadata.map(|(name, value)| (name.to_owned(), value));
        RetryError {
            message: clean(self.message),
            status_code: self.status,
            is_retryable: true,
            response_headers: (!headers.is_empty()).then_some(headers),
            response_body: self.body.filter(|body| !body.is_empty()).map(clean),
            metadata: Some(metadata.into()),
        }
    }
}

/// True if a response header states when to retry, or identifies the request.
fn is_limit_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["retry-after", "x-ratelimit-", "anthropic-ratelimit-"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || matches!(name.as_str(), "request-id" | "x-request-id")
}

/// Returns the refusal in an item if it may be temporary and the item contains no output.
fn refusal(item: &Item) -> Option<Refused> {
    match item {
        Err(error) => (error.retryable() || error.is_unfinished()).then(|| Refused::of(error)),
        Ok(events) => {
            let (last, before) = events.split_last()?;
            let LlmEvent::ProviderError {
                message,
                kind,
                retryable: true,
                ..
            } = last
            else {
                return None;
            };
            let is_first = before.iter().all(is_beginning);
            is_first.then(|| Refused {
                message: message.clone(),
                reason: *kind,
                status: None,
                retry_after_ms: None,
                headers: BTreeMap::new(),
                body: None,
                is_unfinished: false,
            })
        }
    }
}

/// Returns the window that a refusal names.
fn told_window(item: &Item) -> Option<u64> {
    match item {
        Ok(events) => events.last()?.told_window(),
        Err(error) => error.told_window(),
    }
}

fn has_output(item: &Item) -> bool {
    let events = item.as_ref().map(Vec::as_slice).unwrap_or_default();
    !events.iter().all(is_beginning)
}

const fn is_beginning(event: &LlmEvent) -> bool {
    matches!(event, LlmEvent::StepStart { .. })
}

fn too_late(error: LlmError, wait: Duration) -> LlmError {
    let seconds = wait.as_millis().div_ceil(1000);
    let sentence = format!(
        "The provider asks to wait {seconds} seconds, which is longer than the option retry.maxElapsedMs allows; prompt again after that"
    );
    error.explained(&sentence)
}
