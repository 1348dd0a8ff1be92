//! Commands in the configuration: `commands`, or `command` in the older generation of the format.
//! Markdown files have the same fields in their front matter.

use opencode_schema::model::ModelRef;
use serde_json::Value;

use super::decode::{Decoded, boolean, bounded_members, entries, object, optional, text};
use super::document::Draft;
use super::{agent, selection};

/// The description of a command. Every field is optional.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CommandPatch {
    /// The prompt.
    pub template: Option<String>,
    /// A short description.
    pub description: Option<String>,
    /// The agent that runs the command.
    pub agent: Option<String>,
    /// The model that runs the command.
    pub model: Option<ModelRef>,
    /// The variant of that model.
    pub variant: Option<String>,
    /// True if the command runs as a subtask, outside the session.
    pub subtask: Option<bool>,
}

/// Reads the commands under a key.
pub(super) fn read(draft: &mut Draft<'_>, key: &str, value: &Value) -> Decoded<()> {
    // Limits the number of commands, because the position of each one is searched separately.
    bounded_members(value)?;
    let commands = entries(value, |name, value| {
        let template = optional(object(value)?, "template", text)?;
        let patch = decode_fields(value)?;
        Ok((agent::name(name)?, CommandPatch { template, ..patch }))
    })?;
    let commands: Vec<_> = draft.located_members(key, commands).collect();
    draft.document.commands.extend(commands);
    Ok(())
}

/// Reads the fields of a Markdown file. The text of the file is the template.
pub(crate) fn decode_fields(value: &Value) -> Decoded<CommandPatch> {
    let source = object(value)?;
    Ok(CommandPatch {
        template: None,
        description: optional(source, "description", text)?,
        agent: optional(source, "agent", text)?,
        model: optional(source, "model", selection::decode)?,
        variant: optional(source, "variant", text)?,
        subtask: optional(source, "subtask", boolean)?,
    })
}
