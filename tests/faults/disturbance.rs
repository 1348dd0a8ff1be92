//! Storage that fails once at a place that the test selects.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opencode_runtime::{
    Fault, Moment, Recovery, RuntimeError, RuntimeOptions, StoreError, TestHook,
};
use opencode_schema::event::SessionEvent;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, LiveLog, prompt_request};

/// Every kind of storage failure.
pub(crate) const FAULTS: [Fault; 3] = [Fault::Full, Fault::Io, Fault::Locked];

/// A place where storage can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The start of the next transaction.
    Begin,
    /// The write of an event with this name.
    Appended(&'static str),
    /// The commit of a transaction that contains an event with this name.
    Commit(&'static str),
    /// A read.
    Read,
    /// The checkpoint of the write-ahead log.
    Checkpoint,
}

/// The places at which a command that writes this event can fail.
pub(crate) fn places(event: &'static str) -> [Place; 3] {
    [Place::Begin, Place::Appended(event), Place::Commit(event)]
}

/// Fails once each time it is armed.
#[derive(Default)]
pub(crate) struct Disturbance {
    armed: Mutex<Option<(Place, Fault)>>,
}

impl Disturbance {
    /// Makes storage fail once at the place.
    pub(crate) fn arm(&self, place: Place, fault: Fault) {
        *self.armed() = Some((place, fault));
    }

    /// True if no failure is pending.
    pub(crate) fn is_over(&self) -> bool {
        self.armed().is_none()
    }

    fn armed(&self) -> MutexGuard<'_, Option<(Place, Fault)>> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TestHook for Disturbance {
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        let mut armed = self.armed();
        match *armed {
            Some((place, fault)) if is_at(place, moment) => {
                *armed = None;
                Err(fault)
            }
            _ => Ok(()),
        }
    }
}

fn is_at(place: Place, moment: Moment<'_>) -> bool {
    match (place, moment) {
        (Place::Begin, Moment::Begin)
        | (Place::Read, Moment::Read)
        | (Place::Checkpoint, Moment::Checkpoint) => true,
        (Place::Appended(name), Moment::Appended(event)) => is_named(&event.payload, name),
        (Place::Commit(name), Moment::Commit(entries)) => entries
            .iter()
            .any(|entry| is_named(&entry.event.payload, name)),
        _ => false,
    }
}

fn is_named(payload: &SessionEvent, name: &str) -> bool {
    let full = payload.name();
    full.strip_prefix("session.next.").unwrap_or(full) == name
}

/// A runtime with storage that can fail.
pub(crate) struct Scene {
    pub(crate) f: Fixture,
    disturbance: Arc<Disturbance>,
}

impl Scene {
    pub(crate) async fn open() -> Self {
        let disturbance = Arc::new(Disturbance::default());
        let test_hook = Arc::clone(&disturbance);
        let open = move |options: &mut RuntimeOptions| {
            options.test_hook = Some(Arc::clone(&test_hook) as Arc<dyn TestHook>);
        };
        Self {
            f: Fixture::with(open).await,
            disturbance,
        }
    }

    /// Makes storage fail once at the place.
    pub(crate) fn arm(&self, place: Place, fault: Fault) {
        self.disturbance.arm(place, fault);
    }

    /// True if storage has failed since the last call of [`Scene::arm`].
    pub(crate) fn is_over(&self) -> bool {
        self.disturbance.is_over()
    }

    /// Sets the recovery of interrupted sessions for all later openings.
    pub(crate) fn recovers(&mut self, recovery: Recovery) {
        let test_hook = Arc::clone(&self.disturbance);
        self.f.change(move |options| {
            options.test_hook = Some(Arc::clone(&test_hook) as Arc<dyn TestHook>);
            options.recovery = recovery;
        });
    }

    /// Asserts that storage failed, and that the error is the requested one.
    pub(crate) fn assert_failed(&self, error: &StoreError, fault: Fault) {
        assert!(self.disturbance.is_over(), "storage did not fail");
        assert_eq!(error.to_string(), failure(fault).to_string());
    }

    /// Asserts the same for the answer of an operation.
    pub(crate) fn assert_refused<T: std::fmt::Debug>(
        &self,
        answer: Result<T, RuntimeError>,
        fault: Fault,
    ) {
        match answer {
            Err(RuntimeError::Store(error)) => self.assert_failed(&error, fault),
            other => panic!("{fault:?} gave {other:?}"),
        }
    }

    /// After a full disk or an I/O error the store refuses writes until the file is opened again,
    /// and reads still work. A locked file needs no recovery.
    pub(crate) async fn recover(&mut self, session: &SessionID, fault: Fault) {
        if fault == Fault::Locked {
            return;
        }
        let before = self.f.events(session).await;
        let refused = self.f.try_admit(prompt_request(session, "Too late")).await;
        match refused {
            Err(RuntimeError::Store(StoreError::Poisoned(_))) => {}
            other => panic!("a failed store answers {other:?}"),
        }
        // Neither an interruption nor a wait hangs in this state.
        self.f.interrupt(session).await;
        self.f.wait(session).await;
        self.f.reopen().await;
        assert_eq!(self.f.events(session).await, before);
    }

    /// A session with one pending prompt.
    pub(crate) async fn session_with_prompt(&self) -> SessionID {
        let session = self.f.session().await;
        self.f.leave(&session, "Kept", Delivery::Steer).await;
        session
    }

    /// Waits for the live event with the reason why the drain ended.
    pub(crate) async fn heard_failure(&self, live: &mut LiveLog, fault: Fault) {
        let text = format!("session.error {}", failure(fault));
        self.f.read_until(live, &text).await;
        assert!(self.disturbance.is_over(), "storage did not fail");
    }
}

/// The error that a caller receives. After a locked file the caller may try again. After the other
/// failures the file must be opened again.
fn failure(fault: Fault) -> StoreError {
    match fault {
        Fault::Full => StoreError::Poisoned("database or disk is full".to_owned()),
        Fault::Io => StoreError::Poisoned("disk I/O error".to_owned()),
        Fault::Locked => StoreError::Busy("database is locked".to_owned()),
    }
}

/// A message id from a caller.
pub(crate) fn message_id(text: &str) -> MessageID {
    MessageID::parse(text).unwrap()
}
