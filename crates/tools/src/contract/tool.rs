//! What a tool is, what it is given, and what it gives back.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::future::BoxFuture;
use opencode_location::config::ImageLimits;
use opencode_location::secret::Redactor;
use opencode_schema::{
    id::{MessageID, SessionID},
    message::ToolContent,
    question::{QuestionAnswer, QuestionInfo, QuestionTool},
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::bounding::OutputLimits;
use crate::failure::ToolFailure;
use crate::ports::permission::{PermissionRequest, PermissionSource, Permissions};
use crate::ports::question::{QuestionRequest, Questions};
use crate::ports::search::SearchServices;
use crate::ports::shell::Shell;
use crate::ports::skill::Skills;
use crate::ports::task::Tasks;
use crate::ports::todo::Todos;
use crate::ports::web::Web;

/// Something a model can call. It has no name: the name is the key it is registered under.
///
/// Built-ins implement [`TypedTool`](crate::TypedTool) instead and are given their input decoded.
pub trait Tool: Send + Sync + 'static {
    /// The text that tells the model when and how to use it. Asked once, at registration.
    fn description(&self) -> String;

    /// The JSON Schema of the input. Asked once, at registration.
    fn input_schema(&self) -> Value;

    /// The action whose rules decide whether the tool is shown at all; the registered name unless
    /// the tool names another. It never authorises a call.
    fn permission(&self) -> Option<&str> {
        None
    }

    /// Whether the description is to go on with the agents that take tasks. Asked once, at
    /// registration.
    fn lists_subagents(&self) -> bool {
        false
    }

    /// Carries out one call. When the call is interrupted the future is dropped; work that has to
    /// outlive it watches `context.cancel`.
    fn run(
        &self,
        input: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>>;
}

/// The circumstances of one call.
#[derive(Clone)]
pub struct ToolContext {
    /// The session the call belongs to.
    pub session_id: SessionID,
    /// The agent of the Provider Turn that issued the call; it never changes afterwards.
    pub agent: String,
    /// The assistant message that holds the call.
    pub assistant_message_id: MessageID,
    /// The provider's name for the call. A later message may use it again.
    pub call_id: String,
    /// The directory of the Location, absolute.
    pub directory: Arc<Path>,
    /// Fires when the call is interrupted.
    pub cancel: CancellationToken,
    /// Where Managed Tool Output Files are kept. Tools read there and change nothing.
    pub managed_output: Arc<Path>,
    /// How much of the settlement the model is sent.
    pub output_limits: OutputLimits,
    /// How large an image the model is shown.
    pub image_limits: ImageLimits,
    /// Who decides what the call may do.
    pub permissions: Arc<dyn Permissions>,
    /// Who answers what the call asks.
    pub questions: Arc<dyn Questions>,
    /// Who knows the skills that the agent may load.
    pub skills: Arc<dyn Skills>,
    /// What commands run in.
    pub shell: Arc<Shell>,
    /// Removes secrets from what the call gives back.
    pub secrets: Redactor,
    /// Who runs the tasks that the call gives to other agents.
    pub tasks: Arc<dyn Tasks>,
    /// Who keeps the list of what is to be done.
    pub todos: Arc<dyn Todos>,
    /// The way to servers of the web.
    pub web: Arc<dyn Web>,
    /// The services that search the web.
    pub search: Arc<SearchServices>,
    /// Whether the call can still be given up. Every call has its own.
    pub commitment: Commitment,
}

/// Whether a call has begun to change something. From then on it is carried to its end: to call a
/// change interrupted that was made would be a lie.
#[derive(Clone, Debug, Default)]
pub struct Commitment(Arc<AtomicBool>);

impl Commitment {
    pub(crate) fn is_made(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl ToolContext {
    /// A request for this call with nothing to save and no metadata.
    #[must_use]
    pub fn permission_request(&self, action: &str, resources: Vec<String>) -> PermissionRequest {
        PermissionRequest {
            session_id: self.session_id.clone(),
            agent: self.agent.clone(),
            source: PermissionSource {
                message_id: self.assistant_message_id.clone(),
                call_id: self.call_id.clone(),
            },
            action: action.to_owned(),
            resources,
            save: Vec::new(),
            metadata: Map::new(),
        }
    }

    /// Asks people and waits for their answers, one list of labels for each question. Where nobody
    /// is there to answer, that becomes the failure `refused`.
    pub async fn ask(
        &self,
        questions: Vec<QuestionInfo>,
        refused: &str,
    ) -> Result<Vec<QuestionAnswer>, ToolFailure> {
        let answers = self.questions.ask(QuestionRequest {
            session_id: self.session_id.clone(),
            source: QuestionTool {
                message_id: self.assistant_message_id.clone(),
                call_id: self.call_id.clone(),
            },
            questions,
        });
        answers.await.map_err(|error| error.into_failure(refused))
    }

    /// Says that the call changes something from here on, unless it is interrupted already. An
    /// interruption waits for its end then, so what follows is short, or watches `cancel`.
    pub fn begin_change(&self) -> Result<(), ToolFailure> {
        if self.cancel.is_cancelled() {
            return Err(ToolFailure::Interrupted);
        }
        self.commitment.0.store(true, Ordering::Release);
        Ok(())
    }

    /// Asks and waits. A refusal becomes the failure `refused`, which is the tool's generic text.
    pub async fn assert(
        &self,
        request: PermissionRequest,
        refused: &str,
    ) -> Result<(), ToolFailure> {
        let answer = self.permissions.assert(request).await;
        answer.map_err(|error| error.into_failure(refused))
    }
}

/// What a successful call gives back, before it is bounded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// The value programs read. Anything but an object is stored as `{"value": ...}`.
    pub structured: Value,
    /// What the model reads; empty means the structured value itself.
    pub content: Vec<ToolContent>,
    /// Files the tool keeps on its own account.
    pub output_paths: Vec<String>,
    /// Directories below the Location in which the call read a file, relative to it with `/` between
    /// the names. Instructions that lie there concern whoever reads there.
    pub explored: Vec<String>,
}

impl ToolOutput {
    /// An output whose structured value is the serialised `value`, with nothing special for the
    /// model.
    pub fn encode(value: &impl Serialize) -> Result<Self, ToolFailure> {
        let structured = serde_json::to_value(value).map_err(|error| {
            ToolFailure::new(format!(
                "Tool returned an invalid value for its output schema: {error}"
            ))
        })?;
        Ok(Self {
            structured,
            ..Self::default()
        })
    }

    /// The same output with parts for the model.
    #[must_use]
    pub fn with_content(mut self, content: Vec<ToolContent>) -> Self {
        self.content = content;
        self
    }
}
