//! Instructions behind addresses, had over HTTP.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_net::{HttpDownloads, Proxies};
use opencode_runtime::{Fetch, FetchError};
use url::Url;

/// Gets texts over HTTP, through the proxies of the host.
pub(crate) struct HttpFetch {
    downloads: Arc<HttpDownloads>,
}

impl HttpFetch {
    pub(crate) fn new(proxies: Proxies) -> Self {
        Self {
            downloads: Arc::new(HttpDownloads::new(proxies)),
        }
    }
}

impl Fetch for HttpFetch {
    fn fetch(&self, address: Url, limit: usize) -> BoxFuture<'static, Result<Vec<u8>, FetchError>> {
        let downloads = Arc::clone(&self.downloads);
        async move {
            let body = downloads.get(&address, limit).await;
            body.map_err(|error| FetchError(error.to_string()))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn texts_are_fetched_over_http_and_failures_are_reported() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/rules.md", listener.local_addr().unwrap());
        let address = Url::parse(&address).unwrap();
        tokio::spawn(async move {
            for answer in ["200 OK\r\ncontent-length: 5\r\n\r\nrules", "404 No\r\n\r\n"] {
                let (mut stream, _) = listener.accept().await.unwrap();
                stream.read_u8().await.unwrap();
                let answer = format!("HTTP/1.1 {answer}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let fetch = HttpFetch::new(Proxies::default());
        let there = fetch.fetch(address.clone(), 5).await;
        let gone = fetch.fetch(address, 5).await;
        let missing = FetchError("the server answers 404 Not Found".to_owned());
        assert_eq!([there, gone], [Ok(b"rules".to_vec()), Err(missing)]);
    }
}
