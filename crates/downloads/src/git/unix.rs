//! Git runs in its own session, and a guard ends the session if the host dies.

use std::fs::File;
use std::io::{self, pipe};
use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::unistd::Pid;
use opencode_guard::{Exit, Guard, program};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::unix::pipe::Receiver;

use super::{Ended, GitCommand};

/// Bytes of the output and of the messages that are used. Later bytes are read and dropped.
const MAX_BYTES: usize = 64 * 1024;

struct Pipes {
    output: OwnedFd,
    messages: OwnedFd,
}

/// Runs a command to its end. Dropping the future kills it.
pub(super) async fn run(command: GitCommand) -> io::Result<Ended> {
    let spawn = move |guard: &Guard| spawn(&command, guard);
    let kept = opencode_guard::start("opencode-git", spawn).await?;
    let output = Receiver::from_owned_fd(kept.pipes.output)?;
    let messages = Receiver::from_owned_fd(kept.pipes.messages)?;
    // A helper of Git that goes on holds its pipes open, so the other processes end with the program.
    let ended = async {
        let code = kept.exited.await;
        kept.process.end().await;
        code.ok().flatten().and_then(Exit::code)
    };
    let (output, messages, code) = tokio::join!(read(output), read(messages), ended);
    Ok(Ended {
        code,
        output: output?,
        messages: messages?,
    })
}

fn spawn(command: &GitCommand, guard: &Guard) -> io::Result<(Pid, Pipes)> {
    let input = File::open("/dev/null")?;
    let (output, output_end) = pipe()?;
    let (messages, messages_end) = pipe()?;
    let mut arguments = vec!["git"];
    arguments.extend(command.arguments.iter().map(String::as_str));
    let files = [
        input.as_raw_fd(),
        output_end.as_raw_fd(),
        messages_end.as_raw_fd(),
    ];
    let number = program(
        &arguments,
        &command.directory,
        &command.variables,
        files,
        guard,
    )?;
    let pipes = Pipes {
        output: output.into(),
        messages: messages.into(),
    };
    Ok((number, pipes))
}

async fn read(mut from: impl AsyncRead + Unpin) -> io::Result<String> {
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 8 * 1024]);
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(String::from_utf8_lossy(&kept).into_owned());
        }
        let room = MAX_BYTES - kept.len();
        kept.extend_from_slice(&buffer[..count.min(room)]);
    }
}
