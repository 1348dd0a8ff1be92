//! The `edit` tool: replaces text in a file.

#[cfg(test)]
mod fuzz;
mod matching;

use opencode_location::directory::{Purpose, Target};
use opencode_schema::message::ToolContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    diff::{FileDiff, Status},
    mutation::change,
    paths::{Found, ask_to_edit, locate_to_change_with_permission, require},
    place::{FileError, MAX_FILE_BYTES, Place},
    shown::may_be_shown,
    text::Text,
};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use matching::Mismatch;

pub(super) struct Edit;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EditInput {
    #[schemars(description = "The file to change.")]
    path: String,
    #[schemars(description = "The text to replace, exactly as it stands in the file.")]
    old_string: String,
    #[schemars(description = "The text to put there, different from oldString.")]
    new_string: String,
    #[schemars(description = "Replace every occurrence instead of the only one. Default false.")]
    replace_all: Option<bool>,
}

impl TypedTool for Edit {
    const PERMISSION: Option<&'static str> = Some("edit");

    type Input = EditInput;
    type Port = ();

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: EditInput,
        context: ToolContext,
        (): (),
    ) -> Result<ToolOutput, ToolFailure> {
        if input.old_string == input.new_string {
            return Err(Mismatch::Same.into());
        }
        if input.old_string.is_empty() {
            return Err(Mismatch::Empty.into());
        }
        let refused = format!("Unable to edit {}", input.path);
        let target =
            locate_to_change_with_permission(&context, &input.path, Purpose::Existing, &refused)
                .await?;
        require(&context, &target, &[Found::File], &refused).await?;
        ask_to_edit(&context, [&target], &refused).await?;
        let is_shown = may_be_shown(&context, &target).await?;
        let path = target.canonical.clone();
        let edited = change(&context, [path.as_path()].into_iter(), move || {
            edit(&target, &input, is_shown).map(|edited| output(&target, &input, edited))
        });
        edited
            .await?
            .map_err(|error| error.into_failure(&refused))?
    }
}

const DESCRIPTION: &str = "\
Replace text in an existing file.

A relative path starts at the working directory and must stay inside it. An absolute path elsewhere \
is possible, but the user is asked first.

oldString has to match the file exactly, with all whitespace and indentation and without the line \
numbers or marks of other output, and to occur exactly once: add lines around it until it does, or \
set replaceAll. Line breaks match whichever kind the file uses, and the file keeps its line breaks and its encoding. Read the file \
first. For a new file or a whole one use write. Files over 16 MiB or a million lines and files that are not text \
are refused.";

/// Reason why nothing was changed.
enum EditError {
    File(FileError),
    Mismatch(Mismatch),
}

impl From<FileError> for EditError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<Mismatch> for EditError {
    fn from(mismatch: Mismatch) -> Self {
        match mismatch {
            Mismatch::TooLarge => Self::File(FileError::TooLarge),
            _ => Self::Mismatch(mismatch),
        }
    }
}

impl EditError {
    fn into_failure(self, refused: &str) -> ToolFailure {
        match self {
            Self::File(error) => error.into_failure(refused),
            Self::Mismatch(mismatch) => mismatch.into(),
        }
    }
}

impl From<Mismatch> for ToolFailure {
    fn from(mismatch: Mismatch) -> Self {
        Self::new(mismatch.to_string())
    }
}

#[derive(Serialize)]
struct Edited {
    files: [FileDiff; 1],
    replacements: usize,
}

/// Replaces the text. `is_shown` is true if the failure may show a part of the file.
fn edit(target: &Target, input: &EditInput, is_shown: bool) -> Result<Edited, EditError> {
    let place = Place::open(&target.canonical)?;
    let original = place.require()?.read(MAX_FILE_BYTES)?;
    let before = Text::decode(original).map_err(FileError::from)?;
    let all = input.replace_all.unwrap_or(false);
    let (old, new) = (&input.old_string, &input.new_string);
    let replacement = matching::replace(&before.text, old, new, all, MAX_FILE_BYTES);
    let replacement = replacement.map_err(|mismatch| mismatch.shown(is_shown))?;
    let after = before.change(&replacement.edits).map_err(FileError::from)?;
    if after.bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FileError::TooLarge.into());
    }
    let diff = FileDiff::of(
        &target.resource,
        &before.text,
        &after.text,
        Status::Modified,
    );
    place.replace_unchanged(before.original(), &after.bytes)?;
    Ok(Edited {
        files: [diff],
        replacements: replacement.count,
    })
}

fn output(target: &Target, input: &EditInput, edited: Edited) -> Result<ToolOutput, ToolFailure> {
    let mut lines = vec![
        format!("Edited file successfully: {}", target.resource),
        format!("Replacements: {}", edited.replacements),
        "```diff".to_owned(),
    ];
    for (mark, text) in [('-', &input.old_string), ('+', &input.new_string)] {
        lines.extend(excerpt(mark, &text.replace("\r\n", "\n")));
    }
    lines.push("```".to_owned());
    let text = lines.join("\n");
    Ok(ToolOutput::encode(&edited)?.with_content(vec![ToolContent::Text { text }]))
}

/// Returns the first lines of a text, enough to recognize it.
fn excerpt(mark: char, text: &str) -> impl Iterator<Item = String> {
    const LINES: usize = 6;
    const CHARACTERS: usize = 240;
    text.split('\n')
        .take(LINES + 1)
        .enumerate()
        .map(
            move |(index, line)| match line.char_indices().nth(CHARACTERS) {
                _ if index == LINES => format!("{mark}..."),
                Some((end, _)) => format!("{mark}{}...", &line[..end]),
                None => format!("{mark}{line}"),
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_has_few_lines_of_bounded_length() {
        let many = ["x"; 7].join("\n");
        let six = ["x"; 6].join("\n");
        for (text, expected) in [
            ("", vec!["-".to_owned()]),
            ("a\n", vec!["-a".into(), "-".into()]),
            (&six, vec!["-x".into(); 6]),
            (
                &many,
                [vec!["-x".to_owned(); 6], vec!["-...".into()]].concat(),
            ),
            (&"é".repeat(240), vec![format!("-{}", "é".repeat(240))]),
            (&"é".repeat(241), vec![format!("-{}...", "é".repeat(240))]),
        ] {
            let lines: Vec<_> = excerpt('-', text).collect();
            assert_eq!(lines, expected, "{text:?}");
        }
    }
}
