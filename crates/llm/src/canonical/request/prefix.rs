//! Memory of what was already written for a conversation.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Where an adapter keeps the wire form of a conversation between two requests of it.
///
/// A request repeats everything said before. Lowering and serialising it again each time would make
/// a turn cost more the longer the conversation is, so the adapter leaves its writer here and goes
/// on from it when the next request begins with the very same messages. What it holds is private to
/// the adapter; a handle that is new, foreign or outdated only costs the time it would have saved.
#[derive(Clone, Default)]
pub struct PrefixCache(Arc<Mutex<Held>>);

/// What the last request left, and about how many bytes that takes.
type Held = Option<(usize, Box<dyn Any + Send>)>;

impl PrefixCache {
    /// Takes what the last request left, if an adapter of the same kind left it.
    pub(crate) fn take<T: 'static>(&self) -> Option<T> {
        let (_, held) = self.lock().take()?;
        held.downcast().ok().map(|found| *found)
    }

    /// Leaves something for the next request, which takes about so many bytes.
    pub(crate) fn store<T: Send + 'static>(&self, value: T, bytes: usize) {
        *self.lock() = Some((bytes, Box::new(value)));
    }

    /// About how many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().as_ref().map_or(0, |(bytes, _)| *bytes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        // A panic elsewhere cannot leave a half-written value behind: it is replaced as a whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for PrefixCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PrefixCache")
    }
}
