//! HTTP clients, their proxies, and downloads.

mod cause;
mod clients;
mod download;
mod proxies;

pub use cause::root_cause;
pub use clients::HttpClients;
pub use download::{DownloadError, HttpDownloads, HttpRequest, HttpResponse};
pub use proxies::Proxies;
