//! A listener across the border.

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use opencode_host::Listener;

/// A socket of a host. It listens until it or its host is closed, even if this object is dropped.
#[napi]
pub struct NativeListener {
    listener: Listener,
}

impl NativeListener {
    pub(crate) fn new(listener: Listener) -> Self {
        Self { listener }
    }
}

#[napi]
impl NativeListener {
    /// The address for clients on this machine.
    #[napi(getter)]
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// The user name of clients. `None` if the password is off.
    #[napi(getter)]
    pub fn username(&self) -> Option<String> {
        self.listener.login().map(|login| login.username.clone())
    }

    /// The password of clients. `None` if it is off.
    #[napi(getter)]
    pub fn password(&self) -> Option<String> {
        self.listener.login().map(|login| login.password.clone())
    }

    /// Refuses further requests, waits for those under way, and closes the socket. A second call is harmless.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let listener = self.listener.clone();
        env.spawn_future(async move {
            listener.close().await;
            Ok(())
        })
    }

    /// Resolves when the last connection has ended.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn closed<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let closed = self.listener.closed();
        env.spawn_future(async move {
            closed.await;
            Ok(())
        })
    }
}
