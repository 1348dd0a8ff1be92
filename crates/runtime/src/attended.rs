//! Notices to the functions of a program that answer requests.

use serde::Serialize;

/// A notice to a program that answers requests of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Attended<Request, Id> {
    /// The request waits for an answer.
    Asked(Request),
    /// The request of this id waits no more. Follows its `Asked`.
    Ended(Id),
}
