//! The prompts of a session that wait to be promoted.

use opencode_schema::prompt::SessionInputAdmitted;

use crate::input::{InputParams, SessionParams, SetDeliveryPayload};
use crate::operation::operations;

operations! {
    /// Lists the pending prompts in the order of their admission.
    SessionInboxList = "v2.session.inbox.list" => "sessions.inbox.list" {
        Get "/api/session/{sessionID}/inbox",
        params: SessionParams,
        success: value(Vec<SessionInputAdmitted>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Withdraws a pending prompt: it is never promoted. Its id stays in use, so a new prompt with this id is a conflict.
    ///
    /// A promoted prompt cannot be withdrawn, which is a conflict, too.
    SessionInboxWithdraw = "v2.session.inbox.withdraw" => "sessions.inbox.withdraw" {
        Delete "/api/session/{sessionID}/inbox/{messageID}",
        params: InputParams,
        success: void,
        errors: [SessionNotFound, InputNotFound, Conflict],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Changes the delivery of a pending prompt, and wakes the session.
    ///
    /// A promoted prompt is a conflict.
    SessionInboxSetDelivery = "v2.session.inbox.setDelivery" => "sessions.inbox.setDelivery" {
        Put "/api/session/{sessionID}/inbox/{messageID}",
        params: InputParams,
        payload: SetDeliveryPayload,
        success: value(SessionInputAdmitted),
        errors: [SessionNotFound, InputNotFound, Conflict],
        middleware: [Authorization, Session],
        extension: true,
    }
}
