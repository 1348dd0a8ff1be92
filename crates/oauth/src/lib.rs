//! The parts of OAuth 2 that MCP servers and providers of models share: the consent of a user in a browser, and the
//! tokens of an authorization server.
//!
//! - `browser`: the page for the user. `redirect` and `callback` receive its answer on this machine, `answer` reads it.
//! - `device`: the code that the user enters on a page on any device.
//! - `token_endpoint`: codes and refresh tokens become tokens (`grant`).
//! - `http`: the bounds of all requests.
//!
//! No message contains a secret or a free text of a server.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod browser;
mod callback;
mod device;
mod error;
mod grant;
mod http;
mod network;
mod proof;
mod redirect;
mod scopes;
mod token_endpoint;

pub use answer::{BrowserAnswer, Expected};
pub use browser::{AnswerMode, Browser, Code, CodeProof, Page};
pub use callback::Callbacks;
pub use device::{DeviceCode, DevicePoll};
pub use error::{AuthorizationError, shown_code};
pub use grant::Grant;
pub use http::{Answer, Http, MAX_ADDRESS_BYTES, REQUEST_LIMIT, Reach, is_loopback, shown};
pub use redirect::Redirect;
pub use scopes::{MAX_SCOPES, is_scope, scopes};
pub use token_endpoint::{Number, TokenEndpoint, TokenRefusal, refusal_code};
