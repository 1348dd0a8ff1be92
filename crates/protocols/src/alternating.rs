//! Conversations in which the user and the model take turns.
//!
//! The user begins and has the last word. Consecutive parts of one side share a message, which stays open for further
//! parts.

use serde_json::{Value, json};

use super::protocol::CONTINUE;
use super::transcript::Page;

/// The side of the last message, which lacks its end.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Side {
    #[default]
    Nothing,
    User,
    Model,
}

/// A state with the side of the last message.
pub(super) trait Alternating {
    /// The beginning of a message of the user.
    const USER: &'static [u8];
    /// The beginning of a message of the model.
    const MODEL: &'static [u8];

    fn side(&mut self) -> &mut Side;
}

/// Writes a part into a message of this side.
pub(super) fn write<S: Alternating>(page: &mut Page<S>, side: Side, part: &Value) {
    let open = *page.state.side();
    if open == Side::Nothing && side == Side::Model {
        write(page, Side::User, &json!({"text": CONTINUE}));
    }
    let open = *page.state.side();
    if open == side {
        page.raw(b",");
    } else {
        if open != Side::Nothing {
            page.raw(b"]},");
        }
        page.raw(match side {
            Side::Model => S::MODEL,
            _ => S::USER,
        });
    }
    *page.state.side() = side;
    page.json(part);
}

/// Ends the conversation.
pub(super) fn close<S: Alternating>(page: &mut Page<S>) {
    if *page.state.side() != Side::User {
        write(page, Side::User, &json!({"text": CONTINUE}));
    }
    page.raw(b"]}");
}
