//! Prompts of servers as commands, by their declaration. A server writes the text of a prompt from the real arguments,
//! when the command runs: a request with invented arguments could fail or have an effect.

use opencode_mcp::ServerPrompt;
use opencode_schema::command::CommandInfo;

/// Returns the command of a prompt. Its template names the arguments (`$1 $2`), because the host does not know the text.
pub(super) fn command(prompt: &ServerPrompt) -> CommandInfo {
    let arguments = (1..=prompt.arguments.len()).map(|at| format!("${at}"));
    CommandInfo {
        name: prompt.name.clone(),
        template: arguments.collect::<Vec<_>>().join(" "),
        description: prompt.description.clone(),
        agent: None,
        model: None,
        subtask: None,
    }
}
