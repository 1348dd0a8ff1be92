//! The parts of a request that carry input.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part of a request that carries a field.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "RequestPart")]
pub enum Channel {
    /// The path.
    Params,
    /// The query.
    Query,
    /// The body.
    Payload,
}
