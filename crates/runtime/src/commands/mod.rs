//! Commands: prompts that the host makes from a template or from a prompt of an MCP server.
//!
//! A command is expanded before the admission of its prompt. Shell commands of a template ask for permission like the
//! tool `bash`. Mentions in the template and in the arguments are expanded at the promotion, like those of any prompt.
//! Text from programs and servers is literal: the prompt keeps its ranges.

mod arguments;
mod running;
mod server_prompt;
mod spans;
mod template;

use std::path::Path;
use std::sync::Arc;

use opencode_location::location::{Location, Locations};
use opencode_schema::command::CommandInfo;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::{
    Delivery, PromptAgentAttachment, PromptCommand, PromptInput, PromptInputFileAttachment,
    PromptSettings, SessionInputAdmitted, TextRange,
};
use opencode_store::SessionRow;
use tokio_util::sync::CancellationToken;

pub(crate) use self::running::RunningCommands;

use self::running::RunningCommand;
use self::spans::Spans;
use self::template::{Expanded, Span, expand};
use crate::agents::agent_of;
use crate::asks::permissions::{Permissions, RuleScope, TurnPermissions};
use crate::error::RuntimeError;
use crate::inbox::{Inbox, PromptRequest};
use crate::journal::Journal;
use crate::mcp::McpServers;
use crate::sessions::check_directory;

/// Name of the operation in failures.
const SERVICE: &str = "command.run";

/// Maximum size of the arguments in bytes. They become variables and parameters of programs.
const MAX_ARGUMENTS: usize = 64 * 1024;

/// Maximum number of characters of an unknown name that are repeated.
const MAX_NAME: usize = 200;

/// The agent that runs a command with `subtask: true` that names no agent.
const SUBTASK_AGENT: &str = "general";

/// A request to run a command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandRequest {
    /// The session.
    pub session_id: SessionID,
    /// The caller's id for the prompt. It identifies a retry.
    pub id: Option<MessageID>,
    /// The name of the command.
    pub command: String,
    /// The arguments, as the user writes them after the name.
    pub arguments: String,
    /// The agent that answers, instead of the agent of the command.
    pub agent: Option<String>,
    /// The model that answers, instead of the model of the command.
    pub model: Option<ModelRef>,
    /// Further files of the prompt.
    pub files: Option<Vec<PromptInputFileAttachment>>,
    /// The way in which the prompt enters the session.
    pub delivery: Delivery,
    /// True if the prompt wakes the session.
    pub resume: bool,
}

/// Runs the commands of a host.
pub(crate) struct CommandRunner {
    pub(crate) journal: Arc<Journal>,
    pub(crate) locations: Arc<Locations>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) mcp: Arc<McpServers>,
    pub(crate) running: RunningCommands,
    /// Ends the shell commands when the host closes.
    pub(crate) closing: CancellationToken,
}

/// The agent and the model that a command chooses for its prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CommandSettings {
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<ModelRef>,
}

/// The prompt of a command before its admission.
#[derive(Default)]
struct Made {
    text: String,
    /// The ranges of the text that come from programs and servers.
    outputs: Vec<TextRange>,
    files: Vec<PromptInputFileAttachment>,
    agents: Vec<PromptAgentAttachment>,
}

impl CommandRunner {
    /// Makes the prompt of a command. Returns the receipt instead if the same command was admitted with this id before;
    /// nothing runs then.
    pub(crate) async fn prepare(&self, request: CommandRequest) -> Result<Prepared, RuntimeError> {
        check_arguments(&request.arguments)?;
        // Known before the session is read, so that a removal stops it or it does not find the session.
        let running = self.running.begin(&request.session_id, &self.closing);
        if let Some(receipt) = self.inbox.command_again(&request.again()).await? {
            return Ok(Prepared::Admitted(Box::new(receipt)));
        }
        let session = self.journal.session(&request.session_id).await?;
        check_directory(&session.info)?;
        let location = self.locations.get(&session.info.location.directory).await?;
        let configured = location.commands.list().iter();
        let configured = configured.clone().find(|it| it.name == request.command);
        let (made, settings) = match configured {
            Some(command) => {
                let settings = settings(&request, Some(command), &location)?;
                let made =
                    self.of_template(&request, command, &settings, &session, &location, &running);
                (made.await, settings)
            }
            None => {
                let settings = settings(&request, None, &location)?;
                let made = self.of_server(&request, &location);
                let made = running.stop.run_until_cancelled(made).await;
                let stopped = Err(RuntimeError::Closed);
                (made.unwrap_or(stopped), settings)
            }
        };
        if running.stop.is_cancelled() {
            return Err(self.stopped(&request).await);
        }
        let made = made?;
        Ok(Prepared::Prompt(Box::new(prompt_of(
            request, made, settings,
        ))))
    }

    async fn of_template(
        &self,
        request: &CommandRequest,
        command: &CommandInfo,
        settings: &CommandSettings,
        session: &SessionRow,
        location: &Arc<Location>,
        running: &RunningCommand,
    ) -> Result<Made, RuntimeError> {
        let expanded = expand(&command.template, &request.arguments);
        let agent = settings.agent.clone();
        let rule_scope = RuleScope::new(
            Arc::clone(location),
            agent.unwrap_or_else(|| agent_of(&session.info, location)),
            session.permission.clone().into(),
        );
        let place = session.info.location.clone();
        let permissions = TurnPermissions::new(Arc::clone(&self.permissions), place, rule_scope);
        let spans = Spans {
            permissions: &permissions,
            session: &request.session_id,
            location,
            directory: Arc::from(Path::new(&session.info.location.directory)),
            cancel: &running.stop,
        };
        let outputs = spans.run(commands_of(&expanded)).await;
        let mut made = assembled(expanded, outputs);
        if command.subtask == Some(true) {
            let name = command.agent.as_deref().unwrap_or(SUBTASK_AGENT);
            made.agents.push(PromptAgentAttachment {
                name: name.to_owned(),
                source: None,
            });
        }
        Ok(made)
    }

    /// Returns the reason why a command was stopped.
    async fn stopped(&self, request: &CommandRequest) -> RuntimeError {
        if self.closing.is_cancelled() {
            return RuntimeError::Closed;
        }
        let id = &request.session_id;
        match self.journal.session(id).await {
            Ok(_) => RuntimeError::Unavailable {
                service: SERVICE,
                message: format!(
                    "The session {id} was interrupted before the command made its prompt; run the command again"
                ),
            },
            Err(error) => error,
        }
    }

    /// Makes the prompt from a prompt of a server of this name.
    async fn of_server(
        &self,
        request: &CommandRequest,
        location: &Location,
    ) -> Result<Made, RuntimeError> {
        let servers = self.mcp.prepare(location).await;
        let offered = servers.as_ref().map(|it| it.prompts()).unwrap_or_default();
        let found = offered.iter().find(|it| it.name == request.command);
        let (Some(servers), Some(prompt)) = (&servers, found) else {
            let others: Vec<_> = offered.iter().map(|it| it.name.as_str()).collect();
            return Err(RuntimeError::CommandNotFound {
                name: request.command.chars().take(MAX_NAME).collect(),
                meant: location.commands.similar(&request.command, &others),
            });
        };
        let answered = server_prompt::request(servers, prompt, &request.arguments).await?;
        let mut text = answered.text;
        location.secrets.clean(&mut text);
        let outputs = vec![TextRange::of(&text, 0..text.len())];
        Ok(Made {
            text,
            outputs,
            files: answered.files,
            agents: Vec::new(),
        })
    }
}

/// The result of the preparation of a command.
pub(crate) enum Prepared {
    /// The command was admitted before.
    Admitted(Box<SessionInputAdmitted>),
    /// The prompt to admit.
    Prompt(Box<PromptRequest>),
}

impl CommandRequest {
    /// Returns the request to admit an exact retry, whose text is not known.
    fn again(&self) -> PromptRequest {
        let made = Made::default();
        prompt_of(self.clone(), made, CommandSettings::default())
    }
}

fn check_arguments(arguments: &str) -> Result<(), RuntimeError> {
    let problem = if arguments.len() > MAX_ARGUMENTS {
        let bytes = arguments.len();
        format!(
            "The arguments have {bytes} bytes, and at most {MAX_ARGUMENTS} are accepted; attach files instead"
        )
    } else if arguments.contains('\0') {
        "The arguments contain a NUL character, which no program accepts".to_owned()
    } else {
        return Ok(());
    };
    Err(RuntimeError::InvalidSettings {
        field: "arguments",
        message: problem,
    })
}

/// Returns agent and model of the prompt: those of the request, else those of the command. A command that a subagent runs
/// chooses neither for the session, because its model belongs to the task.
fn settings(
    request: &CommandRequest,
    command: Option<&CommandInfo>,
    location: &Location,
) -> Result<CommandSettings, RuntimeError> {
    let own = command.filter(|it| it.subtask != Some(true));
    let agent = request.agent.clone();
    let agent = agent.or_else(|| own.and_then(|it| it.agent.clone()));
    let model = request.model.clone();
    let model = model.or_else(|| own.and_then(|it| it.model.clone()));
    let invalid = |field, error: &dyn std::fmt::Display| RuntimeError::InvalidSettings {
        field,
        message: error.to_string(),
    };
    if let Some(agent) = &agent {
        let known = location.agents.resolve(Some(agent));
        known.map_err(|error| invalid("agent", &error))?;
    }
    if let Some(model) = &model {
        let known = location.catalogue.resolve(Some(model));
        known.map_err(|error| invalid("model", &error))?;
    }
    Ok(CommandSettings { agent, model })
}

/// Returns the request to admit the prompt.
fn prompt_of(request: CommandRequest, made: Made, settings: CommandSettings) -> PromptRequest {
    let files = request.files.into_iter().flatten().chain(made.files);
    let files: Vec<_> = files.collect();
    PromptRequest {
        session_id: request.session_id,
        id: request.id,
        prompt: PromptInput {
            text: made.text,
            files: Some(files).filter(|files| !files.is_empty()),
            agents: Some(made.agents).filter(|agents| !agents.is_empty()),
        },
        delivery: request.delivery,
        resume: request.resume,
        settings: PromptSettings {
            agent: settings.agent,
            model: settings.model,
            ..PromptSettings::default()
        },
        mentions: true,
        command: Some(Box::new(PromptCommand {
            name: request.command,
            arguments: request.arguments,
            outputs: made.outputs,
        })),
    }
}

fn commands_of(expanded: &[Expanded]) -> Vec<Span> {
    let spans = expanded.iter().filter_map(|part| match part {
        Expanded::Text(_) => None,
        Expanded::Span(span) => Some(span.clone()),
    });
    spans.collect()
}

/// Joins the parts of a template with the outputs of its commands, and trims the text.
fn assembled(expanded: Vec<Expanded>, outputs: Vec<String>) -> Made {
    let mut outputs = outputs.into_iter();
    let (mut text, mut ranges) = (String::new(), Vec::new());
    for part in expanded {
        match part {
            Expanded::Text(part) => text += &part,
            Expanded::Span(_) => {
                let begin = text.len();
                text += &outputs.next().unwrap_or_default();
                ranges.push(begin..text.len());
            }
        }
    }
    let trimmed = text.trim_start();
    let skipped = text.len() - trimmed.len();
    let trimmed = trimmed.trim_end();
    let place = |at: usize| at.saturating_sub(skipped).min(trimmed.len());
    let outputs = ranges.into_iter().filter_map(|range| {
        let range = place(range.start)..place(range.end);
        (!range.is_empty()).then(|| TextRange::of(trimmed, range))
    });
    Made {
        outputs: outputs.collect(),
        text: trimmed.to_owned(),
        ..Made::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_of_outputs_follow_the_trimmed_text() {
        let span = || {
            Expanded::Span(Span {
                command: "c".to_owned(),
                shown: "c".to_owned(),
                parameters: Vec::new(),
                arguments: None,
            })
        };
        let text = |text: &str| Expanded::Text(text.to_owned());
        for (parts, outputs, expected, ranges) in [
            (
                vec![text(" \u{1f980} "), span(), text(" ")],
                vec!["out"],
                "\u{1f980} out",
                vec![(3, 6)],
            ),
            (
                vec![span(), text("x"), span()],
                vec!["  a", "b  "],
                "axb",
                vec![(0, 1), (2, 3)],
            ),
            (vec![span(), span()], vec![" ", ""], "", vec![]),
        ] {
            let outputs = outputs.into_iter().map(str::to_owned).collect();
            let made = assembled(parts, outputs);
            let found: Vec<_> = made.outputs.iter().map(|it| (it.start, it.end)).collect();
            assert_eq!((made.text.as_str(), found), (expected, ranges));
        }
    }
}
