//! Session History as messages of a request.

pub(crate) mod estimate;
pub(crate) mod lowering;
pub(crate) mod pruning;
pub(crate) mod transcript;
