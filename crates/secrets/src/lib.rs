//! Secrets: texts that authenticate, and their removal from all data that is stored, logged or shown.
//!
//! A [`Secret`] cannot be printed by accident. [`Secrets`] holds the secret strings of the configuration and the
//! environment, and a [`Redactor`] removes them from texts, all in one pass.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod names;
mod redactor;
mod secret;
mod secrets;
mod written;

pub use names::{is_harmless_header, is_secret_name, is_secret_segment};
pub use redactor::{Fields, Redactor, without_segments};
pub use secret::{REDACTED, Secret, optional_secret, plain_secret};
pub use secrets::Secrets;
