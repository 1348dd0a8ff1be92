//! The `todowrite` tool: replaces the todo list of the session.

use std::sync::Arc;

use opencode_schema::{message::ToolContent, todo::Todo};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{json, to_string_pretty};

use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use crate::ports::todo::Todos;

pub(super) struct TodoWrite;

#[derive(Deserialize, JsonSchema)]
pub(super) struct TodoInput {
    #[schemars(description = "The whole list, in order.")]
    todos: Vec<Item>,
}

/// A [`Todo`] with descriptions for the model.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Todo")]
struct Item {
    #[schemars(description = "What is to be done, in one line.")]
    content: String,
    #[schemars(description = "`pending`, `in_progress`, `completed` or `cancelled`.")]
    status: String,
    #[schemars(description = "`high`, `medium` or `low`.")]
    priority: String,
}

impl From<Item> for Todo {
    fn from(item: Item) -> Self {
        Self {
            content: item.content,
            status: item.status,
            priority: item.priority,
        }
    }
}

/// Maximum number of todos in a list.
const MAX_TODOS: usize = 200;

/// Maximum size of all texts of a list, in bytes. Every subscriber receives the whole list.
const MAX_BYTES: usize = 64 * 1024;

const FAILED: &str = "Unable to update todos";

impl TypedTool for TodoWrite {
    type Input = TodoInput;
    type Port = Arc<dyn Todos>;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: TodoInput,
        context: ToolContext,
        lists: Arc<dyn Todos>,
    ) -> Result<ToolOutput, ToolFailure> {
        let todos: Vec<Todo> = input.todos.into_iter().map(Todo::from).collect();
        check_size(&todos)?;
        let mut request = context.permission_request("todowrite", vec!["*".to_owned()]);
        request.save.push("*".to_owned());
        context.assert(request, FAILED).await?;
        context.begin_change()?;
        let replaced = lists.replace(&context.source.session_id, todos.clone());
        replaced
            .await
            .map_err(|error| ToolFailure::new(format!("{FAILED}: {error}")))?;
        let output = ToolOutput::encode(&json!({ "todos": todos }))?;
        let text = to_string_pretty(&todos).expect("texts are written as JSON");
        Ok(output.with_content(vec![ToolContent::Text { text }]))
    }
}

const DESCRIPTION: &str = "\
Keep the list of what is to be done in this session. The user sees it.

Every call replaces the whole list, so send all todos each time; an empty list clears it. Use it for \
work of three or more steps, or when the user asks for several things; leave it for anything simpler.

Let one todo at a time be `in_progress`. Mark it `completed` when it is done and checked, and do so \
before you begin the next. Add what you find on the way; mark as `cancelled` what is needed no more.

At most 200 todos with 64 KiB of text in all.";

fn check_size(todos: &[Todo]) -> Result<(), ToolFailure> {
    let count = todos.len();
    if count > MAX_TODOS {
        return Err(ToolFailure::new(format!(
            "{FAILED}: a list has at most {MAX_TODOS} todos, not {count}. Merge small ones"
        )));
    }
    let texts = todos
        .iter()
        .flat_map(|todo| [&todo.content, &todo.status, &todo.priority]);
    let bytes: usize = texts.map(String::len).sum();
    if bytes > MAX_BYTES {
        return Err(ToolFailure::new(format!(
            "{FAILED}: the texts of a list have at most {MAX_BYTES} bytes, not {bytes}. Shorten them"
        )));
    }
    Ok(())
}
