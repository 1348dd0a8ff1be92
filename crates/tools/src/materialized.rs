//! The tools of one Provider Turn, and the way of each call from arguments to settlement.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use serde_json::Value;

use crate::{
    managed_output::ManagedOutput,
    registry::{Contributions, Entry, ToolDefinition},
    settlement::Settlement,
    tool::ToolContext,
};

/// A call as the provider made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The called name, whether or not there is such a tool.
    pub name: String,
    /// The arguments.
    pub input: Value,
}

/// What one Provider Turn advertises, with the identities its calls are checked against.
pub struct Materialized {
    advertised: Vec<Arc<Entry>>,
    application: Contributions,
    location: Contributions,
    output: Arc<ManagedOutput>,
}

impl Materialized {
    pub(crate) fn new(
        advertised: Vec<Arc<Entry>>,
        application: Contributions,
        location: Contributions,
        output: Arc<ManagedOutput>,
    ) -> Self {
        Self {
            advertised,
            application,
            location,
            output,
        }
    }

    /// The definitions to advertise, in order. An unchanged tool is the same `Arc` in every turn.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &Arc<ToolDefinition>> {
        self.advertised.iter().map(|entry| &entry.definition)
    }

    /// Carries out one call and settles it. Never panics, whatever the tool does.
    ///
    /// To interrupt the call cancel `context.cancel` and go on waiting: a tool that has succeeded
    /// by then is still settled as a success. Dropping the future loses the settlement.
    #[tracing::instrument(
        name = "tool_call",
        skip_all,
        fields(
            session_id = %context.session_id,
            message_id = %context.assistant_message_id,
            call_id = %context.call_id,
            tool = %call.name,
        )
    )]
    pub async fn settle(&self, call: ToolCall, context: ToolContext) -> Settlement {
        let settlement = AssertUnwindSafe(self.execute(call, context)).catch_unwind();
        let settlement = settlement.await.unwrap_or_else(|panic| {
            let message = panic_text(&*panic);
            tracing::error!(panic = message, "a tool panicked");
            Settlement::failed(format!("Tool execution failed: {message}"))
        });
        self.output.bound(settlement).await
    }

    async fn execute(&self, call: ToolCall, context: ToolContext) -> Settlement {
        let ToolCall { name, input } = call;
        let mut advertised = self.advertised.iter();
        let Some(captured) = advertised.find(|entry| entry.definition.name == name) else {
            return Settlement::failed(format!("Unknown tool: {name}"));
        };
        let current = self
            .location
            .get(&name)
            .or_else(|| self.application.get(&name));
        let Some(entry) = current.filter(|current| Arc::ptr_eq(current, captured)) else {
            return Settlement::failed(format!("Stale tool call: {name}"));
        };
        let cancel = context.cancel.clone();
        if cancel.is_cancelled() {
            return Settlement::Interrupted;
        }
        tokio::select! {
            // What is done is done, so a finished tool wins over an interruption.
            biased;
            result = entry.tool.run(input, context) => match result {
                Ok(output) => output.into(),
                Err(failure) => failure.into(),
            },
            () = cancel.cancelled() => Settlement::Interrupted,
        }
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
