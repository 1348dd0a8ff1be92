//! Cache of the wire form of a conversation.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

/// Holds the wire form of a conversation between two of its requests.
///
/// A request repeats the whole conversation. Writing all of it each time would make a turn more
/// expensive the longer the conversation is. The adapter therefore stores its writer here and
/// continues with it if the next request begins with the same messages. The content is private to
/// the adapter. A handle that is new, outdated or from another conversation only loses this saving.
#[derive(Clone, Default)]
pub struct PrefixCache(Arc<Mutex<HeldPrefix>>);

/// The writer of the last request, and its approximate size in bytes.
type HeldPrefix = Option<(usize, Box<dyn Any + Send>)>;

impl PrefixCache {
    /// Takes the writer of the last request, if an adapter of the same kind stored it.
    pub fn take<T: 'static>(&self) -> Option<T> {
        let (_, held) = self.lock().take()?;
        held.downcast().ok().map(|found| *found)
    }

    /// Stores a writer for the next request, with its approximate size in bytes.
    pub fn store<T: Send + 'static>(&self, value: T, bytes: usize) {
        *self.lock() = Some((bytes, Box::new(value)));
    }

    /// Returns the approximate size of the content in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().as_ref().map_or(0, |(bytes, _)| *bytes)
    }

    fn lock(&self) -> MutexGuard<'_, HeldPrefix> {
        // A panic cannot leave a partial value, because the value is replaced as a whole.
        self.0.lock()
    }
}

impl fmt::Debug for PrefixCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PrefixCache")
    }
}
