//! The `apply_patch` tool: adds, changes and removes files by one text.

mod commit;
mod find;
#[cfg(test)]
mod fuzz;
mod parse;
mod update;

use std::collections::BTreeSet;

use opencode_location::directory::{Purpose, Target};
use opencode_schema::message::ToolContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    diff::FileDiff,
    mutation::change,
    paths::{Found, Usage, ask_outside, ask_to_edit, locate_to_change, require},
    shown::may_be_shown,
};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use parse::{Action, Hunk, parse};

/// Message to the model about a patch that is not permitted or that names a path that cannot be used.
const REFUSED: &str = "Unable to apply patch at patch";

pub(super) struct ApplyPatch;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PatchInput {
    #[schemars(description = "The whole patch, from *** Begin Patch to *** End Patch.")]
    patch_text: String,
}

impl TypedTool for ApplyPatch {
    const PERMISSION: Option<&'static str> = Some("edit");

    type Input = PatchInput;
    type Port = ();

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: PatchInput,
        context: ToolContext,
        (): (),
    ) -> Result<ToolOutput, ToolFailure> {
        let hunks = parse(&input.patch_text).map_err(|e| ToolFailure::new(e.to_string()))?;
        let mut steps = resolve_steps(hunks, &context).await?;
        ask_directories(&steps, &context).await?;
        require_files(&steps, &context).await?;
        ask(&steps, &context).await?;
        for step in &mut steps {
            step.is_shown = may_be_shown(&context, &step.target).await?;
        }
        let files: Vec<_> = steps
            .iter()
            .map(|step| step.target.canonical.clone())
            .collect();
        let files = files.iter().map(|path| path.as_path());
        let applied = change(&context, files, move || commit::apply(steps)).await?;
        output(&applied.map_err(ToolFailure::new)?)
    }
}

const DESCRIPTION: &str = "\
Add, change and delete files with one patch in this format:

*** Begin Patch
*** Add File: path/of/new.txt
+every line of the new file
*** Update File: path/of/existing.txt
@@ optional line of the file that stands before the change
 unchanged line
-line to remove
+line to insert
*** Delete File: path/of/old.txt
*** End Patch

Each chunk of an update starts with @@ and each of its lines with a space, - or +. Give about three \
unchanged lines around a change, and the chunks in the order of the file. A chunk without removed \
or unchanged lines is added at the end of the file; *** End of File after a chunk looks for it \
there. No empty lines between the parts. Each file is named once, and moving is not supported.

Relative paths start at the working directory and must stay inside it. For absolute paths elsewhere \
the user is asked first. Nothing is changed unless every update and deletion fits its file. An updated \
file keeps its line breaks and its encoding. Files over 16 MiB or a million lines and files that are not \
text cannot be updated.";

/// A hunk and its file.
struct Step {
    /// The path as the patch contains it.
    path: String,
    target: Target,
    action: Action,
    /// True if a failure may show a part of the file.
    is_shown: bool,
}

async fn resolve_steps(hunks: Vec<Hunk>, context: &ToolContext) -> Result<Vec<Step>, ToolFailure> {
    let mut steps = Vec::new();
    for Hunk { path, action } in hunks {
        let purpose = match action {
            Action::Add(_) => Purpose::Creation,
            Action::Update(_) | Action::Delete => Purpose::Existing,
        };
        let refused = format!("{REFUSED}: {path}");
        let target = locate_to_change(context, &path, purpose, &refused).await?;
        steps.push(Step {
            path,
            target,
            action,
            is_shown: false,
        });
    }
    Ok(steps)
}

/// Asks one question for each external directory.
async fn ask_directories(steps: &[Step], context: &ToolContext) -> Result<(), ToolFailure> {
    let mut seen = BTreeSet::new();
    let targets = steps.iter().map(|step| &step.target);
    for target in targets {
        let directory = &target.external_directory;
        if seen.insert((directory, &target.other_external_directories)) {
            ask_outside(context, target, Usage::Changing, REFUSED).await?;
        }
    }
    Ok(())
}

/// Fails if a file to update or to delete does not exist, unless an earlier part of the patch names it.
async fn require_files(steps: &[Step], context: &ToolContext) -> Result<(), ToolFailure> {
    let mut named = BTreeSet::new();
    for step in steps {
        let kinds: &[Found] = match step.action {
            Action::Add(_) => &[Found::File, Found::Missing],
            Action::Update(_) | Action::Delete => &[Found::File],
        };
        if named.insert(&step.target.canonical) {
            require(context, &step.target, kinds, &unable(&step.path)).await?;
        }
    }
    Ok(())
}

/// Asks one question for all files.
async fn ask(steps: &[Step], context: &ToolContext) -> Result<(), ToolFailure> {
    let targets = steps.iter().map(|step| &step.target);
    ask_to_edit(context, targets, REFUSED).await
}

/// Returns the generic error text for one file.
fn unable(path: &str) -> String {
    format!("Unable to apply patch at {path}")
}

#[derive(Serialize)]
struct Applied {
    applied: Vec<Operation>,
    files: Vec<FileDiff>,
}

#[derive(Serialize)]
struct Operation {
    r#type: Kind,
    resource: String,
    target: String,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Add,
    Update,
    Delete,
}

fn output(applied: &Applied) -> Result<ToolOutput, ToolFailure> {
    let mut text = "Applied patch sequentially:".to_owned();
    for Operation {
        r#type, resource, ..
    } in &applied.applied
    {
        let letter = match r#type {
            Kind::Add => 'A',
            Kind::Update => 'M',
            Kind::Delete => 'D',
        };
        text.push_str(&format!("\n{letter} {resource}"));
    }
    Ok(ToolOutput::encode(applied)?.with_content(vec![ToolContent::Text { text }]))
}
