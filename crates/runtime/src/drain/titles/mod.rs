//! Titles of sessions that the agent `title` writes.
//!
//! A title is requested once, in the background, after the first finished answer of a session that no other session
//! created and that still has its default title. The history is the record of the attempt: after another answer there
//! is no further one, in this host or in a later one. A failure leaves the default title.

mod text;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use opencode_llm::{FinishReason, HttpOverlay, LlmEvent, LlmRequest, Message, Part, SystemPart};
use opencode_location::catalogue::{Cost, ResolvedModelOutcome, request_domains};
use opencode_location::location::Location;
use opencode_schema::Record;
use opencode_schema::event::SessionUpdated;
use opencode_schema::id::SessionID;
use opencode_schema::message::SessionMessage;
use opencode_schema::session::{SessionInfo, is_default_title};
use opencode_store::{Abort, Draft, Order, SessionRow};
use tokio_util::sync::CancellationToken;

use super::Runner;
use super::request::headers;
use super::sample::Sampled;
use super::services::Services;
use crate::budgets::UsageMeter;
use crate::error::DrainError;
use crate::journal::append_draft;

/// The agent that supplies text, model and request settings.
const AGENT: &str = "title";

/// Time limit for a title.
const TIMEOUT: Duration = Duration::from_secs(60);

const CUT: &str = "the answer is cut";

/// Maximum number of bytes of an answer that are read.
const MAX_ANSWER: usize = 16 * 1024;

/// Maximum number and size of the messages in which the first answer is searched.
const MAX_MESSAGES: usize = 200;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Decides which sessions get a title.
#[derive(Debug, Clone)]
pub(crate) struct Titles {
    /// The option of the host. Without it, sessions get titles if the configuration names a model for them.
    pub(crate) wanted: Option<bool>,
    /// Ends the requests.
    pub(crate) closing: CancellationToken,
}

/// The reason why a session keeps its title.
#[derive(Debug, thiserror::Error)]
enum Untitled {
    #[error(transparent)]
    Drain(#[from] DrainError),
    #[error("{0}")]
    Model(String),
    #[error("the model did not answer within {} seconds", TIMEOUT.as_secs())]
    TooSlow,
    #[error("the answer has no line with text")]
    Blank,
}

impl Runner {
    /// Begins to write a title in the background if the session needs one. Never waits.
    pub(super) fn begin_title(&self) {
        let titles = &self.services.titles;
        let Some(location) = self.location.clone() else {
            return;
        };
        if titles.wanted == Some(false) {
            return;
        }
        let (services, session) = (Arc::clone(&self.services), self.session.clone());
        let closing = titles.closing.clone();
        opencode_log::spawn_tracked(&self.shared.tasks, async move {
            let titled = services.write_title(&session, &location.directory);
            let titled = closing.run_until_cancelled(titled);
            if let Some(Err(error)) = titled.await {
                tracing::warn!(session_id = %session, %error, "the session keeps its default title");
            }
        });
    }
}

impl Services {
    async fn write_title(&self, id: &SessionID, directory: &str) -> Result<(), Untitled> {
        let location = self.locations.get(directory).await;
        let location = location.map_err(|error| Untitled::Model(error.to_string()))?;
        if !self.titles.are_wanted(&location) {
            return Ok(());
        }
        let Some((session, question)) = self.untitled(id).await? else {
            return Ok(());
        };
        let secrets = location.secrets.clone();
        let tolerates = self.unknown_agents.are_tolerated(id);
        let sampled = Sampled::of(&session, Arc::clone(&location), tolerates, None);
        let (request, cost) = request(&session.info, &sampled, question)?;
        let mut meter = UsageMeter::new(Arc::clone(&self.budgets), cost);
        let answer = tokio::select! {
            biased;
            () = self.provider.timer.after(TIMEOUT) => return Err(Untitled::TooSlow),
            answer = self.answer(request, &mut meter) => answer,
        };
        let mut answer = answer.map_err(|mut reason| {
            secrets.clean(&mut reason);
            Untitled::Model(reason)
        })?;
        secrets.clean(&mut answer);
        let title = text::title(&answer).ok_or(Untitled::Blank)?;
        Ok(self.set_title(id, title, meter.metadata()).await?)
    }

    /// Returns the session and the question, if it is time to ask.
    async fn untitled(&self, id: &SessionID) -> Result<Option<(SessionRow, String)>, DrainError> {
        let id = id.clone();
        let read = self.journal.store.read(move |reader| {
            let Some(session) = reader.session(&id)?.filter(|it| needs_title(&it.info)) else {
                return Ok(None);
            };
            let order = Order::Ascending;
            let messages =
                reader.messages_within(session.key, order, None, MAX_MESSAGES, MAX_BYTES)?;
            let messages: Vec<SessionMessage> = messages.into_iter().map(|(_, it)| it).collect();
            Ok(text::question(&messages).map(|question| (session, question)))
        });
        Ok(read.await?)
    }

    /// Sends the request once. A title is not worth a wait for a provider that refuses it.
    async fn answer(&self, request: LlmRequest, meter: &mut UsageMeter) -> Result<String, String> {
        let mut stream = self.provider.model.stream(request);
        let mut answer = String::new();
        let mut end = None;
        while let Some(events) = stream.next().await {
            for event in events.map_err(|error| error.to_string())? {
                match event {
                    LlmEvent::TextDelta { text, .. } => answer += &text,
                    LlmEvent::StepFinish { usage, reason, .. } => {
                        meter.add(usage.as_ref());
                        end = Some(reason);
                    }
                    LlmEvent::ProviderError { message, .. } => return Err(message),
                    _ => {}
                }
            }
            if answer.len() > MAX_ANSWER {
                return Ok(answer);
            }
        }
        match end {
            Some(FinishReason::Length | FinishReason::ContentFilter) | None => Err(CUT.to_owned()),
            Some(_) => Ok(answer),
        }
    }

    /// Sets the title, unless a caller set one meanwhile.
    async fn set_title(
        &self,
        id: &SessionID,
        title: String,
        metadata: Option<Record>,
    ) -> Result<(), DrainError> {
        let (id, now) = (id.clone(), self.journal.now());
        let set = self.journal.store.write(move |transaction| {
            let session = transaction.reader().session(&id)?;
            let Some(session) = session.filter(|it| needs_title(&it.info)) else {
                return Ok(());
            };
            let mut info = transaction.reader().session_record(&session)?;
            info.title = title;
            info.time.updated = now;
            let draft = Draft {
                metadata,
                ..Draft::new(now, SessionUpdated { info })
            };
            append_draft(transaction, &session, draft)?;
            Ok::<(), Abort<DrainError>>(())
        });
        Ok(set.await?)
    }
}

impl Titles {
    /// True if sessions of the Location get titles. Each title is a request that costs money, so without an option of
    /// the host the configuration must name a model for titles.
    fn are_wanted(&self, location: &Location) -> bool {
        let names_model = || {
            let agent = location.agents.get(AGENT);
            agent.is_some_and(|agent| agent.model.is_some())
                || location.configuration.small_model().is_some()
        };
        self.wanted.unwrap_or_else(names_model) && location.agents.get(AGENT).is_some()
    }
}

fn needs_title(info: &SessionInfo) -> bool {
    info.parent_id.is_none() && is_default_title(&info.title)
}

fn request(
    session: &SessionInfo,
    sampled: &Sampled,
    question: String,
) -> Result<(LlmRequest, Cost), Untitled> {
    let agent = sampled.location.agents.get(AGENT);
    let ResolvedModelOutcome { model, cost, .. } = model(sampled)?;
    let settings = agent.map(|agent| request_domains(&agent.request.body, model.protocol));
    let settings = settings.unwrap_or_default();
    let text = agent.and_then(|agent| agent.system.as_deref());
    let mut request = LlmRequest::new(model);
    request.system = text.map(SystemPart::new).into_iter().collect();
    request.messages = Arc::new(vec![Message::user([Part::text(question)])]);
    request.generation = settings.generation;
    request.provider_options = settings.provider_options;
    request.is_by_agent = true;
    request.http = HttpOverlay {
        headers: headers(session, agent),
        body: settings.body,
        ..HttpOverlay::default()
    };
    Ok((request, cost))
}

/// Returns the model of the agent, else the small model of the configuration, else the model of the session. A model
/// that cannot be used is never replaced by another one.
fn model(sampled: &Sampled) -> Result<ResolvedModelOutcome, Untitled> {
    let agent = sampled.location.agents.get(AGENT);
    let named = agent.and_then(|agent| agent.model.as_ref());
    let named = named.or_else(|| sampled.location.configuration.small_model());
    let resolved = match named {
        Some(named) => {
            let resolved = sampled.location.catalogue.resolve(Some(named));
            resolved.map_err(|error| error.to_string())
        }
        None => sampled.resolve().map_err(|error| error.to_string()),
    };
    resolved.map_err(Untitled::Model)
}
