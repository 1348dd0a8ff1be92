//! The prompts of a session that wait to be promoted.

use opencode_schema::prompt::SessionInputAdmitted;

use crate::input::{InputParams, SessionParams, SetDeliveryPayload};
use crate::operation::operations;

operations! {
    /// The prompts that wait to be promoted, in the order of their admission.
    SessionInboxList = "v2.session.inbox.list" => "sessions.inbox.list" {
        Get "/api/session/{sessionID}/inbox",
        params: SessionParams,
        success: value(Vec<SessionInputAdmitted>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Takes back a prompt that waits: it is never promoted. Its id stays used, so that prompting with
    /// it again is a conflict.
    ///
    /// A prompt that is promoted already cannot be taken back, which is a conflict as well.
    SessionInboxWithdraw = "v2.session.inbox.withdraw" => "sessions.inbox.withdraw" {
        Delete "/api/session/{sessionID}/inbox/{messageID}",
        params: InputParams,
        success: void,
        errors: [SessionNotFound, InputNotFound, Conflict],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Changes how a prompt that waits enters the session, and wakes the session.
    ///
    /// A prompt that is promoted already is a conflict.
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
