//! Functions of the embedding program that the host calls.

pub(crate) mod calls;
pub(crate) mod context_sources;
pub(crate) mod hooks;
pub(crate) mod registered;
pub(crate) mod tools;
