//! The `write` tool: creates or replaces a whole file.

use std::borrow::Cow;

use opencode_location::directory::{Purpose, Target};
use opencode_schema::message::ToolContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    mutation::change,
    paths::{Found, ask_to_edit, locate_to_change_with_permission, require},
    place::{FileError, MAX_FILE_BYTES, Place},
    text::{
        BYTE_ORDER_MARK, Charset, Form, NotText, Text, encode_whole,
        ends::{End, Style},
        lines::{Lines, NewEnds, changes},
    },
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
    type Port = ();

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: WriteInput,
        context: ToolContext,
        (): (),
    ) -> Result<ToolOutput, ToolFailure> {
        let refused = format!("Unable to write {}", input.path);
        let target =
            locate_to_change_with_permission(&context, &input.path, Purpose::Creation, &refused)
                .await?;
        require(&context, &target, &[Found::File, Found::Missing], &refused).await?;
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
is possible, but the user is asked first. Missing directories are created. A new file gets the content \
as given; an existing one keeps its line breaks and its encoding.

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
    let is_marked = text.len() < content.len();
    let Some(mut existing) = place.existing()? else {
        place.create(&as_given(text, is_marked)?)?;
        return Ok(false);
    };
    let before = existing.read(MAX_FILE_BYTES);
    let before = before.and_then(|bytes| Ok(Text::decode(bytes)?));
    let bytes = match before {
        Ok(before) => like(before, text, is_marked)?,
        // The lines of a text stay what they are, or the model learns why they cannot.
        Err(FileError::NotText(reason @ (NotText::Unknown(_) | NotText::Utf32))) => {
            return Err(FileError::NotText(reason));
        }
        // A file without lines, because of its size or its content, is replaced, too.
        Err(FileError::NotText(_) | FileError::TooLarge) => as_given(text, is_marked)?,
        Err(error) => return Err(error),
    };
    place.replace(&existing, &bytes)?;
    Ok(true)
}

fn as_given(text: &str, is_marked: bool) -> Result<Vec<u8>, FileError> {
    let charset = Charset {
        is_marked,
        ..Charset::UTF8
    };
    Ok(encode_whole(text, charset)?)
}

/// Returns the content in the encoding of the file before. A line that stays keeps its bytes, and the others end as
/// most lines of the file do.
fn like(mut before: Text, content: &str, is_marked: bool) -> Result<Vec<u8>, FileError> {
    let style = Style::of(&before.text);
    let old = style.lines(&before.text);
    let has_ends = old.iter().any(|line| line.end != End::Missing);
    let content = if has_ends {
        Cow::Owned(content.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(content)
    };
    if is_marked && before.charset.form == Form::Windows1252 {
        before.charset.form = Form::Utf8;
    } else if has_ends && !(style.is_uniform && before.is_exact()) {
        let mut new = Lines::default();
        new.put(&content);
        let ends = NewEnds::Usual(style.usual);
        let edits = changes(&old, &mut new.finish(), 0, ends);
        before.charset.is_marked |= is_marked;
        return Ok(before.change(&edits)?.bytes);
    }
    before.charset.is_marked |= is_marked;
    let text = if has_ends {
        content.replace('\n', style.usual.text())
    } else {
        content.into_owned()
    };
    Ok(encode_whole(&text, before.charset)?)
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
