//! The `bash` tool: runs a command in the shell.

mod capture;
mod process;
mod run;
mod script;
mod warnings;

use std::{fmt::Write as _, path::Path, sync::Arc, time::Duration};

use opencode_location::directory::{Target, TargetKind};
use opencode_schema::message::ToolContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::{
    blocking::blocking,
    paths::{Found, Usage, locate_with_permission, require},
};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use crate::ports::shell::Shell;
use capture::Captured;
use process::Order;
use run::{End, EndedCommand, run, signal_name};
use warnings::scan;

pub use script::{ScriptEnd, ScriptOutput, ScriptRequest, run_script};

/// The `bash` tool of one host.
pub(super) struct Bash {
    /// Limits the commands that run at the same time. Other commands wait.
    places: Arc<Semaphore>,
}

impl Default for Bash {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(MAX_RUNNING)),
        }
    }
}

/// Maximum number of commands at once. Each command has at least two processes and may hold one MiB of
/// output.
const MAX_RUNNING: usize = 64;

#[derive(Deserialize, JsonSchema)]
pub(super) struct BashInput {
    #[schemars(description = "The command to run.")]
    command: String,
    #[schemars(description = "Directory to run in, the working directory if left out.")]
    workdir: Option<String>,
    #[schemars(description = "Milliseconds until the command is stopped, 120000 if left out.")]
    #[schemars(range(min = 1, max = 600_000))]
    timeout: Option<u64>,
}

impl TypedTool for Bash {
    type Input = BashInput;
    type Port = Arc<Shell>;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: BashInput,
        context: ToolContext,
        shell: Arc<Shell>,
    ) -> Result<ToolOutput, ToolFailure> {
        if input.command.is_empty() {
            return Err(ToolFailure::new(EMPTY));
        }
        let refused = format!("Unable to execute command: {}", input.command);
        check_command(&input.command, &refused)?;
        let workdir = input.workdir.as_deref().unwrap_or(".");
        let workdir_refused = format!("{refused}: the working directory {workdir} cannot be used");
        let target = locate_with_permission(
            &context,
            workdir,
            TargetKind::Directory,
            Usage::Changing,
            &workdir_refused,
        )
        .await?;
        require(&context, &target, &[Found::Directory], &workdir_refused).await?;
        let (command, directory) = (input.command.clone(), target.canonical.clone());
        let warnings = blocking(move || scan(&command, &directory)).await?;
        ask(&context, &input.command, &refused).await?;
        let _place = self.places.acquire().await;
        let directory = blocking(move || ready(target)).await?;
        let order = Order {
            shell,
            command: input.command,
            arguments: Vec::new(),
            directory: directory.ok_or_else(|| {
                ToolFailure::new(format!(
                    "{workdir_refused}: it changed while a permission was requested"
                ))
            })?,
        };
        // From here on, an interruption takes effect only after all processes have ended.
        context.begin_change()?;
        let limit = Duration::from_millis(input.timeout.unwrap_or(DEFAULT_TIMEOUT_MS));
        let ended = run(order, limit, &context.cancel).await.map_err(|error| {
            tracing::debug!(%error, "a command could not be started");
            ToolFailure::new(format!("{refused}: {error}"))
        })?;
        output(ended, limit, &warnings)
    }
}

const DEFAULT_TIMEOUT_MS: u64 = 120_000;

/// Maximum length of a command in bytes. The system accepts no longer argument of a program.
const MAX_COMMAND_BYTES: usize = if cfg!(windows) { 8_000 } else { 131_000 };

const EMPTY: &str = "Invalid tool input: Expected a value with a length of at least 1, got \"\"\n  at [\"command\"]";

const DESCRIPTION: &str = "\
Run a command in the shell and get what it prints and its exit code.

Each call is a new shell that starts in the working directory: use `workdir` instead of `cd`. A \
relative `workdir` must stay inside the working directory; for an absolute one elsewhere the user is \
asked first. There is no terminal and no input, so a command that asks questions gets no answer. The \
call returns when the command has ended and nothing holds its output open any more. Then, and when \
`timeout` has passed (120000 ms unless you say otherwise, 600000 at most), everything it started is \
ended, background processes included: start a server and use it in the same call.

Standard output and standard error come together. Only the first mebibyte is kept, and of a long \
output you are shown the beginning and the end with the path of a file that holds what was kept.

Use read, glob, grep, edit and write for files where they can do the work.";

fn check_command(command: &str, refused: &str) -> Result<(), ToolFailure> {
    if command.contains('\0') {
        return Err(ToolFailure::new(format!(
            "{refused}: a command cannot contain a NUL character"
        )));
    }
    if command.len() > MAX_COMMAND_BYTES {
        let beginning: String = refused.chars().take(200).collect();
        return Err(ToolFailure::new(format!(
            "{beginning}…: the command has {} bytes, and {MAX_COMMAND_BYTES} is the limit. \
             Write a script to a file and run the file",
            command.len()
        )));
    }
    Ok(())
}

async fn ask(context: &ToolContext, command: &str, refused: &str) -> Result<(), ToolFailure> {
    let mut request = context.permission_request("bash", vec![command.to_owned()]);
    // A permission rule gives these characters another meaning than a shell, so a saved rule would
    // allow other commands too.
    if !command.contains(['*', '?', '\\']) {
        request.save.push(command.to_owned());
    }
    context.assert(request, refused).await
}

/// Returns the directory if it exists and its path still resolves as it did when the user was asked.
fn ready(target: Target) -> Option<Arc<Path>> {
    let ready = target.canonical.is_dir() && target.still_resolves();
    ready.then(|| target.canonical.into())
}

/// The structured output for programs.
#[derive(Serialize)]
struct Structured {
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<bool>,
}

fn output(
    ended: EndedCommand,
    limit: Duration,
    warnings: &[String],
) -> Result<ToolOutput, ToolFailure> {
    let Captured {
        mut text,
        truncated,
    } = ended.captured;
    if truncated {
        text.push_str(TRUNCATED);
    }
    let mut trailer = String::new();
    if !warnings.is_empty() {
        let _ = write!(trailer, "Warnings:\n- {}\n\n", warnings.join("\n- "));
    }
    let (mut exit, mut signal, mut timeout) = (None, None, None);
    match ended.end {
        End::Exited(code) => {
            let _ = write!(trailer, "Command exited with code {code}.");
            exit = Some(code);
        }
        End::Signal(number) => {
            let (code, name) = (SIGNAL_CODES + number, signal_name(number));
            let _ = write!(trailer, "Command was ended by {name} (exit code {code}).");
            if name == "SIGKILL" {
                trailer.push_str(" Perhaps the memory was not sufficient.");
            }
            (exit, signal) = (Some(code), Some(name));
        }
        End::Unknown => trailer.push_str("Command ended, and it is not known how."),
        End::TimedOut => {
            let limit = limit.as_millis();
            add_line(
                &mut text,
                &format!("Command exceeded timeout of {limit} ms. {LONGER}"),
            );
            trailer.push_str("Command timed out before completion.");
            timeout = Some(true);
        }
        End::Interrupted => return Err(ToolFailure::Interrupted),
    }
    if text.is_empty() {
        text.push_str("(no output)");
    }
    let output = ToolOutput::encode(&Structured {
        exit,
        signal,
        truncated,
        timeout,
    })?;
    let parts = [text, trailer].map(|text| ToolContent::Text { text });
    Ok(output.with_content(parts.into()))
}

/// A shell reports the end of a program by a signal as this number and the number of the signal.
const SIGNAL_CODES: i32 = 128;

const TRUNCATED: &str = "\n\n[output capture truncated at the in-memory safety limit]";

const LONGER: &str = "Retry with a larger timeout if the command is expected to take longer.";

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}
