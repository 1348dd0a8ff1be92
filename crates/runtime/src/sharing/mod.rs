//! Shared copies of sessions, through a service of the embedding program. Without it nothing leaves the machine.
//!
//! A copy is published when a session is shared, and again after each activity of a shared session. The address is
//! stored after the service has given it. If the session was unshared or removed meanwhile, the new copy is removed.

mod background;
mod service;

use std::sync::Arc;
use std::time::Duration;

use opencode_location::config::Share;
use opencode_location::location::Locations;
use opencode_schema::event::SessionRecord;
use opencode_schema::id::SessionID;
use opencode_schema::session::{SessionInfo, SessionShare};
use opencode_store::{Abort, SessionRow};
use tokio_util::sync::CancellationToken;

pub(crate) use self::background::ShareQueue;
use self::service::checked;
pub use self::service::{ShareService, ShareSessions};
use crate::error::RuntimeError;
use crate::journal::Journal;
use crate::timer::Timer;

/// Time limit for one call of the service.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Name of the service in failures.
const SERVICE: &str = "session.share";

const NO_SERVICE: &str =
    "This host shares no sessions; open it with the option share: { publish, remove }";
const DISABLED: &str =
    "The configuration of the session's Location disables sharing (share: \"disabled\")";
const UNSHARED: &str = "The session was unshared while its copy was published; share it again";

/// The shared copies of a host's sessions.
pub(crate) struct Sharing {
    pub(crate) journal: Arc<Journal>,
    pub(crate) locations: Arc<Locations>,
    pub(crate) service: Option<ShareService>,
    pub(crate) timer: Arc<dyn Timer>,
    /// Ends the calls of the service.
    pub(crate) closing: CancellationToken,
}

/// The result of storing an address.
enum Stored {
    /// It is stored.
    Yes(SessionInfo, Box<SessionRecord>),
    /// Another call shared or unshared the session meanwhile.
    Changed(SessionInfo),
    /// The session was removed meanwhile.
    Gone,
}

impl Sharing {
    /// Publishes a copy of the session, also if it is shared already.
    pub(crate) async fn share(&self, id: &SessionID) -> Result<SessionInfo, RuntimeError> {
        let session = self.journal.session(id).await?;
        if self.mode_of(&session).await? == Share::Disabled {
            return Err(unavailable(DISABLED));
        }
        self.publish(session).await
    }

    /// Removes the shared copy. Does nothing if the session is not shared.
    pub(crate) async fn unshare(&self, id: &SessionID) -> Result<SessionInfo, RuntimeError> {
        let session = self.journal.session(id).await?;
        let Some(share) = &session.info.share else {
            return Ok(session.info);
        };
        self.remove(&session.info).await?;
        let url = share.url.clone();
        match self.store(&session.info.id, Some(url), None).await? {
            Stored::Yes(info, record) => {
                self.announce(&info, &record);
                Ok(info)
            }
            Stored::Changed(info) => Ok(info),
            Stored::Gone => Err(RuntimeError::SessionNotFound(id.clone())),
        }
    }

    /// Removes the shared copy of a session that was removed. A failure is logged.
    pub(crate) async fn unshare_removed(&self, session: &SessionInfo) {
        if session.share.is_some()
            && let Err(error) = self.remove(session).await
        {
            tracing::warn!(session_id = %session.id, %error, "the shared copy of a removed session stays");
        }
    }

    /// The mode of the session's Location. The option of the host is stronger than a file, except that a file may
    /// disable sharing.
    async fn mode_of(&self, session: &SessionRow) -> Result<Share, RuntimeError> {
        let Some(service) = &self.service else {
            return Err(unavailable(NO_SERVICE));
        };
        let location = self.locations.get(&session.info.location.directory).await?;
        let mode = location.configuration.settings.share;
        Ok(match mode {
            Share::Manual if service.is_automatic => Share::Auto,
            other => other,
        })
    }

    async fn publish(&self, session: SessionRow) -> Result<SessionInfo, RuntimeError> {
        let service = self.service.as_ref();
        let service = service.ok_or_else(|| unavailable(NO_SERVICE))?;
        let url = self.within(service.sessions.publish(&session.info)).await;
        let url = url
            .and_then(checked)
            .map_err(|reason| unavailable(format!("The session was not shared: {reason}")))?;
        let id = &session.info.id;
        let expected = session.info.share.as_ref().map(|share| share.url.clone());
        match self.store(id, expected.clone(), Some(url.clone())).await? {
            Stored::Yes(info, record) => {
                if expected.as_ref() != Some(&url) {
                    self.announce(&info, &record);
                }
                Ok(info)
            }
            Stored::Changed(info) if info.share.as_ref().is_some_and(|it| it.url == url) => {
                Ok(info)
            }
            Stored::Changed(info) => {
                self.take_back(session.info, url).await;
                match info.share {
                    Some(_) => Ok(info),
                    None => Err(unavailable(UNSHARED)),
                }
            }
            Stored::Gone => {
                let id = id.clone();
                self.take_back(session.info, url).await;
                Err(RuntimeError::SessionNotFound(id))
            }
        }
    }

    /// Removes a copy whose address is not stored.
    async fn take_back(&self, session: SessionInfo, url: String) {
        let share = Some(SessionShare { url });
        self.unshare_removed(&SessionInfo { share, ..session })
            .await;
    }

    async fn remove(&self, session: &SessionInfo) -> Result<(), RuntimeError> {
        let service = self.service.as_ref();
        let service = service.ok_or_else(|| unavailable(NO_SERVICE))?;
        let removed = self.within(service.sessions.remove(session)).await;
        removed.map_err(|reason| unavailable(format!("The session is still shared: {reason}")))
    }

    /// Waits for the service, but not for ever.
    async fn within<T>(&self, call: impl Future<Output = Result<T, String>>) -> Result<T, String> {
        tokio::select! {
            answer = call => answer.map_err(|reason| service::shortened(&reason)),
            () = self.closing.cancelled() => Err("the host closes".into()),
            () = self.timer.after(TIMEOUT) => {
                Err(format!("the service has not answered within {} seconds", TIMEOUT.as_secs()))
            }
        }
    }

    async fn store(
        &self,
        id: &SessionID,
        expected: Option<String>,
        url: Option<String>,
    ) -> Result<Stored, RuntimeError> {
        let id = id.clone();
        let stored = self.journal.store.write(move |transaction| {
            let Some(session) = transaction.reader().session(&id)? else {
                return Ok::<_, Abort<RuntimeError>>(Stored::Gone);
            };
            if !transaction.set_share(session.key, expected.as_deref(), url.as_deref())? {
                return Ok(Stored::Changed(session.info));
            }
            let info = SessionInfo {
                share: url.map(|url| SessionShare { url }),
                ..session.info.clone()
            };
            let session = SessionRow { info, ..session };
            let record = transaction.reader().whole_session_record(&session)?;
            Ok(Stored::Yes(session.info, Box::new(record)))
        });
        Ok(stored.await?)
    }

    fn announce(&self, info: &SessionInfo, record: &SessionRecord) {
        self.journal
            .announcer
            .announce_updated(&info.location, record);
    }
}

fn unavailable(message: impl Into<String>) -> RuntimeError {
    RuntimeError::Unavailable {
        service: SERVICE,
        message: message.into(),
    }
}
