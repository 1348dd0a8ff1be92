//! Configuration that servers of organisations publish.

use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::RwLock;
use tokio::sync::OnceCell;

/// A document of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteDocument {
    /// Its address, without secrets.
    pub origin: String,
    /// Its text, or the reason why there is none.
    pub content: Result<String, String>,
}

/// Reads the documents, weakest first.
pub type LoadRemote = Box<dyn Fn() -> BoxFuture<'static, Vec<RemoteDocument>> + Send + Sync>;

/// The documents of servers. All clones are the same. They are read when the first Location opens.
#[derive(Clone, Default)]
pub struct RemoteDocuments(Option<Arc<Inner>>);

struct Inner {
    load: LoadRemote,
    /// Replaced when the documents must be read again. Locked only to read or to replace it.
    read: RwLock<Arc<OnceCell<Arc<[RemoteDocument]>>>>,
}

impl RemoteDocuments {
    /// Creates documents that this function reads.
    #[must_use]
    pub fn new(load: LoadRemote) -> Self {
        Self(Some(Arc::new(Inner {
            load,
            read: RwLock::default(),
        })))
    }

    /// Reads the documents, unless they were read.
    pub(crate) async fn prepare(&self) {
        let Some(inner) = &self.0 else {
            return;
        };
        let read = Arc::clone(&inner.read.read());
        read.get_or_init(|| async { (inner.load)().await.into() })
            .await;
    }

    /// Makes the next [`prepare`](Self::prepare) read the documents again.
    pub(crate) fn forget(&self) {
        if let Some(inner) = &self.0 {
            *inner.read.write() = Arc::default();
        }
    }

    /// Returns the documents that were read.
    pub(crate) fn now(&self) -> Arc<[RemoteDocument]> {
        let read = self.0.as_ref().and_then(|it| it.read.read().get().cloned());
        read.unwrap_or_default()
    }
}
