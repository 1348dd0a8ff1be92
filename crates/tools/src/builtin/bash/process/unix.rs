//! A command runs in its own session, and a guard ends the session if the host dies.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    io,
    os::fd::OwnedFd,
};

use tokio::process::{ChildStderr, ChildStdout};

use super::{Order, Running, spawn::Shell};

pub(in super::super) use opencode_guard::{Exit, Process};

/// Starts a command.
pub(in super::super) async fn start(order: Order) -> io::Result<Running> {
    let not_started = marker();
    let marker = not_started.clone();
    let kept = opencode_guard::start("opencode-bash", move |guard| {
        let shell = Shell::spawn(&order, &marker, guard)?;
        Ok((shell.number, (shell.out, shell.err)))
    });
    let kept = kept.await?;
    let (out, err) = kept.pipes;
    Ok(Running {
        process: kept.process,
        exited: kept.exited,
        out: ChildStdout::from_std(OwnedFd::from(out).into())?,
        err: ChildStderr::from_std(OwnedFd::from(err).into())?,
        not_started: Some(not_started),
    })
}

/// Returns a line that no command can know.
fn marker() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("not-started-{:016x}{:016x}", random(), random())
}
