//! Tools that run closures.

use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_net::Web;
use opencode_schema::clock::SystemClock;
use opencode_tools::{SearchServices, Tool, ToolContext, ToolFailure, ToolOutput, TurnPorts};
use serde_json::{Value, json};

use crate::fetch::ScriptedFetch;

type Run =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolFailure>> + Send + Sync;

/// A tool that runs a closure and accepts any object as its input.
pub(crate) struct ScriptedTool {
    run: Box<Run>,
}

impl ScriptedTool {
    /// A tool that runs this closure.
    pub(crate) fn new<F>(run: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ToolOutput, ToolFailure>> + Send + 'static,
    {
        Self {
            run: Box::new(move |input, context| Box::pin(run(input, context))),
        }
    }
}

impl Tool for ScriptedTool {
    fn description(&self) -> String {
        "Scripted by a test.".to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn run(
        &self,
        input: Value,
        context: ToolContext,
        _: &TurnPorts,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        (self.run)(input, context)
    }
}

/// The built-in tools, with a web in which every address is unknown.
#[must_use]
pub fn built_in_tools() -> Vec<(String, Arc<dyn Tool>)> {
    let web: Arc<dyn Web> = Arc::new(ScriptedFetch::default());
    let search = SearchServices::from_variables(|_| None);
    opencode_tools::built_in_tools(&SystemClock, &web, search)
}

/// A successful output with this structured value and without separate content for the model.
pub fn output(structured: Value) -> Result<ToolOutput, ToolFailure> {
    Ok(ToolOutput {
        structured,
        ..ToolOutput::default()
    })
}
