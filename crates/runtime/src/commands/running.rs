//! The commands whose prompts a host makes now. Their shell commands and requests belong to the sessions, although no
//! Session Drain runs.

use std::collections::HashMap;
use std::sync::Arc;

use opencode_schema::id::SessionID;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The commands whose prompts a host makes now.
#[derive(Clone, Default)]
pub(crate) struct RunningCommands {
    /// Locked to read or to change; never across an await.
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    next: u64,
    commands: HashMap<u64, Known>,
}

struct Known {
    session: SessionID,
    stop: CancellationToken,
    ended: CancellationToken,
}

/// One command. It has ended when this is dropped.
pub(super) struct RunningCommand {
    running: RunningCommands,
    number: u64,
    /// Ends the shell commands and requests of the command.
    pub(super) stop: CancellationToken,
    ended: CancellationToken,
}

impl RunningCommands {
    /// Adds a command of a session. `closing` stops it.
    pub(super) fn begin(&self, session: &SessionID, closing: &CancellationToken) -> RunningCommand {
        let (stop, ended) = (closing.child_token(), CancellationToken::new());
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        let known = Known {
            session: session.clone(),
            stop: stop.clone(),
            ended: ended.clone(),
        };
        state.commands.insert(number, known);
        drop(state);
        RunningCommand {
            running: self.clone(),
            number,
            stop,
            ended,
        }
    }

    /// True if a session has a command.
    pub(crate) fn has(&self, session: &SessionID) -> bool {
        let state = self.state.lock();
        state.commands.values().any(|it| it.session == *session)
    }

    /// Stops the commands of a session, and returns when they have ended.
    pub(crate) async fn stop(&self, session: &SessionID) {
        for (stop, ended) in self.of(session) {
            stop.cancel();
            ended.cancelled().await;
        }
    }

    fn of(&self, session: &SessionID) -> Vec<(CancellationToken, CancellationToken)> {
        let state = self.state.lock();
        let own = state.commands.values().filter(|it| it.session == *session);
        own.map(|it| (it.stop.clone(), it.ended.clone())).collect()
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.stop.cancel();
        self.running.state.lock().commands.remove(&self.number);
        self.ended.cancel();
    }
}
