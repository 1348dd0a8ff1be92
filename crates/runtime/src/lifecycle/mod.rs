//! The end of sessions, and copies of sessions.

mod fork;
mod held;
mod prune;
mod purge;
mod removal;
mod storage;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agents::unknown::UnknownAgents;
use crate::asks::permissions::Permissions;
use crate::asks::questions::Questions;
use crate::commands::RunningCommands;
use crate::coordinator::Coordinator;
use crate::drain::Shared;
use crate::journal::Journal;
use crate::sharing::Sharing;
use crate::snapshots::SnapshotStores;

pub use self::fork::ForkSession;
pub use self::prune::PruneSessions;

/// Removes and copies the sessions of a host.
pub(crate) struct Lifecycle {
    pub(crate) journal: Arc<Journal>,
    pub(crate) coordinator: Coordinator,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) questions: Arc<Questions>,
    pub(crate) commands: RunningCommands,
    pub(crate) unknown_agents: Arc<UnknownAgents>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sharing: Arc<Sharing>,
    pub(crate) snapshots: Arc<SnapshotStores>,
    /// The directory of Managed Tool Output Files.
    pub(crate) outputs: Arc<Path>,
    pub(crate) closing: CancellationToken,
    /// Tracks the deletion of rows and files, so that closing the host waits for the current step.
    pub(crate) tasks: TaskTracker,
    /// Held during the deletion of rows and files.
    pub(crate) purging: Mutex<()>,
}
