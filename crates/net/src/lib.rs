//! HTTP clients, their proxies, and downloads. They read the certificate store and the proxy settings when the first
//! request needs them.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod cause;
mod clients;
mod download;
mod proxies;
mod web;

pub use cause::root_cause;
pub use clients::HttpClients;
pub use download::{DownloadError, HttpDownloads, HttpRequest, HttpResponse};
pub use proxies::Proxies;
pub use web::{Fetch, Web};
