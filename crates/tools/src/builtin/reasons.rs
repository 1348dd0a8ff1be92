//! The reasons of failures, as ends of sentences for the model.

use std::io;

use opencode_handles::is_open_database;

/// Maximum number of names that are told.
const MAX_NAMES: usize = 50;

/// Returns the reason of an error of the system for an entry that the model may know of.
pub(crate) fn of_io(error: &io::Error) -> String {
    match error.kind() {
        _ if is_open_database(error) => error.to_string(),
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "the system denies the access".to_owned(),
        io::ErrorKind::NotADirectory => {
            "a part of the path before its last name is not a directory".to_owned()
        }
        io::ErrorKind::IsADirectory => "it is a directory, not a file".to_owned(),
        io::ErrorKind::AlreadyExists => "there is an entry of this name already".to_owned(),
        io::ErrorKind::InvalidInput => "it is not a regular file".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::Other => error.to_string(),
        kind => format!("the system reports: {kind}"),
    }
}

/// Returns a sentence with the names that would be right.
pub(crate) fn one_of(kind: &str, names: &[String]) -> String {
    if names.is_empty() {
        return format!("There are no {kind}");
    }
    let shown = names.iter().take(MAX_NAMES).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(MAX_NAMES);
    let rest = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!("The {kind} are: {shown}{rest}")
}
