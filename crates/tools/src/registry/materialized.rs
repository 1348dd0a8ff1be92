//! The tools of one Provider Turn, and the processing of each call from arguments to settlement.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use serde_json::Value;
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use crate::contract::hooks::CallHooks;
use crate::contract::tool::{Commitment, Recovery, Tool, ToolContext, ToolOutput};
use crate::contract::turn::TurnContext;
use crate::failure::ToolFailure;
use crate::output::managed_output::ManagedOutput;
use crate::output::settlement::Settlement;
use crate::ports::permission::PermissionRequest;
use crate::ports::turn::TurnPorts;
use crate::registry::choices;
use crate::registry::{Entry, Scopes, ToolDefinition};

/// Time in which a call must react to its interruption. After it the call is abandoned.
const GRACE: Duration = Duration::from_millis(100);

/// Additional time for a call that has begun to change something.
const CHANGE_GRACE: Duration = Duration::from_secs(10);

/// A call from the provider.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The provider's id for the call.
    pub id: String,
    /// The called name. A tool with this name may not exist.
    pub name: String,
    /// The arguments.
    pub input: Value,
    /// The history of the call.
    pub kind: CallKind,
    /// The reason why the call cannot run, if the model made a mistake. The model reads it.
    pub problem: Option<String>,
}

/// The history of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// The model makes it.
    New,
    /// The model repeats it, so that the user must permit it before it runs.
    Repeated,
    /// An earlier process began it and did not settle it. The tool recovers it.
    Abandoned,
}

impl ToolCall {
    /// Returns the request to run a repeated call.
    fn repetition(&self, context: &ToolContext) -> PermissionRequest {
        let metadata = [
            ("tool".to_owned(), self.name.clone().into()),
            ("input".to_owned(), self.input.clone()),
        ];
        PermissionRequest {
            save: vec![self.name.clone()],
            metadata: metadata.into_iter().collect(),
            ..context.permission_request("doom_loop", vec![self.name.clone()])
        }
    }
}

/// The tools that one Provider Turn advertises, with the identities against which its calls are
/// checked.
pub struct Materialized {
    advertised: Vec<Arc<Entry>>,
    scopes: Arc<Scopes>,
    directory: String,
    output: Arc<ManagedOutput>,
    hooks: Arc<dyn CallHooks>,
    subagents: Arc<str>,
}

impl Materialized {
    pub(crate) fn new(
        advertised: Vec<Arc<Entry>>,
        scopes: Arc<Scopes>,
        directory: String,
        output: Arc<ManagedOutput>,
        hooks: Arc<dyn CallHooks>,
    ) -> Self {
        Self {
            advertised,
            scopes,
            directory,
            output,
            hooks,
            subagents: Arc::from(""),
        }
    }

    /// Returns those of the tools whose name `keeps` accepts. A call of another tool fails as a call of an unknown tool.
    #[must_use]
    pub fn keeping(mut self, keeps: impl Fn(&str) -> bool) -> Self {
        self.advertised
            .retain(|entry| keeps(&entry.definition.name));
        self
    }

    /// Returns the same tools for a turn whose agent may give tasks to `subagents`.
    #[must_use]
    pub fn listing(mut self, subagents: String) -> Self {
        self.subagents = Arc::from(subagents);
        self
    }

    /// Returns the list of agents that accept tasks, as it appears at the end of a description that
    /// [lists](crate::ToolDefinition::lists_subagents) them.
    #[must_use]
    pub fn subagents(&self) -> &Arc<str> {
        &self.subagents
    }

    /// Returns the definitions to advertise, in order. An unchanged tool is the same `Arc` in every
    /// turn.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &Arc<ToolDefinition>> {
        self.advertised.iter().map(|entry| &entry.definition)
    }

    /// Returns a sentence with the available tools, for a model that called a tool without a name.
    #[must_use]
    pub fn available(&self) -> String {
        choices::available(&self.names())
    }

    fn names(&self) -> Vec<&str> {
        let names = self.definitions().map(|tool| tool.name.as_str());
        names.collect()
    }

    /// Starts one call in its own task, so that a tool that computes does not block other work. The
    /// future returns the settlement. Never panics, even if the tool does.
    ///
    /// To interrupt the call, cancel `turn.cancel` and continue to wait. A tool that has succeeded
    /// by then is still settled as a success, and a tool that has begun to change something may finish
    /// within ten seconds. A tool that does not react within a tenth of a second is settled as
    /// interrupted; its later result is dropped, and `tasks` tracks when it has ended. Dropping the
    /// future interrupts the call and discards the settlement.
    pub fn start(
        self: &Arc<Self>,
        call: ToolCall,
        turn: &Arc<TurnContext>,
        tasks: &TaskTracker,
    ) -> impl Future<Output = Settlement> + Send + use<> {
        let (tools, turn) = (Arc::clone(self), Arc::clone(turn));
        let context = turn.of_call(&call.id);
        let (cancel, commitment) = (context.cancel.clone(), context.commitment.clone());
        let (session_id, tool) = (turn.session_id.clone(), call.name.clone());
        let settling = async move { tools.settle_in(call, context, &turn).await };
        let task = opencode_log::spawn_tracked(tasks, settling);
        let task = AbortOnDropHandle::new(task);
        async move {
            tokio::select! {
                biased;
                ended = task => ended.unwrap_or_else(|error| {
                    Settlement::failed(format!("Tool execution failed: {error}"))
                }),
                () = overdue(&cancel, &commitment) => {
                    tracing::warn!(%session_id, tool, "an interrupted tool was abandoned");
                    Settlement::Interrupted
                }
            }
        }
    }

    /// Runs one call in the caller's task; [`Materialized::start`] runs it in its own. Waits for a tool
    /// that does not react to its interruption. Dropping the future discards the settlement.
    pub async fn settle(&self, call: ToolCall, turn: &TurnContext) -> Settlement {
        let context = turn.of_call(&call.id);
        self.settle_in(call, context, turn).await
    }

    #[tracing::instrument(
        level = "error",
        name = "tool_call",
        skip_all,
        fields(
            session_id = %turn.session_id,
            message_id = %turn.message_id,
            call_id = %call.id,
            tool = %call.name,
        )
    )]
    async fn settle_in(
        &self,
        call: ToolCall,
        context: ToolContext,
        turn: &TurnContext,
    ) -> Settlement {
        let executed = self.execute(call, context, &turn.ports);
        let settlement = AssertUnwindSafe(executed).catch_unwind();
        let mut settlement = settlement.await.unwrap_or_else(|panic| {
            let message = panic_text(&*panic);
            tracing::error!(panic = message, "a tool panicked");
            Settlement::failed(format!("Tool execution failed: {message}"))
        });
        let limits = turn.ports.image_limits;
        settlement.check_files(limits, &turn.cancel).await;
        // Secrets are removed before the text is stored in a file and cut, because a cut could split a
        // secret.
        settlement.clean(&turn.secrets);
        let root = &turn.files.folders.outputs.root;
        self.output
            .bound(settlement, turn.output_limits, root)
            .await
    }

    /// Returns the tool that a call runs.
    ///
    /// # Errors
    ///
    /// Returns the reason why the call cannot run.
    fn callable(&self, call: &ToolCall) -> Result<Arc<Entry>, String> {
        if let Some(problem) = &call.problem {
            return Err(problem.clone());
        }
        let name = &call.name;
        let mut advertised = self.advertised.iter();
        let Some(captured) = advertised.find(|entry| entry.definition.name == *name) else {
            return Err(choices::unknown(name, &self.names()));
        };
        let current = self.scopes.get(&self.directory, name);
        let current = current.filter(|current| Arc::ptr_eq(current, captured));
        current.ok_or_else(|| format!("Stale tool call: {name}"))
    }

    async fn execute(&self, call: ToolCall, context: ToolContext, ports: &TurnPorts) -> Settlement {
        let entry = match self.callable(&call) {
            Ok(entry) => entry,
            Err(problem) => return refused(&call, &context, problem).await,
        };
        let (cancel, commitment) = (context.cancel.clone(), context.commitment.clone());
        if cancel.is_cancelled() {
            return Settlement::Interrupted;
        }
        tokio::select! {
            // A finished tool has priority over an interruption, because its effect remains.
            biased;
            result = self.run(&*entry.tool, call, context, ports) => match result {
                Ok(output) => output.into(),
                Err(failure) => failure.into(),
            },
            () = interrupted(&cancel, &commitment) => Settlement::Interrupted,
        }
    }

    /// Runs a call between the functions that change it.
    async fn run(
        &self,
        tool: &dyn Tool,
        mut call: ToolCall,
        context: ToolContext,
        ports: &TurnPorts,
    ) -> Result<ToolOutput, ToolFailure> {
        let (name, shared) = (call.name.clone(), context.clone());
        call.input = self.hooks.before(&name, call.input, &shared).await?;
        let result = run(tool, call, context, ports).await;
        self.hooks.after(&name, result, &shared).await
    }
}

/// Settles a call that cannot run. The user must permit a repeated one, like every repeated call: otherwise a model could
/// make it for ever.
async fn refused(call: &ToolCall, context: &ToolContext, problem: String) -> Settlement {
    let permitted = tokio::select! {
        permitted = permit(call, context) => permitted,
        () = context.cancel.cancelled() => return Settlement::Interrupted,
    };
    match permitted {
        Ok(()) => Settlement::failed(problem),
        Err(failure) => failure.into(),
    }
}

/// Asks for the permission of a repeated call.
async fn permit(call: &ToolCall, context: &ToolContext) -> Result<(), ToolFailure> {
    if call.kind != CallKind::Repeated {
        return Ok(());
    }
    let refused = format!("Unable to call {} again with the same input", call.name);
    let request = call.repetition(context);
    context.assert(request, &refused).await
}

/// Runs a call. A repeated call first needs permission. An abandoned call runs if it had no effect.
async fn run(
    tool: &dyn Tool,
    call: ToolCall,
    context: ToolContext,
    ports: &TurnPorts,
) -> Result<ToolOutput, ToolFailure> {
    permit(&call, &context).await?;
    if call.kind == CallKind::Abandoned {
        match tool.recover(call.input.clone(), context.clone()).await {
            Recovery::Done(output) => return Ok(output),
            Recovery::Unknown => return Err(ToolFailure::Interrupted),
            Recovery::NotStarted => {}
        }
    }
    tool.run(call.input, context, ports).await
}

/// Returns when the call is interrupted. Never returns if the call has begun a change.
async fn interrupted(cancel: &CancellationToken, commitment: &Commitment) {
    cancel.cancelled().await;
    if commitment.is_made() {
        std::future::pending::<()>().await;
    }
}

async fn overdue(cancel: &CancellationToken, commitment: &Commitment) {
    cancel.cancelled().await;
    tokio::time::sleep(GRACE).await;
    if commitment.is_made() {
        tokio::time::sleep(CHANGE_GRACE).await;
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "the tool panicked"
    }
}
