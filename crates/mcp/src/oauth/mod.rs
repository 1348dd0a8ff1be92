//! OAuth for remote servers, as the specification 2025-11-25 of the Model Context Protocol describes it.
//!
//! - `discovery`: finds the authorization server. `registration`: this host becomes its client.
//! - `authorization`: one consent of a user.
//! - `service`: the access tokens of requests, and their renewal. `slot` is the credential of one server in memory,
//!   `record` its stored form.
//!
//! The crate `oauth` has the parts that do not belong to this protocol.
//!
//! The authorization part of `rmcp` is not used: it logs authorization codes, repeats texts of servers in its errors,
//! and reads the clock of the system.

mod authorization;
mod challenge;
mod discovery;
mod ports;
mod record;
mod registration;
mod service;
mod slot;

pub use authorization::{Authorization, Exchange};
pub use ports::{Connections, CredentialError, CredentialStore, StoredCredential};
pub use service::{OAuth, OAuthServices, integration_id};
