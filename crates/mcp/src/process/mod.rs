//! The processes of a local server.

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::config::LocalServer;
use system::Process;

/// The time that a server has to end after the end of its input.
const END_OF_INPUT: Duration = Duration::from_millis(500);

/// The time that a server has to end after it was asked to.
const TERMINATION: Duration = Duration::from_secs(2);

/// A server that has started.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    pub(crate) errors: ChildStderr,
}

/// All processes of a local server. Dropping it kills them.
pub(crate) struct Child {
    process: Process,
    pub(crate) exit: Arc<Exit>,
}

/// The end of the main process of a server.
#[derive(Default)]
pub(crate) struct Exit {
    ended: CancellationToken,
    code: Mutex<Option<i32>>,
}

impl Exit {
    /// Returns the exit code when the main process has ended; `None` if a signal ended it.
    pub(crate) async fn code(&self) -> Option<i32> {
        self.ended.cancelled().await;
        *self.code.lock()
    }
}

/// Starts a local server.
///
/// # Errors
///
/// Fails if the system cannot provide a process. On Unix, a program that cannot be run ends with the exit
/// code 126 or 127.
pub(crate) async fn start(server: &LocalServer) -> io::Result<Started> {
    let running = system::start(server.clone()).await?;
    let exit = Arc::new(Exit::default());
    opencode_log::spawn(wait(running.exited, Arc::clone(&exit)));
    Ok(Started {
        child: Child {
            process: running.process,
            exit,
        },
        input: running.input,
        output: running.output,
        errors: running.errors,
    })
}

async fn wait(exited: BoxFuture<'static, Option<i32>>, exit: Arc<Exit>) {
    *exit.code.lock() = exited.await;
    exit.ended.cancel();
}

/// A started server as the system provides it.
struct Running {
    process: Process,
    /// The exit code of the main process; `None` if a signal ended it.
    exited: BoxFuture<'static, Option<i32>>,
    input: ChildStdin,
    output: ChildStdout,
    errors: ChildStderr,
}

impl Child {
    /// Ends all processes: waits for the end that follows the end of the input, then asks them to end,
    /// then kills them. Returns when none is left.
    pub(crate) async fn close(mut self) {
        if timeout(END_OF_INPUT, self.exit.code()).await.is_err() {
            self.process.terminate();
            let _ = timeout(TERMINATION, self.exit.code()).await;
        }
        self.process.kill();
        self.process.end().await;
    }
}
