//! Regular downloads of the list of models, if the program allows them.

use std::sync::Arc;
use std::time::Duration;

use opencode_location::catalogue::ListFile;
use opencode_location::location::Locations;
use opencode_net::Fetch;
use opencode_schema::event::{Nothing, Notice};
use opencode_schema::location::LocationRef;
use tokio_util::sync::CancellationToken;

use crate::journal::Journal;
use crate::timer::Timer;

/// Time between two downloads.
const EVERY: Duration = Duration::from_secs(60 * 60);

/// Time limit for one attempt.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Waits before further attempts.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// Keeps the list of models current.
pub(crate) struct ModelListRefresh {
    pub(crate) locations: Arc<Locations>,
    pub(crate) fetch: Arc<dyn Fetch>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) journal: Arc<Journal>,
}

impl ModelListRefresh {
    /// Replaces the list once an hour, until the host closes. The first time is at once if the list is older than five
    /// minutes. A failure keeps the list. A wait for idleness does not include this work.
    pub(crate) fn begin(self, closing: CancellationToken) {
        drop(opencode_log::spawn(self.run(closing)));
    }

    async fn run(self, closing: CancellationToken) {
        let file = match self.locations.list_file() {
            Ok(Some(file)) => file,
            Ok(None) => return,
            Err(problem) => {
                tracing::warn!("The list of models is not refreshed: {problem}");
                return;
            }
        };
        closing.run_until_cancelled(self.repeat(&file)).await;
    }

    async fn repeat(&self, file: &ListFile) {
        let (checked, now) = (file.clone(), self.journal.now());
        let due = opencode_log::spawn_blocking(move || checked.is_due(now));
        if !matches!(due.await, Ok(true)) {
            self.timer.after(EVERY).await;
        }
        loop {
            match self.refresh(file).await {
                Ok(true) => self.announce(),
                Ok(false) => {}
                Err(problem) => tracing::warn!("The list of models is not refreshed: {problem}"),
            }
            self.timer.after(EVERY).await;
        }
    }

    /// Replaces the list. Returns false if another host does that at the same time.
    async fn refresh(&self, file: &ListFile) -> Result<bool, String> {
        let content = self.download(file).await?;
        let stored = file.clone();
        let replaced = opencode_log::spawn_blocking(move || stored.replace(&content));
        let replaced = replaced.await.map_err(|error| error.to_string())?;
        if replaced == Ok(true) {
            self.locations.note_new_list();
        }
        replaced
    }

    async fn download(&self, file: &ListFile) -> Result<Vec<u8>, String> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let fetched = self.fetch.fetch(file.address.clone(), file.limit());
            let fetched = tokio::select! {
                biased;
                () = self.timer.after(TIMEOUT) => Err("the server did not answer in time".to_owned()),
                fetched = fetched => fetched.map_err(|error| error.to_string()),
            };
            match (fetched, pauses.next()) {
                (Ok(content), _) => return Ok(content),
                (Err(_), Some(pause)) => self.timer.after(pause).await,
                (Err(problem), None) => return Err(problem),
            }
        }
    }

    /// Notifies clients of the new list, and of the models of the open Locations, which may have changed.
    fn announce(&self) {
        let refreshed = Notice::ModelsDevRefreshed(Nothing {});
        self.journal.announcer.notify(None, &refreshed);
        for directory in self.locations.open_directories() {
            let location = LocationRef {
                directory,
                workspace_id: None,
            };
            let updated = Notice::CatalogUpdated(Nothing {});
            self.journal.announcer.notify(Some(&location), &updated);
        }
    }
}
