//! Credentials of cloud platforms: signatures for Amazon Bedrock, and access tokens for Google Vertex.
//!
//! Libraries find and renew the credentials. They see the variables, files and services that the owner of this crate
//! gives, never those of the process, and they run no programs.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod aws;
mod chain;
mod environment;
mod failure;
mod google;
mod signature;

pub use aws::{AccessKeys, AwsCredentials, BedrockSigner};
pub use environment::HostEnvironment;
pub use google::GoogleCredentials;
