//! Tools, their context, and their results.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::future::BoxFuture;
use opencode_schema::{message::ToolContent, question::QuestionInfo};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::contract::folders::FileScope;
use crate::failure::ToolFailure;
use crate::ports::permission::{PermissionRequest, Permissions};
use crate::ports::progress::Progress;
use crate::ports::question::QuestionRequest;
use crate::ports::source::CallSource;
use crate::ports::turn::TurnPorts;

/// A tool that a model can call. It has no name: the name is its key in the registry.
///
/// Built-in tools implement [`TypedTool`](crate::TypedTool) instead, which decodes their input.
pub trait Tool: Send + Sync + 'static {
    /// Returns the text that tells the model when and how to use the tool. Called once, at
    /// registration.
    fn description(&self) -> String;

    /// Returns the JSON Schema of the input. Called once, at registration.
    fn input_schema(&self) -> Value;

    /// Returns the action whose rules decide if the tool is advertised; `None` means the registered
    /// name. It never authorizes a call.
    fn permission(&self) -> Option<&str> {
        None
    }

    /// True if the list of agents that accept tasks is appended to the description. Called once, at
    /// registration.
    fn lists_subagents(&self) -> bool {
        false
    }

    /// True if the tool can find out the effect of a call that an earlier process began. Called once, at
    /// registration.
    fn recovers(&self) -> bool {
        false
    }

    /// Finds out the effect of a call that an earlier process began and did not settle.
    fn recover(&self, _input: Value, _context: ToolContext) -> BoxFuture<'_, Recovery> {
        Box::pin(async { Recovery::Unknown })
    }

    /// Runs one call. `ports` are those of its turn. If the call is interrupted, the future is dropped.
    /// Work that must outlive it observes `context.cancel`.
    fn run(
        &self,
        input: Value,
        context: ToolContext,
        ports: &TurnPorts,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>>;
}

/// The effect of a call that an earlier process began and did not settle.
#[derive(Clone, Debug, PartialEq)]
pub enum Recovery {
    /// The call has its full effect, and this is its result.
    Done(ToolOutput),
    /// The call has no effect. It may run.
    NotStarted,
    /// The effect is unknown. The call fails as interrupted.
    Unknown,
}

/// The context of one call, the same for every tool. The [`Port`](crate::Port) of a tool has the rest.
#[derive(Clone)]
pub struct ToolContext {
    /// The origin of the call.
    pub source: CallSource,
    /// The place of file tools.
    pub files: Arc<FileScope>,
    /// Cancelled when the call is interrupted.
    pub cancel: CancellationToken,
    /// Records if the call has begun a change. Every call has its own.
    pub commitment: Commitment,
    /// Decides about the actions of the call.
    pub permissions: Arc<dyn Permissions>,
    /// Receives the progress of the call.
    pub progress: Arc<dyn Progress>,
}

/// Records if a call has begun to change something. From then on it runs to its end, because a
/// completed change must not be reported as interrupted.
#[derive(Clone, Debug, Default)]
pub struct Commitment(Arc<AtomicBool>);

impl Commitment {
    pub(crate) fn is_made(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl ToolContext {
    /// Returns a request for this call with nothing to save and no metadata.
    #[must_use]
    pub fn permission_request(&self, action: &str, resources: Vec<String>) -> PermissionRequest {
        PermissionRequest {
            source: self.source.clone(),
            action: action.to_owned(),
            tool: None,
            resources,
            other_names: BTreeMap::new(),
            given_only: BTreeSet::new(),
            guarded: BTreeMap::new(),
            save: Vec::new(),
            metadata: Map::new(),
        }
    }

    /// Returns a request that asks the user these questions.
    #[must_use]
    pub fn question_request(&self, questions: Vec<QuestionInfo>) -> QuestionRequest {
        QuestionRequest {
            source: self.source.clone(),
            questions,
        }
    }

    /// Declares that the call changes something from here on. Fails if the call is interrupted already.
    /// An interruption then waits for the end of the call, so the remaining work must be short or
    /// observe `cancel`.
    pub fn begin_change(&self) -> Result<(), ToolFailure> {
        if self.cancel.is_cancelled() {
            return Err(ToolFailure::Interrupted);
        }
        self.commitment.0.store(true, Ordering::Release);
        Ok(())
    }

    /// True if the rules deny the action for this resource without a question.
    pub async fn denies(&self, action: &str, resource: &str) -> bool {
        let request = self.permission_request(action, vec![resource.to_owned()]);
        self.permissions.denies(request).await
    }

    /// Requests a permission and waits for it. A refusal becomes the failure `refused`, the tool's
    /// generic text.
    pub async fn assert(
        &self,
        request: PermissionRequest,
        refused: &str,
    ) -> Result<(), ToolFailure> {
        let answer = self.permissions.assert(request).await;
        answer.map_err(|error| error.into_failure(refused))
    }
}

/// The result of a successful call, before its size is limited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// The value for programs. A value that is not an object is stored as `{"value": ...}`.
    pub structured: Value,
    /// The content for the model. If it is empty, the model gets the structured value.
    pub content: Vec<ToolContent>,
    /// Files that the tool stores itself.
    pub output_paths: Vec<String>,
    /// Directories below the Location in which the call read a file, relative to the Location, with `/`
    /// between the names. Instruction files in these directories apply to an agent that reads there.
    pub explored: Vec<String>,
}

impl ToolOutput {
    /// Returns an output with the serialized `value` as structured value and no separate content for
    /// the model.
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

    /// Returns the same output with content for the model.
    #[must_use]
    pub fn with_content(mut self, content: Vec<ToolContent>) -> Self {
        self.content = content;
        self
    }
}
