//! Runs the shell commands of a template.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use opencode_location::config::Settings;
use opencode_location::location::Location;
use opencode_schema::id::SessionID;
use opencode_tools::{PermissionError, ScriptEnd, ScriptOutput, ScriptRequest, Shell, run_script};
use tokio_util::sync::CancellationToken;

use super::template::Span;
use crate::asks::permissions::TurnPermissions;

/// Maximum number of shell commands of one template.
const MAX_SPANS: usize = 50;

/// Number of commands that run at the same time.
const CONCURRENT: usize = 8;

/// Maximum time of one command: the default of the tool `bash`.
const MAX_TIME: Duration = Duration::from_secs(120);

/// Maximum bytes and lines of the output of one command: the same as for a call of the tool `read`.
const MAX_BYTES: usize = 51_200;
const MAX_LINES: usize = 2_000;

/// Runs the shell commands of one template.
pub(super) struct Spans<'a> {
    pub(super) permissions: &'a TurnPermissions,
    pub(super) session: &'a SessionID,
    pub(super) location: &'a Location,
    pub(super) directory: Arc<Path>,
    pub(super) cancel: &'a CancellationToken,
}

impl Spans<'_> {
    /// Returns the text for each command, in their order. A command that did not run gives a sentence with the reason.
    pub(super) async fn run(&self, spans: Vec<Span>) -> Vec<String> {
        let settings = &self.location.configuration.settings;
        let shell = Arc::new(shell(settings, self.location));
        let running = spans.into_iter().enumerate().map(|(at, span)| {
            let shell = Arc::clone(&shell);
            async move {
                if at >= MAX_SPANS {
                    return not_run(&span, "the template has too many commands");
                }
                let mut text = match self.output(&span, shell).await {
                    Ok(output) => shown(output),
                    Err(reason) => not_run(&span, &reason),
                };
                self.location.secrets.clean(&mut text);
                text
            }
        });
        // The order of the texts is that of the commands.
        futures::stream::iter(running)
            .buffered(CONCURRENT)
            .collect()
            .await
    }

    async fn output(&self, span: &Span, shell: Arc<Shell>) -> Result<ScriptOutput, String> {
        let has_arguments = !span.parameters.is_empty() || span.arguments.is_some();
        if has_arguments && !shell.takes_arguments() {
            return Err("the configured shell cannot be given arguments safely".to_owned());
        }
        let asked = self.cancel.run_until_cancelled(self.ask(span)).await;
        let asked = asked.ok_or("it was stopped")?;
        asked.map_err(|error| refusal(&error))?;
        let shell = match &span.arguments {
            Some(arguments) => Arc::new(shell.with_variable("ARGUMENTS", arguments)),
            None => shell,
        };
        let request = ScriptRequest {
            shell,
            command: span.command.clone(),
            arguments: span.parameters.clone(),
            directory: Arc::clone(&self.directory),
            limit: MAX_TIME,
        };
        run_script(request, self.cancel).await.map_err(|error| {
            tracing::debug!(%error, "a command of a template could not be started");
            "it could not be started".to_owned()
        })
    }

    /// Asks for the permission, as a call of the tool `bash` does. Rules for the text of the template and rules for the
    /// text with its arguments both apply.
    async fn ask(&self, span: &Span) -> Result<(), PermissionError> {
        let mut resources = vec![span.shown.clone()];
        if span.command != span.shown {
            resources.push(span.command.clone());
        }
        // A rule gives these characters another meaning than a shell.
        let is_saved = !resources.iter().any(|it| it.contains(['*', '?', '\\']));
        let save = is_saved.then(|| resources.clone());
        self.permissions
            .ask(self.session, "bash", resources, save)
            .await
    }
}

fn shell(settings: &Settings, location: &Location) -> Shell {
    let variables = Arc::clone(&location.command_variables);
    Shell::new(settings.shell.as_deref(), variables)
}

fn refusal(error: &PermissionError) -> String {
    match error {
        PermissionError::Blocked => "the permission rules do not allow it".to_owned(),
        PermissionError::Overruled { .. } => error.to_string(),
        PermissionError::Declined => "the user declined it".to_owned(),
        PermissionError::Corrected { feedback } => format!("the user declined it: {feedback}"),
    }
}

fn not_run(span: &Span, reason: &str) -> String {
    let command: String = span.shown.chars().take(500).collect();
    format!("[The command {command:?} was not run: {reason}.]")
}

/// Returns the output without the blank lines at its end, and with a note if something is missing or wrong.
fn shown(output: ScriptOutput) -> String {
    let ScriptOutput { text, is_cut, end } = output;
    let text = text.trim_end_matches(['\n', '\r']);
    let limit = text.floor_char_boundary(MAX_BYTES);
    let lines = text.match_indices('\n').nth(MAX_LINES - 1);
    let limit = lines.map_or(limit, |(at, _)| limit.min(at));
    let mut shown = text[..limit].to_owned();
    let notes = [
        (is_cut || limit < text.len()).then(|| "The output was cut here.".to_owned()),
        match end {
            ScriptEnd::Exited(0) => None,
            ScriptEnd::Exited(code) => Some(format!("The command exited with code {code}.")),
            ScriptEnd::Signal(number) => Some(format!(
                "The command was ended by a signal (exit code {}).",
                128 + number
            )),
            ScriptEnd::Killed => Some("The command was killed.".to_owned()),
            ScriptEnd::TimedOut => Some(format!(
                "The command was stopped after {} seconds.",
                MAX_TIME.as_secs()
            )),
        },
    ];
    for note in notes.into_iter().flatten() {
        if !shown.is_empty() {
            shown.push('\n');
        }
        shown += &format!("[{note}]");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_command_is_bounded_and_has_notes() {
        let output = |text: &str, is_cut, end| {
            shown(ScriptOutput {
                text: text.to_owned(),
                is_cut,
                end,
            })
        };
        assert_eq!(output("a\nb\n\n", false, ScriptEnd::Exited(0)), "a\nb");
        assert_eq!(
            output("", false, ScriptEnd::Exited(3)),
            "[The command exited with code 3.]"
        );
        assert_eq!(
            output("a", true, ScriptEnd::TimedOut),
            "a\n[The output was cut here.]\n[The command was stopped after 120 seconds.]"
        );
        let long = output(&"\u{20ac}\n".repeat(30_000), false, ScriptEnd::Exited(0));
        assert!(long.len() < MAX_BYTES && long.ends_with("[The output was cut here.]"));
    }
}
