//! OAuth for remote servers, as the specification 2025-11-25 of the Model Context Protocol describes it.
//!
//! - `discovery`: finds the authorization server. `endpoint`: its registration and its tokens.
//! - `authorization`: one consent of a user. `callback` receives the answer of the browser.
//! - `service`: the access tokens of requests, and their renewal. `slot` is the credential of one server in memory,
//!   `record` its stored form.
//! - `http`: bounds of all requests.
//!
//! The authorization part of `rmcp` is not used: it logs authorization codes, repeats texts of servers in its errors,
//! and reads the clock of the system.

mod answer;
mod authorization;
mod callback;
mod challenge;
mod discovery;
mod endpoint;
mod error;
mod http;
mod ports;
mod proof;
mod record;
mod secret;
mod service;
mod slot;

pub use authorization::{AnswerMode, Authorization, BrowserAnswer};
pub use error::AuthorizationError;
pub use ports::{Connections, CredentialError, CredentialStore, HttpClients, StoredCredential};
pub use secret::Secret;
pub use service::{OAuth, OAuthServices, REQUEST_LIMIT, integration_id};
