//! Built-in tools that this version announces but does not have yet.
//!
//! A conforming host advertises all of them, so each has its real parameters, a description that
//! keeps the model away, and a failure for the model that calls it anyway. A tool that gets built
//! loses its row here.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{
    input::{Field, Object, Schema},
    tool::{Tool, ToolContext, ToolFailure, ToolOutput},
};

pub(super) fn tools() -> Vec<(String, Arc<dyn Tool>)> {
    let tools = TABLE
        .iter()
        .map(|row| (row.name.to_owned(), Arc::new(*row) as Arc<dyn Tool>));
    tools.collect()
}

#[derive(Clone, Copy)]
struct Unavailable {
    name: &'static str,
    permission: Option<&'static str>,
    input: Object,
}

impl Tool for Unavailable {
    fn description(&self) -> String {
        format!(
            "Not available: this version of opencode-embedded does not provide `{}` yet. Do not \
             call it, every call fails. Use another tool, or tell the user what you cannot do.",
            self.name
        )
    }

    fn input_schema(&self) -> Value {
        self.input.json_schema()
    }

    fn permission(&self) -> Option<&str> {
        self.permission
    }

    fn run(&self, _: Value, _: ToolContext) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        let message = format!(
            "Unable to run {}: this version of opencode-embedded does not provide the tool yet",
            self.name
        );
        Box::pin(std::future::ready(Err(ToolFailure::new(message))))
    }
}

const fn row(
    name: &'static str,
    permission: Option<&'static str>,
    fields: &'static [Field],
) -> Unavailable {
    Unavailable {
        name,
        permission,
        input: Object { fields },
    }
}

const fn text(name: &'static str) -> Field {
    Field::required(name, Schema::String)
}

const fn optional_text(name: &'static str) -> Field {
    Field::optional(name, Schema::String)
}

const fn count(name: &'static str, maximum: Option<u32>) -> Field {
    Field::optional(name, Schema::PositiveInteger { maximum })
}

const TABLE: &[Unavailable] = &[
    row(
        "bash",
        None,
        &[
            text("command"),
            optional_text("workdir"),
            count("timeout", Some(600_000)),
        ],
    ),
    row(
        "todowrite",
        None,
        &[Field::required(
            "todos",
            Schema::Array(&Schema::Named("Todo", &TODO)),
        )],
    ),
    row(
        "webfetch",
        None,
        &[
            text("url"),
            Field::optional("format", Schema::OneOf(&["text", "markdown", "html"])),
            Field::optional("timeout", Schema::PositiveNumber { maximum: 120 }),
        ],
    ),
    row(
        "websearch",
        None,
        &[
            text("query"),
            count("numResults", Some(20)),
            Field::optional("livecrawl", Schema::OneOf(&["fallback", "preferred"])),
            Field::optional("type", Schema::OneOf(&["auto", "fast", "deep"])),
            count("contextMaxCharacters", Some(50_000)),
        ],
    ),
];

const TODO: Object = Object {
    fields: &[text("content"), text("status"), text("priority")],
};
