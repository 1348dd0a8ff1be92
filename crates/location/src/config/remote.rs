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

    /// Returns the documents. Reads them, unless they were read.
    pub(crate) async fn get(&self) -> Arc<[RemoteDocument]> {
        let Some(inner) = &self.0 else {
            return Arc::default();
        };
        let read = Arc::clone(&inner.read.read());
        let documents = read.get_or_init(|| async { (inner.load)().await.into() });
        Arc::clone(documents.await)
    }

    /// Makes the next [`get`](Self::get) read the documents again.
    pub(crate) fn forget(&self) {
        if let Some(inner) = &self.0 {
            *inner.read.write() = Arc::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_read_keeps_its_documents_while_another_caller_reads_them_again() {
        let reads = AtomicUsize::new(0);
        let documents = RemoteDocuments::new(Box::new(move || {
            let document = RemoteDocument {
                origin: "o".to_owned(),
                content: Ok(reads.fetch_add(1, Ordering::Relaxed).to_string()),
            };
            std::future::ready(vec![document]).boxed()
        }));
        let text = |found: &[RemoteDocument]| found[0].content.clone().unwrap();
        let first = documents.get().await;
        assert_eq!(text(&documents.get().await), "0");
        documents.forget();
        assert_eq!(text(&first), "0");
        assert_eq!(text(&documents.get().await), "1");
    }
}
