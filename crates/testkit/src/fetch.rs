//! Web addresses with scripted responses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_net::{DownloadError, Fetch, HttpRequest, HttpResponse, Web};
use url::Url;

/// Responds with the texts that the test sets. Other addresses fail. Clones share their texts.
#[derive(Clone, Default)]
pub struct ScriptedFetch {
    texts: Arc<Mutex<HashMap<String, String>>>,
}

impl ScriptedFetch {
    /// Serves this text at the address from now on.
    pub fn put(&self, address: &str, text: &str) {
        self.texts().insert(address.to_owned(), text.to_owned());
    }

    /// Makes requests to the address fail from now on.
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
    ) -> BoxFuture<'static, Result<Vec<u8>, DownloadError>> {
        let text = self.texts().get(address.as_str()).cloned();
        let answer = text.map(String::into_bytes);
        let answer = answer.ok_or_else(|| DownloadError("there is nothing".to_owned()));
        futures::future::ready(answer).boxed()
    }
}

impl Web for ScriptedFetch {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, DownloadError>> {
        let text = self.texts().get(request.address.as_str()).cloned();
        let answer = text.map(|text| HttpResponse {
            status: http::StatusCode::OK,
            headers: http::HeaderMap::new(),
            body: text.into_bytes(),
        });
        let answer = answer.ok_or_else(|| DownloadError("there is nothing".to_owned()));
        futures::future::ready(answer).boxed()
    }
}
