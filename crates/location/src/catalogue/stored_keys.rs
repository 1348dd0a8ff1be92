//! The keys of providers that the host has stored, and the sign-ins of users.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use opencode_secrets::Secret;
use parking_lot::RwLock;
use tokio::sync::OnceCell;

use crate::model::SignIn;

/// A stored key.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredKey {
    /// A key.
    Key(Secret),
    /// A sign-in, whose tokens expire.
    SignIn(SignIn),
}

/// Keys by provider.
pub type Keys = HashMap<String, StoredKey>;

/// Reads the stored keys. An error is a text for the log.
pub type LoadKeys = Box<dyn Fn() -> BoxFuture<'static, Result<Keys, String>> + Send + Sync>;

/// The stored keys by provider. All clones are the same. They are read when the first Location opens.
#[derive(Clone, Default)]
pub struct StoredKeys(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: RwLock<State>,
    load: OnceLock<LoadKeys>,
    loaded: OnceCell<()>,
}

#[derive(Default)]
struct State {
    now: KeysAt,
    /// The providers whose keys were set or removed. Their stored keys may have been read before that.
    changed: HashSet<String>,
}

/// The keys at one moment.
#[derive(Clone, Default)]
pub(crate) struct KeysAt {
    /// Number of changes before.
    pub(crate) generation: u64,
    /// The keys by provider.
    pub(crate) keys: Arc<Keys>,
}

/// Shows only the providers, because the keys are secrets.
impl fmt::Debug for StoredKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.state.read();
        f.debug_set().entries(state.now.keys.keys()).finish()
    }
}

impl StoredKeys {
    /// Sets the function that reads the keys. Only the first one counts.
    pub fn load_with(&self, load: LoadKeys) {
        let _ = self.0.load.set(load);
    }

    /// Sets or removes the key of a provider.
    pub fn set(&self, provider: &str, key: Option<StoredKey>) {
        let mut state = self.0.state.write();
        state.changed.insert(provider.to_owned());
        let keys = Arc::make_mut(&mut state.now.keys);
        match key {
            Some(key) => keys.insert(provider.to_owned(), key),
            None => keys.remove(provider),
        };
        state.now.generation += 1;
    }

    /// Returns the number of changes so far.
    pub(crate) fn generation(&self) -> u64 {
        self.0.state.read().now.generation
    }

    /// Returns the keys. If they cannot be read, there are none, and the next call tries again.
    pub(crate) async fn now(&self) -> KeysAt {
        if let Some(load) = self.0.load.get() {
            let loading = self.0.loaded.get_or_try_init(|| async {
                let found = load().await?;
                let mut state = self.0.state.write();
                let State { now, changed } = &mut *state;
                let unchanged = found.into_iter().filter(|(it, _)| !changed.contains(it));
                Arc::make_mut(&mut now.keys).extend(unchanged);
                Ok::<_, String>(())
            });
            if let Err(error) = loading.await {
                tracing::warn!("The stored keys of providers cannot be read: {error}");
            }
        }
        self.0.state.read().now.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt;

    use super::*;

    fn key(key: &str) -> StoredKey {
        StoredKey::Key(Secret::new(key))
    }

    #[tokio::test]
    async fn a_key_that_is_removed_during_the_read_does_not_come_back() {
        let keys = StoredKeys::default();
        let changed = keys.clone();
        keys.load_with(Box::new(move || {
            let found = Keys::from([("a".to_owned(), key("key-a"))]);
            // The user removes the stored key after it was read.
            changed.set("a", None);
            std::future::ready(Ok(found)).boxed()
        }));
        assert_eq!(keys.now().await.keys.len(), 0);
    }

    #[tokio::test]
    async fn keys_are_read_once_and_changes_count() {
        let reads = Arc::new(AtomicUsize::new(0));
        let keys = StoredKeys::default();
        let counted = Arc::clone(&reads);
        keys.load_with(Box::new(move || {
            let fails = counted.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                if fails {
                    return Err("locked".to_owned());
                }
                Ok(Keys::from([("a".to_owned(), key("key-a"))]))
            }
            .boxed()
        }));
        assert_eq!(keys.now().await.keys.len(), 0, "a failure leaves no keys");
        assert_eq!(keys.now().await.keys["a"], key("key-a"));
        keys.set("b", Some(key("key-b")));
        keys.set("a", None);
        let now = keys.now().await;
        assert_eq!((now.generation, now.keys.len()), (2, 1));
        assert_eq!(reads.load(Ordering::Relaxed), 2);
        assert_eq!(format!("{keys:?}"), r#"{"b"}"#);
    }
}
