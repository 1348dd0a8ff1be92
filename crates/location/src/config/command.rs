//! What configuration says about commands: `commands`, or `command` in the older generation of the
//! format. Markdown files say the same at their head.

use opencode_schema::model::ModelRef;
use serde_json::Value;

use super::decode::{Decoded, boolean, bounded_members, entries, object, optional, text};
use super::document::Draft;
use super::{agent, selection};

/// What is said about a command: every field may be left unsaid.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CommandPatch {
    /// The prompt.
    pub template: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The agent that answers.
    pub agent: Option<String>,
    /// The model that answers.
    pub model: Option<ModelRef>,
    /// The variant of that model.
    pub variant: Option<String>,
    /// Whether it is done apart from the session.
    pub subtask: Option<bool>,
}

/// Reads the commands under a key.
pub(super) fn read(draft: &mut Draft<'_>, key: &str, value: &Value) -> Decoded<()> {
    // The place of each is found anew.
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

/// Reads the fields of a Markdown file, whose text is the template.
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
