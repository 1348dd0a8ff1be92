//! Runs a command from its start until none of its processes is left.

use std::{io, pin::pin, time::Duration};

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    capture::{Capture, Captured},
    process::{Exit, Order, Running, start},
};

/// Time in which a command must end when it is asked to, before it is killed.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The shorter time if a caller waits for the end because the call is interrupted or the host closes.
const SHORT_TIMEOUT: Duration = Duration::from_millis(500);

/// Time during which the pipes of a killed command are read. A process that left the session may hold
/// them.
const DRAIN: Duration = Duration::from_millis(100);

/// Time in which killed processes must have ended.
const LAST: Duration = Duration::from_secs(5);

/// A command that has ended.
pub(super) struct EndedCommand {
    pub(super) end: End,
    pub(super) captured: Captured,
}

/// Reason why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The shell exited with this code.
    Exited(i32),
    /// The signal with this number ended the shell.
    Signal(i32),
    /// The shell ended, and the system does not tell how.
    Unknown,
    /// The command reached its time limit.
    TimedOut,
    /// The call was interrupted.
    Interrupted,
}

/// Runs a command until the shell has ended and its output is closed, or until the limit. None of its
/// processes is left then. Dropping the future kills them.
pub(super) async fn run(
    order: Order,
    limit: Duration,
    cancel: &CancellationToken,
) -> io::Result<EndedCommand> {
    let Running {
        mut process,
        exited,
        out,
        err,
        not_started,
    } = start(order).await?;
    let mut capture = Capture::default();
    let end = {
        let finished = async { tokio::join!(exited, capture.read(out, err)).0 };
        let mut finished = pin!(finished);
        let end = tokio::select! {
            // A finished command counts as finished, even if the call is interrupted at the same time.
            biased;
            exit = &mut finished => match exit.ok().flatten() {
                Some(Exit::Code(code)) => End::Exited(code),
                Some(Exit::Signal(number)) => End::Signal(number),
                None => End::Unknown,
            },
            () = cancel.cancelled() => End::Interrupted,
            () = sleep(limit) => End::TimedOut,
        };
        if matches!(end, End::Interrupted | End::TimedOut) {
            process.terminate();
            let has_ended = tokio::select! {
                _ = &mut finished => true,
                () = grace_time(cancel) => false,
            };
            process.kill();
            if !has_ended {
                let _ = timeout(DRAIN, &mut finished).await;
            }
        }
        end
    };
    // A process that hangs in the kernel does not end by a signal. It ends later.
    if timeout(LAST, process.end()).await.is_err() {
        tracing::warn!("a process of a command cannot be killed");
    }
    let captured = capture.finish();
    let marker = not_started.filter(|_| matches!(end, End::Signal(_)));
    let printed = captured.text.trim_end();
    match marker.and_then(|marker| printed.strip_suffix(&marker)) {
        Some(printed) => Err(io::Error::other(not_started_reason(printed))),
        None => Ok(EndedCommand { end, captured }),
    }
}

/// Returns the reason why a shell could not be started from what the script that starts it printed.
fn not_started_reason(printed: &str) -> String {
    match printed.trim().rsplit_once("exec: ") {
        Some((_, reason)) => format!("the shell cannot be started: {reason}"),
        None => "the shell cannot be started".to_owned(),
    }
}

/// Returns the name of a signal, for example `SIGTERM`.
pub(super) fn signal_name(number: i32) -> String {
    #[cfg(unix)]
    if let Ok(signal) = nix::sys::signal::Signal::try_from(number) {
        return signal.as_str().to_owned();
    }
    format!("signal {number}")
}

/// Returns when a command that was asked to end has had its time.
async fn grace_time(cancel: &CancellationToken) {
    let hurry = async {
        cancel.cancelled().await;
        sleep(SHORT_TIMEOUT).await;
    };
    tokio::select! {
        () = sleep(TIMEOUT) => {}
        () = hurry => {}
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_command_gets_less_time_to_end_if_a_user_waits() {
        let cancel = CancellationToken::new();
        let begun = Instant::now();
        grace_time(&cancel).await;
        assert_eq!(begun.elapsed(), TIMEOUT);
        cancel.cancel();
        let begun = Instant::now();
        grace_time(&cancel).await;
        assert_eq!(begun.elapsed(), SHORT_TIMEOUT);
    }
}
