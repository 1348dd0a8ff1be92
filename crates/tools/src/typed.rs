//! Tools that declare their input and receive it decoded.

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    input::Object,
    tool::{Tool, ToolContext, ToolFailure, ToolOutput},
};

/// A tool whose input is a Rust type. Every one of them is a [`Tool`].
pub trait TypedTool: Send + Sync + 'static {
    /// The parameters: what is advertised and what arguments are checked against.
    const INPUT: Object;

    /// The action of [`Tool::permission`] where it is not the registered name.
    const PERMISSION: Option<&'static str> = None;

    /// The arguments after the check. Its fields are those of `INPUT`, optional ones as `Option`.
    type Input: DeserializeOwned + Send;

    /// The text that tells the model when and how to use the tool.
    fn description(&self) -> String;

    /// Carries out one call, as [`Tool::run`] does.
    fn run(
        &self,
        input: Self::Input,
        context: ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolFailure>> + Send;
}

impl<T: TypedTool> Tool for T {
    fn description(&self) -> String {
        TypedTool::description(self)
    }

    fn input_schema(&self) -> Value {
        T::INPUT.json_schema()
    }

    fn permission(&self) -> Option<&str> {
        T::PERMISSION
    }

    fn run(
        &self,
        input: Value,
        context: ToolContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let checked = T::INPUT.decode(input).map_err(|issue| invalid(&issue))?;
            let input = serde_json::from_value(checked).map_err(|error| invalid(&error))?;
            TypedTool::run(self, input, context).await
        })
    }
}

fn invalid(issue: &dyn std::fmt::Display) -> ToolFailure {
    ToolFailure::new(format!("Invalid tool input: {issue}"))
}
