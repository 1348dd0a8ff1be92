//! Context Sources that depend on the session: those of the embedding program.

use std::sync::{Arc, Weak};

use opencode_context::{
    CombineError, RESERVED_NAMESPACE, RegisterError, Snapshot, SystemContext, is_key,
};
use opencode_schema::id::SessionID;
use parking_lot::Mutex;
use serde_json::Value;

/// The namespace of the source of MCP servers.
const MCP_NAMESPACE: &str = "mcp/";

/// The session for which the System Context is observed.
pub struct ObservedSession<'a> {
    /// Id of the session.
    pub id: &'a SessionID,
    /// The agent of the next Provider Turn.
    pub agent: &'a str,
    /// The directory of its Location, in normal form.
    pub directory: &'a str,
    /// The stored Context Snapshot. `None` before the first Context Epoch.
    pub snapshot: Option<&'a str>,
}

/// A Context Source that is created for each observation.
pub trait SessionSource: Send + Sync + 'static {
    /// The key of the source.
    fn key(&self) -> &str;

    /// Returns the source for the next observation of a session. `known` is the value that the model has.
    fn for_session(
        &self,
        session: &ObservedSession<'_>,
        known: Option<&Value>,
    ) -> Result<SystemContext, CombineError>;
}

/// The session sources of a host.
#[derive(Default)]
pub(super) struct SessionSources(Arc<Mutex<Entries>>);

type Entries = Vec<Arc<Entry>>;

struct Entry {
    /// The only Location of the source in normal form. `None` means all.
    directory: Option<String>,
    source: Arc<dyn SessionSource>,
}

/// True if the host itself has the sources with such a key.
fn is_reserved(key: &str) -> bool {
    [RESERVED_NAMESPACE, MCP_NAMESPACE]
        .iter()
        .any(|namespace| key.starts_with(namespace))
}

impl Entry {
    fn is_at(&self, directory: &str) -> bool {
        let own = self.directory.as_deref();
        own.is_none_or(|own| own == directory)
    }
}

impl SessionSources {
    /// Adds a source until the result is dropped.
    ///
    /// # Errors
    ///
    /// Fails if the key is malformed or reserved, or if another source of the same Location has it.
    pub(super) fn register(
        &self,
        directory: Option<String>,
        source: Arc<dyn SessionSource>,
    ) -> Result<SessionSourceRegistration, RegisterError> {
        let key = source.key().to_owned();
        if !is_key(&key) || is_reserved(&key) {
            return Err(RegisterError::Key(key));
        }
        let entry = Arc::new(Entry { directory, source });
        let mut entries = self.0.lock();
        let is_taken = entries.iter().any(|other| {
            let is_same_place = match (&other.directory, &entry.directory) {
                (Some(one), Some(other)) => one == other,
                _ => true,
            };
            is_same_place && other.source.key() == key
        });
        if is_taken {
            return Err(RegisterError::Duplicate(key));
        }
        entries.push(Arc::clone(&entry));
        entries.sort_by(|one, other| one.source.key().cmp(other.source.key()));
        Ok(SessionSourceRegistration {
            entries: Arc::downgrade(&self.0),
            entry,
        })
    }

    /// Returns the sources of a session, in ascending order of their keys.
    pub(super) fn for_session(
        &self,
        session: &ObservedSession<'_>,
    ) -> Result<Vec<SystemContext>, CombineError> {
        let mut entries = self.0.lock().clone();
        entries.retain(|entry| entry.is_at(session.directory));
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        // An unreadable snapshot fails the reconciliation later.
        let snapshot = session.snapshot.map(serde_json::from_str::<Snapshot>);
        let snapshot = snapshot.and_then(Result::ok).unwrap_or_default();
        let contexts = entries.iter().map(|entry| {
            let known = snapshot.get(entry.source.key());
            let known = known.map(|admitted| &admitted.value);
            entry.source.for_session(session, known)
        });
        contexts.collect()
    }
}

/// Handle of a session source. Dropping it ends the source at the next Safe Provider-Turn Boundary of each session.
#[must_use = "the source ends at once if this is dropped"]
pub struct SessionSourceRegistration {
    entries: Weak<Mutex<Entries>>,
    entry: Arc<Entry>,
}

impl Drop for SessionSourceRegistration {
    fn drop(&mut self) {
        if let Some(entries) = self.entries.upgrade() {
            let mut entries = entries.lock();
            entries.retain(|entry| !Arc::ptr_eq(entry, &self.entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(&'static str);

    impl SessionSource for Named {
        fn key(&self) -> &str {
            self.0
        }

        fn for_session(
            &self,
            _: &ObservedSession<'_>,
            _: Option<&Value>,
        ) -> Result<SystemContext, CombineError> {
            Ok(SystemContext::default())
        }
    }

    #[test]
    fn a_key_belongs_to_one_source_at_a_place() {
        let sources = SessionSources::default();
        let register = |directory: Option<&str>, key| {
            sources.register(directory.map(str::to_owned), Arc::new(Named(key)))
        };
        let here = register(Some("/here"), "acme/a").unwrap();
        let _there = register(Some("/there"), "acme/a").unwrap();
        let duplicate = |key: &str| Some(RegisterError::Duplicate(key.to_owned()));
        assert_eq!(register(Some("/here"), "acme/a").err(), duplicate("acme/a"));
        assert_eq!(register(None, "acme/a").err(), duplicate("acme/a"));
        drop(here);
        let _again = register(Some("/here"), "acme/a").unwrap();
        let _all = register(None, "acme/b").unwrap();
        assert_eq!(register(Some("/here"), "acme/b").err(), duplicate("acme/b"));
        for key in ["core/a", "acme", "Acme/a", ""] {
            assert_eq!(
                register(None, key).err(),
                Some(RegisterError::Key(key.to_owned())),
                "{key:?}"
            );
        }
    }
}
