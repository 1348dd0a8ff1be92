//! The `write` tool: creates or replaces a whole file.

use opencode_location::directory::Target;
use opencode_schema::message::ToolContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    mutation::change,
    paths::{ask_to_edit, locate_to_change_with_permission},
    place::{FileError, Place},
    text::BYTE_ORDER_MARK,
};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;

pub(super) struct Write;

#[derive(Deserialize, JsonSchema)]
pub(super) struct WriteInput {
    #[schemars(description = "The file to write.")]
    path: String,
    #[schemars(description = "Everything the file is to hold.")]
    content: String,
}

impl TypedTool for Write {
    const PERMISSION: Option<&'static str> = Some("edit");

    type Input = WriteInput;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: WriteInput,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let refused = format!("Unable to write {}", input.path);
        let target = locate_to_change_with_permission(&context, &input.path, &refused).await?;
        ask_to_edit(&context, [&target], &refused).await?;
        let path = target.canonical.clone();
        let written = change(&context, [path.as_path()].into_iter(), move || {
            write(&target, &input.content).map(|existed| output(&target, existed))
        });
        written
            .await?
            .map_err(|error| error.into_failure(&refused))?
    }
}

const DESCRIPTION: &str = "\
Create a file, or replace everything an existing file holds.

A relative path starts at the working directory and must stay inside it. An absolute path elsewhere \
is possible, but the user is asked first. Missing directories are created. The content is written \
as given, with its line endings.

Use edit to change a part of an existing file, and read a file before you replace it.";

#[derive(Serialize)]
struct Written<'a> {
    operation: &'static str,
    target: &'a str,
    resource: &'a str,
    existed: bool,
}

/// Writes the file. Returns true if it existed.
fn write(target: &Target, content: &str) -> Result<bool, FileError> {
    let place = Place::prepare(&target.canonical)?;
    let text = content.trim_start_matches(BYTE_ORDER_MARK);
    let mark = BYTE_ORDER_MARK.as_bytes();
    let bytes = |marked| [if marked { mark } else { b"" }, text.as_bytes()].concat();
    let marked = text.len() < content.len();
    let Some(mut existing) = place.existing()? else {
        place.create(&bytes(marked))?;
        return Ok(false);
    };
    let marked = marked || existing.head(mark.len() as u64)? == mark;
    place.replace(&existing, &bytes(marked))?;
    Ok(true)
}

fn output(target: &Target, existed: bool) -> Result<ToolOutput, ToolFailure> {
    let done = if existed { "Wrote" } else { "Created" };
    let text = format!("{done} file successfully: {}", target.resource);
    let output = ToolOutput::encode(&Written {
        operation: "write",
        target: &target.canonical.to_string_lossy(),
        resource: &target.resource,
        existed,
    })?;
    Ok(output.with_content(vec![ToolContent::Text { text }]))
}
