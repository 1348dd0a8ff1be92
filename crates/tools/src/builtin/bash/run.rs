//! A command from its start until nothing of it is left.

use std::{io, pin::pin, time::Duration};

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    capture::{Capture, Captured},
    process::{Order, Running, start},
};

/// How long a command that is asked to end may take before it is killed.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long it may take where somebody waits for the end: the call is interrupted, or the host
/// closes.
const SHORT_PATIENCE: Duration = Duration::from_millis(500);

/// How long the pipes of a killed command are read. A process that left its session may hold them.
const DRAIN: Duration = Duration::from_millis(100);

/// How long killed processes may take to be gone.
const LAST: Duration = Duration::from_secs(5);

/// A command that has ended.
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) captured: Captured,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With this code.
    Exited(i32),
    /// By a signal.
    Killed,
    /// It was still there at its time limit.
    TimedOut,
    /// Its call was interrupted.
    Interrupted,
}

/// Runs a command. It is over when the shell has ended and its output is closed, or at the limit;
/// by then none of its processes is left. Dropping the future kills them.
pub(super) async fn run(
    order: Order,
    limit: Duration,
    cancel: &CancellationToken,
) -> io::Result<Ran> {
    let Running {
        mut process,
        exited,
        out,
        err,
    } = start(order).await?;
    let mut capture = Capture::default();
    let end = {
        let finished = async { tokio::join!(exited, capture.read(out, err)).0 };
        let mut finished = pin!(finished);
        let end = tokio::select! {
            // A command that is done is done, also when the call is interrupted meanwhile.
            biased;
            code = &mut finished => code.ok().flatten().map_or(End::Killed, End::Exited),
            () = cancel.cancelled() => End::Interrupted,
            () = sleep(limit) => End::TimedOut,
        };
        if matches!(end, End::Interrupted | End::TimedOut) {
            process.terminate();
            let has_ended = tokio::select! {
                _ = &mut finished => true,
                () = patience(cancel) => false,
            };
            process.kill();
            if !has_ended {
                let _ = timeout(DRAIN, &mut finished).await;
            }
        }
        end
    };
    // What a signal does not end, because it hangs in the kernel, is left to end some time.
    if timeout(LAST, process.end()).await.is_err() {
        tracing::warn!("a process of a command cannot be killed");
    }
    Ok(Ran {
        end,
        captured: capture.finish(),
    })
}

/// Returns when no more time is given to a command that was asked to end.
async fn patience(cancel: &CancellationToken) {
    let hurry = async {
        cancel.cancelled().await;
        sleep(SHORT_PATIENCE).await;
    };
    tokio::select! {
        () = sleep(PATIENCE) => {}
        () = hurry => {}
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_command_gets_less_time_to_end_where_somebody_waits() {
        let cancel = CancellationToken::new();
        let begun = Instant::now();
        patience(&cancel).await;
        assert_eq!(begun.elapsed(), PATIENCE);
        cancel.cancel();
        let begun = Instant::now();
        patience(&cancel).await;
        assert_eq!(begun.elapsed(), SHORT_PATIENCE);
    }
}
