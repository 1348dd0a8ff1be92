//! The choices of a session that came with an import. Nothing works with them before a caller confirmed them.

use opencode_schema::session::{SessionChoice, SessionInfo};

use crate::error::RuntimeError;

/// True if an import made the choice, and no caller of this host has confirmed it.
pub(crate) fn is_unconfirmed(session: &SessionInfo, choice: SessionChoice) -> bool {
    let imported = session.imported.as_ref();
    imported.is_some_and(|it| it.unconfirmed.contains(&choice))
}

/// Refuses to work in a directory that only an import names.
pub(crate) fn check_directory(session: &SessionInfo) -> Result<(), RuntimeError> {
    if !is_unconfirmed(session, SessionChoice::Directory) {
        return Ok(());
    }
    let directory = &session.location.directory;
    let message = format!(
        "The directory {directory:?} of the session {} comes from an import, and no caller has confirmed it: call sessions.move, or import the session again with the option directory or confirm",
        session.id
    );
    Err(RuntimeError::Unconfirmed {
        session_id: session.id.clone(),
        message,
    })
}

/// Returns the refusal of an agent or a model that only an import names. `method` chooses another one.
pub(crate) fn unconfirmed_choice(
    session: &SessionInfo,
    (choice, name): (&str, &str),
    method: &str,
) -> String {
    format!(
        "The {choice} {name:?} of the session {} comes from an import, and no caller has confirmed it: call {method}, or import the session again with the option {choice} or confirm",
        session.id
    )
}
