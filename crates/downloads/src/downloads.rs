//! The copies of a host: which are due, which are being made, and why one failed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use opencode_schema::clock::{Clock, Millis};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::copy::{Access, Copy, Made, Origin};
use crate::{repositories, skills};
use opencode_net::Fetch;

/// Time between two updates of a copy.
const UPDATE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Time between two attempts after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Number of copies that a host makes at the same time.
const CONCURRENCY: usize = 2;

/// Maximum number of copies that a host makes. Later ones fail.
const MAX_COPIES: usize = 1_000;

/// The copies of a host.
pub struct Downloads {
    shared: Arc<Shared>,
    states: Mutex<HashMap<Copy, Arc<State>>>,
    /// The number of attempts that have ended.
    ended: watch::Sender<u64>,
}

/// The data that running attempts need, too.
struct Shared {
    access: Access,
    /// Called after a directory was replaced.
    changed: Box<dyn Fn(&Copy) + Send + Sync>,
    clock: Arc<dyn Clock>,
    closing: CancellationToken,
    running: Semaphore,
}

/// The state of a copy.
#[derive(Default)]
struct State(Mutex<Attempts>);

#[derive(Default)]
struct Attempts {
    is_running: bool,
    /// The time of the end of the last attempt.
    last: Option<Millis>,
    /// The reason that the last attempt failed.
    failure: Option<String>,
}

impl Downloads {
    /// `changed` is called after each directory that was replaced. Cancelling `closing` ends the work in progress.
    pub fn new(
        fetch: Arc<dyn Fetch>,
        clock: Arc<dyn Clock>,
        variables: BTreeMap<String, String>,
        changed: impl Fn(&Copy) + Send + Sync + 'static,
        closing: CancellationToken,
    ) -> Self {
        let shared = Shared {
            access: Access { fetch, variables },
            changed: Box::new(changed),
            clock,
            closing,
            running: Semaphore::new(CONCURRENCY),
        };
        Self {
            shared: Arc::new(shared),
            states: Mutex::default(),
            ended: watch::Sender::new(0),
        }
    }

    /// Returns a receiver of the number of attempts that have ended.
    pub fn ended(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    /// Makes or updates a copy in the background, unless that is under way or not due. Returns at once.
    pub fn keep(&self, copy: &Copy) {
        let Some(state) = self.state(copy) else {
            return;
        };
        if !state.begin(self.shared.clock.now()) {
            return;
        }
        let (shared, copy, ended) = (Arc::clone(&self.shared), copy.clone(), self.ended.clone());
        opencode_log::spawn(async move {
            let closing = shared.closing.clone();
            let made = closing.run_until_cancelled(shared.make(&copy)).await;
            // The host closes, so nothing reads the state any more.
            let Some(made) = made else { return };
            // The state comes first: a reader of the log or of the change finds the outcome.
            state.end(shared.clock.now(), made.as_ref().err().cloned());
            match made {
                Ok(Made::Replaced) => {
                    let directory = copy.directory.display();
                    tracing::info!(%directory, "a copy was made");
                    (shared.changed)(&copy);
                }
                Ok(Made::Kept) => {}
                Err(reason) => {
                    let directory = copy.directory.display();
                    tracing::warn!(%directory, reason, "a copy was not made");
                }
            }
            ended.send_modify(|count| *count += 1);
        });
    }

    /// Returns the reason that the last attempt failed, as a part of a sentence without secrets. `None` if it
    /// succeeded, is under way for the first time, or was never needed.
    pub fn failure(&self, copy: &Copy) -> Option<String> {
        let state = Arc::clone(self.states.lock().get(copy)?);
        let attempts = state.0.lock();
        attempts.failure.clone()
    }

    fn state(&self, copy: &Copy) -> Option<Arc<State>> {
        let mut states = self.states.lock();
        if let Some(state) = states.get(copy) {
            return Some(Arc::clone(state));
        }
        if states.len() >= MAX_COPIES {
            return None;
        }
        let state = Arc::default();
        states.insert(copy.clone(), Arc::clone(&state));
        Some(state)
    }
}

impl Shared {
    async fn make(&self, copy: &Copy) -> Result<Made, String> {
        let permit = self.running.acquire().await;
        let _permit = permit.map_err(|_| "the host closes".to_owned())?;
        match &copy.origin {
            Origin::Repository { address, branch } => {
                repositories::update(&self.access, address, branch.as_deref(), copy).await
            }
            Origin::Skills { address } => skills::update(&self.access, address, copy).await,
        }
    }
}

impl State {
    /// Marks an attempt as running. Returns false if one runs already, or if none is due.
    fn begin(&self, now: Millis) -> bool {
        let mut attempts = self.0.lock();
        let interval = match attempts.failure {
            None => UPDATE_INTERVAL,
            Some(_) => RETRY_INTERVAL,
        };
        // The absolute difference also works if the clock was set back.
        let since = |last: Millis| Duration::from_millis(now.abs_diff(last));
        let is_due = attempts.last.is_none_or(|last| since(last) >= interval);
        let begins = is_due && !attempts.is_running;
        attempts.is_running |= begins;
        begins
    }

    fn end(&self, now: Millis, failure: Option<String>) {
        *self.0.lock() = Attempts {
            is_running: false,
            last: Some(now),
            failure,
        };
    }
}
