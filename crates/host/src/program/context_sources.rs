//! Context Sources of the program.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use opencode_protocol::failure::Failure;
use opencode_runtime::{
    CombineError, ContributionError, Observation, ObservedSession, Runtime, SessionSource,
    SessionSourceRegistration, Source, SystemContext,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::calls::ProgramCalls;
use super::registered::Registered;

/// Name of the function in calls.
const FUNCTION: &str = "contextSource";

/// A Context Source, as the program registers it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextSourceRegistration {
    /// The key of the source.
    pub key: String,
    /// True if no Context Epoch may begin without the source.
    pub required: bool,
    /// Maximum time of an observation in milliseconds.
    pub timeout_ms: u64,
}

/// The registered Context Sources of the program.
pub(crate) struct ProgramContextSources {
    calls: ProgramCalls,
    sources: Registered<SessionSourceRegistration>,
}

impl ProgramContextSources {
    pub(crate) fn new(calls: ProgramCalls) -> Self {
        Self {
            calls,
            sources: Registered::default(),
        }
    }

    /// Registers a source for one Location, or for all. Returns its number.
    ///
    /// # Errors
    ///
    /// `InvalidOption` if the key or the directory cannot be used.
    pub(crate) fn register(
        &self,
        runtime: &Runtime,
        source: ContextSourceRegistration,
        directory: Option<&str>,
    ) -> Result<u32, Failure> {
        let registered = self.sources.add(|number| {
            let calls = self.calls.clone();
            let source = Arc::new(ProgramSource {
                number,
                calls,
                source,
            });
            runtime.add_session_source(directory, source)
        });
        registered.map_err(|error| refusal(&error))
    }

    /// Removes a source. Ignores an unknown number.
    pub(crate) fn remove(&self, number: u32) {
        self.sources.remove(number);
    }

    /// Removes all sources.
    pub(crate) fn end(&self) {
        self.sources.clear();
    }
}

fn refusal(error: &ContributionError) -> Failure {
    let option = match error {
        ContributionError::Directory(_) => "location.directory",
        ContributionError::Key(_) => "key",
    };
    Failure::InvalidOption {
        option: option.into(),
        message: error.to_string(),
    }
}

/// A Context Source whose functions are in the program.
struct ProgramSource {
    number: u32,
    calls: ProgramCalls,
    source: ContextSourceRegistration,
}

impl SessionSource for ProgramSource {
    fn key(&self) -> &str {
        &self.source.key
    }

    fn for_session(
        &self,
        session: &ObservedSession<'_>,
        known: Option<&Value>,
    ) -> Result<SystemContext, CombineError> {
        SystemContext::make(SourceOfSession {
            calls: self.calls.clone(),
            source: self.source.clone(),
            input: ObservationInput {
                source: self.number,
                session_id: session.id.to_string(),
                agent: session.agent.to_owned(),
                directory: session.directory.to_owned(),
                previous: known.cloned(),
            },
            texts: OnceLock::new(),
        })
    }
}

/// The input of an observation across the border.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObservationInput {
    source: u32,
    #[serde(rename = "sessionID")]
    session_id: String,
    agent: String,
    directory: String,
    /// The value that the model has.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<Value>,
}

/// The result of an observation across the border.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum ObservationOutput {
    Present(Texts),
    Absent {},
    Unavailable(String),
}

/// A value and its texts. The program renders them with the observation, because the comparison cannot wait for it.
#[derive(Debug, Deserialize)]
struct Texts {
    value: Value,
    baseline: String,
    /// The text for a model that has the previous value. `None` without a valid previous value.
    #[serde(default)]
    update: Option<String>,
    #[serde(default)]
    removal: Option<String>,
}

/// The source for one observation of one session.
struct SourceOfSession {
    calls: ProgramCalls,
    source: ContextSourceRegistration,
    input: ObservationInput,
    /// Set by the observation.
    texts: OnceLock<Texts>,
}

impl SourceOfSession {
    async fn observe(&self) -> Observation {
        let observing = async {
            let mut call = self.calls.begin(FUNCTION, &self.input)?;
            call.result().await
        };
        let limit = Duration::from_millis(self.source.timeout_ms);
        match tokio::time::timeout(limit, observing).await {
            Ok(Ok(ObservationOutput::Present(texts))) => {
                let value = texts.value.clone();
                // A source is observed once.
                let _ = self.texts.set(texts);
                Observation::Present(value)
            }
            Ok(Ok(ObservationOutput::Absent {})) => Observation::Absent,
            Ok(Ok(ObservationOutput::Unavailable(reason))) => Observation::Unavailable(reason),
            Ok(Err(error)) => Observation::Unavailable(error.message),
            Err(_) => {
                let limit = self.source.timeout_ms;
                Observation::Unavailable(format!("it took more than {limit} milliseconds"))
            }
        }
    }

    fn text(&self, of: impl Fn(&Texts) -> Option<&String>) -> Option<String> {
        self.texts.get().and_then(of).cloned()
    }
}

impl Source for SourceOfSession {
    fn key(&self) -> &str {
        &self.source.key
    }

    fn is_required(&self) -> bool {
        self.source.required
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        Box::pin(self.observe())
    }

    /// Accepts the observed value, and the previous value if the program has an update for it.
    fn is_valid(&self, value: &Value) -> bool {
        self.texts.get().is_some_and(|texts| {
            let is_previous = self.input.previous.as_ref() == Some(value);
            texts.value == *value || (is_previous && texts.update.is_some())
        })
    }

    fn baseline(&self, _: &Value) -> String {
        self.text(|texts| Some(&texts.baseline)).unwrap_or_default()
    }

    fn update(&self, _: &Value, _: &Value) -> String {
        self.text(|texts| texts.update.as_ref()).unwrap_or_default()
    }

    fn removed(&self, _: &Value) -> Option<String> {
        self.text(|texts| texts.removal.as_ref())
    }
}
