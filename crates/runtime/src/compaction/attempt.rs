//! One attempt at a checkpoint: the request for a summary, and its records.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use opencode_llm::{FinishReason, LlmEvent};
use opencode_location::secret::Redactor;
use opencode_schema::Record;
use opencode_schema::event::{CompactionDelta, CompactionEnded, CompactionStarted};
use opencode_schema::id::MessageID;
use opencode_schema::message::{CompactionReason, ErrorCause, ErrorKind};
use opencode_store::{Abort, Draft, SessionRow};
use tokio_util::sync::CancellationToken;

use super::parts::{Part, Parts};
use super::selection::Selection;
use super::summariser::Summariser;
use crate::budgets::{Budgets, UsageMeter};
use crate::error::DrainError;
use crate::history::estimate::Budget;
use crate::hooks::{Hooks, PreparedCompaction};
use crate::journal::{Journal, append};
use crate::provider::{AskError, Fence, Provider, cause_of, kind_of};
use crate::timer::Timer;

/// Time limit for one summary. Local models may read for minutes before they write.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Time limit for the summaries of all parts.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Maximum bytes per token of a summary. The rest of a longer summary is not read. Models that respect
/// the limit of their answer write about four bytes per token.
const MAX_BYTES_PER_TOKEN: u64 = 8;

/// Replaces the rest of a summary that is too long.
const CUT: &str = "\n[truncated]";

const LIMIT: &str = "the model reached its limit of output tokens before it finished the summary; a larger limit.output or a model that thinks less may help";
const FILTERED: &str = "the provider withheld a part of the summary";
const BLANK: &str = "the model answered with nothing";
const OUTDATED: &str =
    "the Location, agent or model of the session changed while the provider had to be waited for";
const NO_FINISH: &str = "the answer ended without saying that it was done";

/// The inputs of a checkpoint.
pub(crate) struct CompactionInput {
    pub(crate) session: SessionRow,
    /// The state of the session that must still hold when the request is dispatched.
    pub(crate) fence: Fence,
    /// The budget of the session's requests.
    pub(crate) budget: Budget,
    /// The model that writes the summary, or the reason that it cannot be used.
    pub(crate) summariser: Result<Summariser, String>,
    /// Number of tokens of the newest history that stay verbatim.
    pub(crate) keep: u64,
    /// Removes secrets before text is recorded.
    pub(crate) secrets: Redactor,
    /// True if the provider refused the request of the turn because of its size, or maybe because of it.
    pub(crate) is_after_refusal: bool,
}

/// The result of an attempt.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// There is a new checkpoint.
    Completed,
    /// There is no history that a checkpoint could replace. Nothing was recorded.
    Nothing,
    /// The attempt failed, and the history is unchanged.
    Failed(Failure),
    /// A caller interrupted it. The history is unchanged.
    Interrupted,
    /// The session has another Location, agent or model than the checkpoint was prepared for. Nothing was
    /// recorded.
    Outdated,
}

/// The reason that there is no checkpoint.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) cause: ErrorCause,
}

/// The reason that there is no summary.
enum Unfinished {
    Failed(Failure),
    /// The provider refused the request because of its size, before it produced output.
    Refused(Failure),
    Interrupted,
}

impl Failure {
    /// Returns a failure that a retry does not fix.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            cause: ErrorCause {
                kind,
                status: None,
                retryable: false,
                retry_after_ms: None,
                provider_id: None,
            },
        }
    }
}

impl From<Failure> for Unfinished {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The checkpoint for which the model is asked.
#[derive(Clone, Copy)]
struct Asked<'a> {
    input: &'a CompactionInput,
    summariser: &'a Summariser,
    message_id: &'a MessageID,
}

/// Makes checkpoints of Session Histories.
pub(crate) struct Compactor {
    pub(crate) journal: Arc<Journal>,
    pub(crate) provider: Arc<Provider>,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) budgets: Arc<Budgets>,
}

impl Compactor {
    /// Selects the part of the session's history that a checkpoint would replace.
    pub(crate) async fn select(
        &self,
        session: &SessionRow,
        keep: u64,
    ) -> Result<Option<Selection>, DrainError> {
        let key = session.key;
        let selected = self.journal.store.read(move |reader| {
            let history = reader.history(key)?;
            Ok(Selection::of(history.iter().map(|(_, it)| it), keep))
        });
        Ok(selected.await?)
    }

    /// Selects history and makes a checkpoint of it.
    pub(crate) async fn compact(
        &self,
        input: &CompactionInput,
        reason: CompactionReason,
        stopped: &CancellationToken,
    ) -> Result<Outcome, DrainError> {
        let selected = self.select(&input.session, input.keep);
        match stopped.run_until_cancelled(selected).await.transpose()? {
            None => Ok(Outcome::Interrupted),
            Some(None) => Ok(Outcome::Nothing),
            Some(Some(selection)) => self.checkpoint(input, selection, reason, stopped).await,
        }
    }

    /// Asks the model for a summary and records it. Writes are always awaited, so that no work is left
    /// after an interruption.
    pub(crate) async fn checkpoint(
        &self,
        input: &CompactionInput,
        selection: Selection,
        reason: CompactionReason,
        stopped: &CancellationToken,
    ) -> Result<Outcome, DrainError> {
        let summariser = match &input.summariser {
            Ok(summariser) => summariser,
            Err(message) => {
                let failure = Failure::new(ErrorKind::Unknown, message);
                return Ok(Outcome::Failed(failure));
            }
        };
        let info = &input.session.info;
        let hooked = self.hooks.compaction(PreparedCompaction {
            session_id: info.id.clone(),
            directory: info.location.directory.clone(),
            reason,
        });
        let Some(instructions) = stopped.run_until_cancelled(hooked).await else {
            return Ok(Outcome::Interrupted);
        };
        let mut parts = match Parts::of(selection, summariser.budget(), instructions) {
            Ok(parts) => parts,
            Err(failure) => return Ok(Outcome::Failed(failure)),
        };
        if stopped.is_cancelled() {
            return Ok(Outcome::Interrupted);
        }
        let message_id = MessageID::generate(&self.journal.ids);
        let started = CompactionStarted {
            message_id: message_id.clone(),
            reason,
        };
        if !self.begin(input, started).await? {
            return Ok(Outcome::Outdated);
        }
        let mut meter = UsageMeter::new(Arc::clone(&self.budgets), summariser.cost.clone());
        let asked = Asked {
            input,
            summariser,
            message_id: &message_id,
        };
        let summarised = self.summarise(asked, &mut parts, &mut meter, stopped);
        match summarised.await {
            Ok(mut text) => {
                input.secrets.clean(&mut text);
                let ended = CompactionEnded {
                    message_id,
                    reason,
                    text,
                    recent: parts.into_recent(),
                };
                self.record(input, ended, meter.metadata()).await?;
                Ok(Outcome::Completed)
            }
            Err(Unfinished::Interrupted) => Ok(Outcome::Interrupted),
            Err(Unfinished::Failed(mut failure) | Unfinished::Refused(mut failure)) => {
                failure.cause.provider_id = Some(summariser.model.provider_id.clone());
                Ok(Outcome::Failed(failure))
            }
        }
    }

    /// Records the beginning, in a transaction that checks the fence. A caller that moves the session
    /// afterwards finds a compaction that has begun.
    async fn begin(
        &self,
        input: &CompactionInput,
        started: CompactionStarted,
    ) -> Result<bool, DrainError> {
        let (fence, now) = (input.fence.clone(), self.journal.now());
        let begun = self.journal.store.write(move |transaction| {
            let holds = fence.holds(&transaction.reader())?;
            if holds {
                append(transaction, fence.session(), now, started)?;
            }
            Ok::<bool, Abort<DrainError>>(holds)
        });
        Ok(begun.await?)
    }

    async fn record(
        &self,
        input: &CompactionInput,
        ended: CompactionEnded,
        metadata: Option<Record>,
    ) -> Result<(), DrainError> {
        let draft = Draft {
            metadata,
            ..Draft::new(self.journal.now(), ended)
        };
        self.journal
            .commit(&input.session, vec![draft], Vec::new())
            .await
    }

    /// Asks for the summaries of the parts in order, each merged with the previous one. The last
    /// summary covers everything.
    async fn summarise(
        &self,
        asked: Asked<'_>,
        parts: &mut Parts,
        meter: &mut UsageMeter,
        stopped: &CancellationToken,
    ) -> Result<String, Unfinished> {
        let mut total_timeout = self.timer.after(TOTAL_TIMEOUT);
        loop {
            let part = parts.next();
            let summary = tokio::select! {
                biased;
                () = stopped.cancelled() => return Err(Unfinished::Interrupted),
                () = &mut total_timeout => return Err(too_slow(TOTAL_TIMEOUT).into()),
                () = self.timer.after(TIMEOUT) => return Err(too_slow(TIMEOUT).into()),
                summary = self.summary(asked, &part, meter) => summary,
            };
            match summary {
                Ok(summary) if part.is_last => return Ok(summary),
                Ok(summary) => parts.merge(&part, summary),
                Err(Unfinished::Refused(_)) if parts.refuse(&part) => {}
                Err(unfinished) => return Err(unfinished),
            }
        }
    }

    /// Reads the answer to its end, or up to the size limit of a summary. Announces the text while it
    /// arrives if it is the last part, because only that summary will be recorded.
    async fn summary(
        &self,
        asked: Asked<'_>,
        part: &Part,
        meter: &mut UsageMeter,
    ) -> Result<String, Unfinished> {
        let Asked {
            input, summariser, ..
        } = asked;
        let mut stream = self.provider.ask(
            summariser.request(part),
            input.fence.clone(),
            input.secrets.clone(),
        );
        let most = part.answer.saturating_mul(MAX_BYTES_PER_TOKEN);
        let mut summary = Summary::new(usize::try_from(most).unwrap_or(usize::MAX));
        loop {
            // A stream that always has data ready must not starve other tasks on its thread.
            tokio::task::coop::consume_budget().await;
            let events = match stream.next().await {
                Some(Ok(events)) => events,
                Some(Err(AskError::Outdated)) => {
                    return Err(Failure::new(ErrorKind::Unknown, OUTDATED).into());
                }
                Some(Err(AskError::Failed(error))) => {
                    let is_size = input.is_after_refusal && error.may_be_overflow();
                    let cause = cause_of(&error, &summariser.model.provider_id);
                    let message = error.to_string();
                    return Err(summary.broken(Failure { message, cause }, is_size));
                }
                None => {
                    let whole = summary.whole()?;
                    if !part.is_last {
                        // A client that watches for signs of life learns that the compaction advances.
                        self.announce_summary(input, asked.message_id, String::new());
                    }
                    return Ok(whole);
                }
            };
            for event in events {
                if let LlmEvent::StepFinish { usage, .. } = &event {
                    meter.add(usage.as_ref());
                }
                let is_size = input.is_after_refusal && event.may_be_overflow();
                let added = summary.take(event);
                let added = added.map_err(|failure| summary.broken(failure, is_size))?;
                if let Some(text) = added.filter(|_| part.is_last) {
                    self.announce_summary(input, asked.message_id, text);
                }
                if summary.is_cut {
                    return Ok(summary.whole()?);
                }
            }
        }
    }

    fn announce_summary(&self, input: &CompactionInput, message_id: &MessageID, text: String) {
        let info = &input.session.info;
        let delta = CompactionDelta {
            message_id: message_id.clone(),
            text,
        };
        self.journal
            .announcer
            .announce(&info.id, Some(&info.location), &delta.into());
    }
}

fn too_slow(limit: Duration) -> Failure {
    let seconds = limit.as_secs();
    let message = format!("the model did not finish its summary within {seconds} seconds");
    Failure::new(ErrorKind::Timeout, message)
}

/// A summary while it arrives.
struct Summary {
    text: String,
    most: usize,
    /// The model reported that it is done.
    is_done: bool,
    /// The summary reached its maximum size.
    is_cut: bool,
}

impl Summary {
    const fn new(most: usize) -> Self {
        Self {
            text: String::new(),
            most,
            is_done: false,
            is_cut: false,
        }
    }

    /// Returns the text that an event adds.
    fn take(&mut self, event: LlmEvent) -> Result<Option<String>, Failure> {
        match event {
            LlmEvent::TextDelta { text, .. } => return Ok(self.add(text)),
            LlmEvent::StepFinish { reason, .. } => {
                // A summary that lacks its end would replace the history for good.
                match reason {
                    FinishReason::Length => {
                        return Err(Failure::new(ErrorKind::OutputLength, LIMIT));
                    }
                    FinishReason::ContentFilter => {
                        return Err(Failure::new(ErrorKind::ContentPolicy, FILTERED));
                    }
                    _ => self.is_done = true,
                }
            }
            LlmEvent::ProviderError {
                message,
                kind,
                retryable,
                ..
            } => {
                let mut failure = Failure::new(kind_of(kind), message);
                failure.cause.retryable = retryable;
                return Err(failure);
            }
            _ => {}
        }
        Ok(None)
    }

    /// Classifies a failure. A request that was refused because of its size may be made smaller. `is_size` is true if
    /// the size may be the cause of a refusal in unknown words.
    fn broken(&self, failure: Failure, is_size: bool) -> Unfinished {
        let is_size = is_size || failure.cause.kind == ErrorKind::ContextOverflow;
        if self.text.is_empty() && is_size {
            Unfinished::Refused(failure)
        } else {
            Unfinished::Failed(failure)
        }
    }

    fn add(&mut self, mut text: String) -> Option<String> {
        let room = self.most - self.text.len();
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            text.push_str(CUT);
            self.is_cut = true;
        }
        self.text.push_str(&text);
        (!text.is_empty()).then_some(text)
    }

    fn whole(self) -> Result<String, Failure> {
        let problem = if !self.is_done && !self.is_cut {
            NO_FINISH
        } else if self.text.trim().is_empty() {
            BLANK
        } else {
            return Ok(self.text);
        };
        Err(Failure::new(ErrorKind::InvalidOutput, problem))
    }
}
