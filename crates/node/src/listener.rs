//! A listener across the border.

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use opencode_host::Listener;

/// A socket of a host. It listens until it or its host is closed, whatever becomes of this object.
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
    /// Where clients on this machine find it.
    #[napi(getter)]
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// The name that clients give; none when the password is off.
    #[napi(getter)]
    pub fn username(&self) -> Option<String> {
        self.listener.login().map(|login| login.username.clone())
    }

    /// The password that clients give; none when it is off.
    #[napi(getter)]
    pub fn password(&self) -> Option<String> {
        self.listener.login().map(|login| login.password.clone())
    }

    /// Takes no further request, waits for those under way, and closes the socket. Twice is
    /// harmless.
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
