//! Checks that the model reads each change of its environment exactly once, also when a process
//! died in between.
//!
//! The load changes the model of a session, so the name of the model is the change.

use opencode_llm::{LlmRequest, Part, Role};
use opencode_schema::id::SessionID;

/// The prefixes of the lines in the baseline and in an update.
const SAYS: [&str; 2] = ["You are the model ", "You are now the model "];

pub(super) fn check(id: &SessionID, request: &LlmRequest, findings: &mut Vec<String>) {
    let named_models = named_models(request);
    let is_repeated = named_models.windows(2).any(|pair| pair[0] == pair[1]);
    if is_repeated || named_models.last() != Some(&&*request.model.id) {
        findings.push(format!(
            "{id}: the model was not told each change once: {named_models:?}, and {} answers",
            request.model.id
        ));
    }
}

/// The models that the request names, in order.
fn named_models(request: &LlmRequest) -> Vec<&str> {
    let baseline = request.system.last().map(|part| &*part.text);
    let messages = request.messages.iter();
    let updates = messages
        .filter(|message| matches!(message.role, Role::System | Role::User))
        .flat_map(|message| message.content.iter())
        .filter_map(|part| match part {
            // A checkpoint is history. It can contain earlier updates.
            Part::Text(text) if text.text.starts_with("<conversation-checkpoint>") => None,
            Part::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
    let lines = baseline.into_iter().chain(updates).flat_map(str::lines);
    lines.filter_map(model).collect()
}

fn model(line: &str) -> Option<&str> {
    let said = SAYS.iter().find_map(|says| line.strip_prefix(says))?;
    said.split(' ').next()
}
