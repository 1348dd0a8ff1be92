//! The tools of the load. Each effect is a line in the journal, so that effects can be counted. The
//! built-in tools are registered too, and their commands also write such lines.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_testkit::built_in_tools;
use opencode_tools::{Recovery, Tool, ToolContext, ToolFailure, ToolOutput, TurnPorts};
use serde_json::{Value, json};

use crate::journal::{Act, ActingCall, Journal};
use crate::point::{FailPoints, TOOL_AFTER, TOOL_BEFORE};

/// Has its effect immediately.
pub const WORK: &str = "work";
/// Has its effect after a delay, and recovers its calls by the journal.
pub const SLOW: &str = "slow";
/// Has its effect and fails.
pub const BREAKS: &str = "breaks";

/// The behavior of a tool.
#[derive(Clone, Copy)]
struct ToolBehavior {
    pause: Duration,
    fails: bool,
    recovers: bool,
}

struct LoadTool {
    behavior: ToolBehavior,
    journal: Arc<Journal>,
    points: Arc<FailPoints>,
}

/// True if the tool itself records its calls in the journal.
pub(crate) fn is_own(tool: &str) -> bool {
    [WORK, SLOW, BREAKS].contains(&tool)
}

/// True if the tool recovers its calls, so that a call without an effect can begin again.
pub(crate) fn is_recoverable(tool: &str) -> bool {
    tool == SLOW
}

/// All tools of the load.
#[must_use]
pub fn load_tools(
    journal: &Arc<Journal>,
    points: &Arc<FailPoints>,
) -> Vec<(String, Arc<dyn Tool>)> {
    let named = [
        (WORK, Duration::ZERO, false),
        (SLOW, Duration::from_millis(2), false),
        (BREAKS, Duration::ZERO, true),
    ];
    let tools = named.into_iter().map(|(name, pause, fails)| {
        let tool = LoadTool {
            behavior: ToolBehavior {
                pause,
                fails,
                recovers: is_recoverable(name),
            },
            journal: Arc::clone(journal),
            points: Arc::clone(points),
        };
        (name.to_owned(), Arc::new(tool) as Arc<dyn Tool>)
    });
    tools.chain(built_in_tools()).collect()
}

impl Tool for LoadTool {
    fn description(&self) -> String {
        "Writes a line into a journal.".to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn recovers(&self) -> bool {
        self.behavior.recovers
    }

    fn recover(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Recovery> {
        let effect = Act::After(acting(context));
        async move {
            match self.journal.has(&effect) {
                true => Recovery::Done(output(&input)),
                false => Recovery::NotStarted,
            }
        }
        .boxed()
    }

    fn run(
        &self,
        input: Value,
        context: ToolContext,
        _: &TurnPorts,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        let call = acting(context);
        async move {
            self.journal.add(&Act::Before(call.clone()));
            self.points.pass(TOOL_BEFORE, Some(&call.session));
            if !self.behavior.pause.is_zero() {
                tokio::time::sleep(self.behavior.pause).await;
            }
            let session = call.session.clone();
            self.journal.add(&Act::After(call));
            self.points.pass(TOOL_AFTER, Some(&session));
            if self.behavior.fails {
                return Err(ToolFailure::new("It broke"));
            }
            Ok(output(&input))
        }
        .boxed()
    }
}

fn acting(context: ToolContext) -> ActingCall {
    ActingCall {
        session: context.source.session_id,
        message: context.source.message_id,
        call: context.source.call_id,
    }
}

fn output(input: &Value) -> ToolOutput {
    ToolOutput {
        structured: json!({"input": input, "text": "A result of some length."}),
        ..ToolOutput::default()
    }
}
