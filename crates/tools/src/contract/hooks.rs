//! Functions that change the arguments of a call, or its result.

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::contract::tool::{ToolContext, ToolOutput};
use crate::failure::ToolFailure;

/// Changes calls of all tools. A failure settles the call, so that no call runs with arguments that a function should
/// have changed, and no result is stored that a function should have redacted.
pub trait CallHooks: Send + Sync {
    /// Returns the arguments with which the call runs.
    fn before<'a>(
        &'a self,
        tool: &'a str,
        input: Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>>;

    /// Returns the result of the call.
    fn after<'a>(
        &'a self,
        tool: &'a str,
        result: Result<ToolOutput, ToolFailure>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>>;
}

/// Changes nothing.
pub(crate) struct NoCallHooks;

impl CallHooks for NoCallHooks {
    fn before<'a>(
        &'a self,
        _tool: &'a str,
        input: Value,
        _context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        std::future::ready(Ok(input)).boxed()
    }

    fn after<'a>(
        &'a self,
        _tool: &'a str,
        result: Result<ToolOutput, ToolFailure>,
        _context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        std::future::ready(result).boxed()
    }
}
