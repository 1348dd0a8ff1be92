//! The `skill` tool: returns the text of a skill and the names of some files beside it.

mod files;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use opencode_schema::{message::ToolContent, skill::SkillInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::files::{SKILL_FILE, sample};
use super::blocking::blocking;
use super::reasons::one_of;
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use crate::ports::skill::Skills;

pub(super) struct Skill;

#[derive(Deserialize, JsonSchema)]
pub(super) struct SkillInput {
    #[schemars(description = "Name of the skill, as the list of available skills has it.")]
    name: String,
}

#[derive(Serialize)]
struct Output<'a> {
    name: &'a str,
    directory: &'a str,
    output: &'a str,
}

impl TypedTool for Skill {
    type Input = SkillInput;
    type Port = Arc<dyn Skills>;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: SkillInput,
        context: ToolContext,
        skills: Arc<dyn Skills>,
    ) -> Result<ToolOutput, ToolFailure> {
        let name = input.name;
        // The text is the same for a missing skill and for one that the agent may not use.
        let refused = format!("Unable to load skill {name}");
        let found = skills.find(&name).await;
        let Some(skill) = found else {
            let names = one_of("skills", &skills.names().await);
            return Err(ToolFailure::new(format!(
                "{refused}: there is no skill of this name. {names}"
            )));
        };
        let mut request = context.permission_request("skill", vec![name.clone()]);
        request.save = vec![name];
        context.assert(request, &refused).await?;
        let cancel = context.cancel.clone();
        let output = blocking(move || {
            let directory = Path::new(&skill.location).parent().unwrap_or(Path::new(""));
            let files = if has_directory(&skill) {
                sample(directory, &cancel)?
            } else {
                Vec::new()
            };
            Some(output(&skill, directory, &files))
        });
        output.await?.ok_or(ToolFailure::Interrupted)?
    }
}

const DESCRIPTION: &str = "\
Load a skill: instructions for a certain kind of work, perhaps with files that belong to them, such as \
scripts, templates or further texts.

The available skills are listed in the conversation with what each is for. Load the one that describes \
your task before you begin, and follow what it says. Do not guess names that are not listed.";

/// True if the skill has its own directory. Beside a skill that is a single file there are other
/// skills.
fn has_directory(skill: &SkillInfo) -> bool {
    Path::new(&skill.location).file_name() == Some(SKILL_FILE.as_ref())
}

fn output(
    skill: &SkillInfo,
    directory: &Path,
    files: &[PathBuf],
) -> Result<ToolOutput, ToolFailure> {
    let directory = directory.display().to_string();
    let text = text(skill, &directory, files);
    let output = ToolOutput::encode(&Output {
        name: &skill.name,
        directory: &directory,
        output: &text,
    })?;
    Ok(output.with_content(vec![ToolContent::Text { text }]))
}

/// Returns the text for the model. The body contains the instructions and is not escaped; names are
/// escaped.
fn text(skill: &SkillInfo, directory: &str, files: &[PathBuf]) -> String {
    let (name, directory) = (escape(&skill.name), escape(directory));
    let body = skill.content.trim();
    let files = files.iter().map(|file| {
        let file = escape(&file.display().to_string());
        format!("<file>{file}</file>\n")
    });
    let files: String = files.collect();
    format!(
        "<skill_content name=\"{name}\">\n# Skill: {name}\n\n{body}\n\n\
         Base directory: {directory}\n\
         A relative path in this skill starts at the base directory. \
         The files named here are a sample, there may be more.\n\n\
         <skill_files>\n{files}</skill_files>\n</skill_content>"
    )
}

/// Escapes a text for an element or an attribute value, on one line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => {
                escaped.push_str(&format!("&#{};", u32::from(control)));
            }
            other => escaped.push(other),
        }
    }
    escaped
}
