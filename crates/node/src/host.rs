//! The host across the border.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Response, header};
use futures::FutureExt;
use futures::future::BoxFuture;
use napi::bindgen_prelude::{Either, Env, PromiseRaw};
use napi_derive::napi;
use opencode_host::{Host, HostOptions};

use crate::body::NativeBody;
use crate::request;

/// Opens a host. The options are JSON and complete. A text instead of a host is a tagged failure
/// as JSON.
#[napi]
pub async fn open(options: String) -> napi::Result<Either<String, NativeHost>> {
    let options: HostOptions = match serde_json::from_str(&options) {
        Ok(options) => options,
        Err(error) => {
            return Err(napi::Error::from_reason(format!(
                "invalid options: {error}"
            )));
        }
    };
    Ok(match Host::open(options).await {
        Ok(host) => Either::B(NativeHost {
            host: Arc::new(host),
        }),
        Err(failure) => {
            Either::A(serde_json::to_string(&failure).expect("a tagged failure is plain data"))
        }
    })
}

/// An open host.
#[napi]
pub struct NativeHost {
    host: Arc<Host>,
}

type Answer = BoxFuture<'static, napi::Result<Either<String, NativeBody>>>;

#[napi]
impl NativeHost {
    /// Sends a request: its head as JSON `{method, url, headers}`, its body as text. Requests are
    /// admitted in the order of these calls. A finished answer is its head as JSON
    /// `{status, headers}`, a line feed and its body; a streaming one is a body to pull from.
    #[napi(catch_unwind, ts_return_type = "Promise<string | NativeBody>")]
    pub fn request<'env>(
        &self,
        env: &'env Env,
        head: String,
        body: Option<String>,
    ) -> napi::Result<PromiseRaw<'env, Either<String, NativeBody>>> {
        let request = request::read(&head, body)?;
        let response = self.host.request(request);
        let answer: Answer = async move {
            match response.await {
                Ok(response) => answer(response).await,
                Err(_) => Err(napi::Error::from_reason("the host is closed")),
            }
        }
        .boxed();
        env.spawn_future(answer)
    }

    /// Settles what runs, ends the streams, closes the database. Twice is harmless.
    #[napi]
    pub async fn close(&self) {
        self.host.close().await;
    }
}

async fn answer(response: Response<Body>) -> napi::Result<Either<String, NativeBody>> {
    let head = request::head(&response);
    let streams = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes() == b"text/event-stream");
    let body = response.into_body();
    if streams {
        return Ok(Either::B(NativeBody::new(head, body)));
    }
    let bytes = axum::body::to_bytes(body, usize::MAX)
        .await
        .map_err(|error| napi::Error::from_reason(error.to_string()))?;
    let body = String::from_utf8_lossy(&bytes);
    Ok(Either::A(format!("{head}\n{body}")))
}
