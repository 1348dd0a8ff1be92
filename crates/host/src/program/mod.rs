//! Functions of the embedding program that the host calls.

pub(crate) mod calls;
pub(crate) mod tools;
