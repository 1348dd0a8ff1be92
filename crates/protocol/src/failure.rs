//! Every tagged failure: its name, its status and the fields of its body, in the order of the wire.

use std::fmt;

use opencode_schema::check::Issue;
use opencode_schema::id::{MessageID, PermissionID, PtyID, QuestionID, SessionID};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::channel::Channel;

/// Declares failures. Additions to the implemented contract are marked `x-extension`.
macro_rules! failures {
    ($(
        $(#[doc = $doc:literal])+
        $status:expr => $variant:ident $tag:literal $(, extension: $extension:literal)? {
            $( $(#[$attr:meta])* $field:ident: $type:ty, )*
        }
    )*) => {
        /// A failure with its wire body. Clients distinguish failures only by `_tag`.
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "_tag")]
        #[error("{}", self.message())]
        pub enum Failure {
            $(
                $(#[doc = $doc])+
                $(#[schemars(extend("x-extension" = $extension))])?
                #[serde(rename = $tag)]
                $variant { $( $(#[$attr])* $field: $type, )* },
            )*
        }

        /// The name of a failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Tag {
            $( $(#[doc = $doc])+ $variant, )*
        }

        impl Tag {
            /// Every name, in the order of this file.
            pub const ALL: &[Self] = &[$( Self::$variant, )*];

            /// Returns the text of `_tag`.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $tag, )* }
            }

            /// The HTTP status; none for failures that never travel over HTTP.
            pub const fn status(self) -> Option<u16> {
                match self { $( Self::$variant => $status, )* }
            }
        }

        impl Failure {
            /// Returns the name of the failure.
            pub fn tag(&self) -> Tag {
                match self { $( Self::$variant { .. } => Tag::$variant, )* }
            }

            /// Returns the message for users.
            pub fn message(&self) -> &str {
                match self { $( Self::$variant { message, .. } => message, )* }
            }
        }
    };
}

failures! {
    /// The request is invalid for the operation.
    Some(400) => InvalidRequest "InvalidRequestError" {
        /// The problem and its position.
        message: String,
        /// The part of the request with the problem.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<Channel>,
        /// The refused field, if its form is valid but its value is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        field: Option<String>,
    }
    /// The cursor is not of this operation, or it contradicts the rest of the request.
    Some(400) => InvalidCursor "InvalidCursorError" {
        /// The problem.
        message: String,
    }
    /// The request has no valid credentials.
    Some(401) => Unauthorized "UnauthorizedError" {
        /// The missing part.
        message: String,
    }
    /// The origin of the request is not allowed.
    Some(403) => Forbidden "ForbiddenError" {
        /// The missing part.
        message: String,
    }
    /// The session does not exist.
    Some(404) => SessionNotFound "SessionNotFoundError" {
        /// The requested session.
        #[serde(rename = "sessionID")]
        session_id: SessionID,
        /// Description of the failure.
        message: String,
    }
    /// The session has no visible message with this id.
    Some(404) => MessageNotFound "MessageNotFoundError" {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionID,
        /// The requested message.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Description of the failure.
        message: String,
    }
    /// The inbox of the session has no prompt with this id: it never had one, or the prompt was withdrawn.
    Some(404) => InputNotFound "InputNotFoundError", extension: true {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionID,
        /// The requested prompt.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Description of the failure.
        message: String,
    }
    /// The Location of the session has no command of this name.
    Some(404) => CommandNotFound "CommandNotFoundError", extension: true {
        /// The requested command.
        command: String,
        /// An existing command with a similar name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggestion: Option<String>,
        /// Description of the failure.
        message: String,
    }
    /// No permission request with this id waits in the session: it never did, or it was answered.
    Some(404) => PermissionNotFound "PermissionNotFoundError" {
        /// The requested request.
        #[serde(rename = "requestID")]
        request_id: PermissionID,
        /// Description of the failure.
        message: String,
    }
    /// No request with questions and this id waits in the session: it never did, or it was answered.
    Some(404) => QuestionNotFound "QuestionNotFoundError" {
        /// The requested request.
        #[serde(rename = "requestID")]
        request_id: QuestionID,
        /// Description of the failure.
        message: String,
    }
    /// The Location does not have the provider.
    Some(404) => ProviderNotFound "ProviderNotFoundError" {
        /// The requested provider.
        #[serde(rename = "providerID")]
        provider_id: String,
        /// Description of the failure.
        message: String,
    }
    /// The Location does not have the terminal.
    Some(404) => PtyNotFound "PtyNotFoundError" {
        /// The requested terminal.
        #[serde(rename = "ptyID")]
        pty_id: PtyID,
        /// Description of the failure.
        message: String,
    }
    /// The request contradicts recorded data.
    Some(409) => Conflict "ConflictError" {
        /// The contradiction.
        message: String,
        /// Id of the recorded data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource: Option<String>,
    }
    /// The session is running, and the operation needs an idle session.
    Some(409) => SessionBusy "SessionBusyError", extension: true {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionID,
        /// Description of the failure.
        message: String,
    }
    /// The inbox of the session is full. Nothing was stored.
    Some(429) => SessionBacklog "SessionBacklogError", extension: true {
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionID,
        /// Number of waiting Admitted Prompts.
        pending: u64,
        /// Maximum number of waiting Admitted Prompts.
        limit: u64,
        /// Always true: the session admits the same prompt after it has processed others.
        retryable: bool,
        /// Description of the failure.
        message: String,
    }
    /// A stored entry of the session cannot be read. Other sessions are not affected.
    Some(500) => SessionUnreadable "SessionUnreadableError", extension: true {
        /// The session. Always present on the wire.
        #[serde(rename = "sessionID", default, skip_serializing_if = "Option::is_none")]
        #[schemars(required)]
        session_id: Option<SessionID>,
        /// The entry, the reason and the remedy.
        message: String,
    }
    /// An unexpected failure.
    Some(500) => Unknown "UnknownError" {
        /// The message, without internal details.
        message: String,
        /// Reference to the details in the log.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
    }
    /// A service that the operation needs is unavailable.
    Some(503) => ServiceUnavailable "ServiceUnavailableError" {
        /// The missing service.
        message: String,
        /// The operation, or its unavailable part.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        service: Option<String>,
    }
    /// The store failed and accepts no more writes until the host is opened again. Nothing was stored.
    Some(503) => StorePoisoned "StorePoisonedError", extension: true {
        /// Description of the failure.
        message: String,
    }
    /// An option of the host is unknown or has the wrong type.
    None => InvalidOption "InvalidOptionError", extension: true {
        /// The option.
        option: String,
        /// The problem.
        message: String,
    }
    /// The database file cannot be opened, is not a database, or fails its check.
    None => DatabaseUnavailable "DatabaseUnavailableError", extension: true {
        /// The file.
        path: String,
        /// The reason.
        message: String,
    }
    /// The database was written by a newer version of this program.
    None => DatabaseVersion "DatabaseVersionError", extension: true {
        /// The file.
        path: String,
        /// A message with both versions.
        message: String,
    }
    /// Another host has the database open, in this process or in another.
    None => DatabaseInUse "DatabaseInUseError", extension: true {
        /// The file.
        path: String,
        /// Id of the process that has it open. Absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// Description of the failure.
        message: String,
    }
    /// The native addon of this platform is missing, of another version, or cannot be loaded.
    None => AddonUnavailable "AddonUnavailableError", extension: true {
        /// The npm package with the addon for this platform. Absent if no such package exists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        package: Option<String>,
        /// The cause, and the command that repairs it.
        message: String,
    }
    /// A listener cannot use the address.
    None => AddressUnavailable "AddressUnavailableError", extension: true {
        /// Host name and port.
        address: String,
        /// The reason: the address is in use, does not belong to this machine, or requires more rights.
        message: String,
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Failure {
    /// The HTTP status; none for failures that never travel over HTTP.
    pub fn status(&self) -> Option<u16> {
        self.tag().status()
    }

    /// A part of the request does not match its schema.
    pub fn invalid(part: Channel, issue: &Issue) -> Self {
        Self::InvalidRequest {
            message: issue.to_string(),
            kind: Some(part),
            field: None,
        }
    }

    /// A field has a valid form but an unusable value.
    pub fn invalid_field(field: &str, message: impl Into<String>) -> Self {
        Self::InvalidRequest {
            message: message.into(),
            kind: None,
            field: Some(field.into()),
        }
    }

    /// The cursor cannot be used.
    pub fn invalid_cursor(message: impl Into<String>) -> Self {
        Self::InvalidCursor {
            message: message.into(),
        }
    }

    /// The credentials are missing or wrong. The failure does not distinguish the two.
    pub fn unauthorized() -> Self {
        Self::Unauthorized {
            message: "Authentication required".into(),
        }
    }

    /// The session does not exist.
    pub fn session_not_found(session_id: SessionID) -> Self {
        Self::SessionNotFound {
            message: format!("Session not found: {session_id}"),
            session_id,
        }
    }

    /// The message is unknown, belongs to another session, or is not promoted yet.
    pub fn message_not_found(session_id: SessionID, message_id: MessageID) -> Self {
        Self::MessageNotFound {
            message: format!("Message not found: {message_id}"),
            session_id,
            message_id,
        }
    }

    /// The Location does not have the provider.
    pub fn provider_not_found(provider_id: String) -> Self {
        Self::ProviderNotFound {
            message: format!("Provider not found: {provider_id}"),
            provider_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionID {
        SessionID::parse("ses_nope").unwrap()
    }

    #[test]
    fn failures_have_the_bodies_of_the_wire() {
        let issue = Issue::expected("string", &5.into())
            .at_key("text")
            .at_key("prompt");
        for (failure, status, body) in [
            (
                Failure::session_not_found(session()),
                Some(404),
                r#"{"_tag":"SessionNotFoundError","sessionID":"ses_nope","message":"Session not found: ses_nope"}"#,
            ),
            (
                Failure::message_not_found(session(), MessageID::parse("msg_x").unwrap()),
                Some(404),
                r#"{"_tag":"MessageNotFoundError","sessionID":"ses_nope","messageID":"msg_x","message":"Message not found: msg_x"}"#,
            ),
            (
                Failure::invalid_field("sessionID", "Invalid session ID"),
                Some(400),
                r#"{"_tag":"InvalidRequestError","message":"Invalid session ID","field":"sessionID"}"#,
            ),
            (
                Failure::invalid(Channel::Payload, &issue),
                Some(400),
                r#"{"_tag":"InvalidRequestError","message":"Expected string, got 5\n  at [\"prompt\"][\"text\"]","kind":"Payload"}"#,
            ),
            (
                Failure::invalid_cursor("Invalid cursor"),
                Some(400),
                r#"{"_tag":"InvalidCursorError","message":"Invalid cursor"}"#,
            ),
            (
                Failure::unauthorized(),
                Some(401),
                r#"{"_tag":"UnauthorizedError","message":"Authentication required"}"#,
            ),
            (
                Failure::Forbidden {
                    message: "Invalid PTY connect token request".into(),
                },
                Some(403),
                r#"{"_tag":"ForbiddenError","message":"Invalid PTY connect token request"}"#,
            ),
            (
                Failure::PermissionNotFound {
                    request_id: PermissionID::parse("per_x").unwrap(),
                    message: "Permission request not found: per_x".into(),
                },
                Some(404),
                r#"{"_tag":"PermissionNotFoundError","requestID":"per_x","message":"Permission request not found: per_x"}"#,
            ),
            (
                Failure::QuestionNotFound {
                    request_id: QuestionID::parse("que_x").unwrap(),
                    message: "Question request not found: que_x".into(),
                },
                Some(404),
                r#"{"_tag":"QuestionNotFoundError","requestID":"que_x","message":"Question request not found: que_x"}"#,
            ),
            (
                Failure::provider_not_found("nope".into()),
                Some(404),
                r#"{"_tag":"ProviderNotFoundError","providerID":"nope","message":"Provider not found: nope"}"#,
            ),
            (
                Failure::PtyNotFound {
                    pty_id: PtyID::parse("pty_x").unwrap(),
                    message: "PTY not found: pty_x".into(),
                },
                Some(404),
                r#"{"_tag":"PtyNotFoundError","ptyID":"pty_x","message":"PTY not found: pty_x"}"#,
            ),
            (
                Failure::Conflict {
                    message: "taken".into(),
                    resource: Some("msg_c1".into()),
                },
                Some(409),
                r#"{"_tag":"ConflictError","message":"taken","resource":"msg_c1"}"#,
            ),
            (
                Failure::InputNotFound {
                    session_id: session(),
                    message_id: MessageID::parse("msg_x").unwrap(),
                    message: "none".into(),
                },
                Some(404),
                r#"{"_tag":"InputNotFoundError","sessionID":"ses_nope","messageID":"msg_x","message":"none"}"#,
            ),
            (
                Failure::SessionBusy {
                    session_id: session(),
                    message: "busy".into(),
                },
                Some(409),
                r#"{"_tag":"SessionBusyError","sessionID":"ses_nope","message":"busy"}"#,
            ),
            (
                Failure::SessionBacklog {
                    session_id: session(),
                    pending: 100,
                    limit: 100,
                    retryable: true,
                    message: "full".into(),
                },
                Some(429),
                r#"{"_tag":"SessionBacklogError","sessionID":"ses_nope","pending":100,"limit":100,"retryable":true,"message":"full"}"#,
            ),
            (
                Failure::Unknown {
                    message: "broken".into(),
                    reference: Some("err_3b69aa4d".into()),
                },
                Some(500),
                r#"{"_tag":"UnknownError","message":"broken","ref":"err_3b69aa4d"}"#,
            ),
            (
                Failure::ServiceUnavailable {
                    message: "later".into(),
                    service: Some("session.compact".into()),
                },
                Some(503),
                r#"{"_tag":"ServiceUnavailableError","message":"later","service":"session.compact"}"#,
            ),
            (
                Failure::DatabaseInUse {
                    path: "/a/b.db".into(),
                    pid: Some(7),
                    message: "in use".into(),
                },
                None,
                r#"{"_tag":"DatabaseInUseError","path":"/a/b.db","pid":7,"message":"in use"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&failure).unwrap(), body);
            assert_eq!(serde_json::from_str::<Failure>(body).unwrap(), failure);
            assert_eq!(failure.status(), status);
            assert!(body.contains(&format!(r#""_tag":"{}""#, failure.tag())));
            assert!(body.contains(&serde_json::to_string(&failure.to_string()).unwrap()));
        }
    }
}
