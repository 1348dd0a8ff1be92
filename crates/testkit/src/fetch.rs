//! Addresses whose answers a test decides.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_runtime::{Fetch, FetchError};
use opencode_tools::{Web, WebError, WebRequest, WebResponse};
use url::Url;

/// Answers as a test says; nothing is behind any other address. Clones share what they say.
#[derive(Clone, Default)]
pub struct ScriptedFetch {
    texts: Arc<Mutex<HashMap<String, String>>>,
}

impl ScriptedFetch {
    /// From now on this text is behind the address.
    pub fn put(&self, address: &str, text: &str) {
        self.texts().insert(address.to_owned(), text.to_owned());
    }

    /// From now on nothing is behind the address.
    pub fn take(&self, address: &str) {
        self.texts().remove(address);
    }

    fn texts(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetch for ScriptedFetch {
    fn fetch(
        &self,
        address: Url,
        _limit: usize,
    ) -> BoxFuture<'static, Result<Vec<u8>, FetchError>> {
        let text = self.texts().get(address.as_str()).cloned();
        let answer = text.map(String::into_bytes);
        let answer = answer.ok_or_else(|| FetchError("there is nothing".to_owned()));
        futures::future::ready(answer).boxed()
    }
}

impl Web for ScriptedFetch {
    fn send(&self, request: WebRequest) -> BoxFuture<'_, Result<WebResponse, WebError>> {
        let text = self.texts().get(request.address.as_str()).cloned();
        let answer = text.map(|text| WebResponse {
            status: http::StatusCode::OK,
            headers: http::HeaderMap::new(),
            body: text.into_bytes(),
        });
        let answer = answer.ok_or_else(|| WebError("there is nothing".to_owned()));
        futures::future::ready(answer).boxed()
    }
}
