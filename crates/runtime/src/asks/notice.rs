//! Notices about requests, for the function of the embedding program that answers them.

use serde::Serialize;

/// A notice to the handler of one kind of request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RequestNotice<Request, Id> {
    /// The request waits for an answer.
    Asked(Request),
    /// The request with this id does not wait any more. Follows its `Asked`.
    Ended(Id),
}
