//! The selection of events of one subscriber.

use std::collections::HashSet;

use opencode_schema::event::{DERIVED, SELECTED_ONLY, STREAM_EVENTS, event_names};
use opencode_schema::id::SessionID;

/// Maximum number of entries in a list of event types.
const MAX_TYPES: usize = 128;

/// The events that a subscriber receives. Events of the stream itself always belong to it.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Names of events. Without it: all events but those that must be selected.
    types: Option<HashSet<&'static str>>,
    /// Only events of this session.
    session: Option<SessionID>,
}

/// The reason why a selection cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// No event has this name, or a name that begins in this way.
    #[error(
        "No event has the type {given:?}.{hint} Give the name of an event, or a beginning with .*, such as session.*"
    )]
    UnknownType {
        /// The entry of the list, cut after 60 characters.
        given: String,
        /// A question with a similar name, or nothing.
        hint: String,
    },
    /// The list is too long.
    #[error("The list has {0} types, and at most {MAX_TYPES} are accepted")]
    TooMany(usize),
    /// The list selects no event.
    #[error("The list is empty and selects no event; leave it out, or name an event")]
    Empty,
}

/// The name and the session of an event that is not encoded yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Topic<'a> {
    pub(crate) name: &'a str,
    pub(crate) session: Option<&'a SessionID>,
}

impl Selection {
    /// Creates a selection. `types` holds names of events, or their beginnings such as `session.*`.
    ///
    /// # Errors
    ///
    /// Names the entry that selects no event.
    pub fn new(
        types: Option<&[String]>,
        session: Option<SessionID>,
    ) -> Result<Self, SelectionError> {
        let types = types.map(named).transpose()?;
        Ok(Self { types, session })
    }

    /// True if the selection has events that the store derives from entries.
    pub(crate) fn has_derived(&self) -> bool {
        let names = self.types.as_ref();
        names.is_some_and(|names| DERIVED.iter().any(|name| names.contains(name)))
    }

    pub(crate) fn has(&self, topic: Topic<'_>) -> bool {
        if STREAM_EVENTS.contains(&topic.name) {
            return true;
        }
        let is_named = match &self.types {
            None => !SELECTED_ONLY.contains(&topic.name),
            Some(names) => names.contains(topic.name),
        };
        is_named && (self.session.is_none() || self.session.as_ref() == topic.session)
    }
}

fn named(types: &[String]) -> Result<HashSet<&'static str>, SelectionError> {
    if types.is_empty() {
        return Err(SelectionError::Empty);
    }
    if types.len() > MAX_TYPES {
        return Err(SelectionError::TooMany(types.len()));
    }
    let mut names = HashSet::new();
    for given in types {
        let selected = event_names().filter(|name| is_selected(given, name));
        let mut selected = selected.peekable();
        if selected.peek().is_none() {
            return Err(unknown(given));
        }
        names.extend(selected);
    }
    Ok(names)
}

fn is_selected(given: &str, name: &str) -> bool {
    match given.strip_suffix('*') {
        Some("") => true,
        Some(beginning) => beginning.ends_with('.') && name.starts_with(beginning),
        None => given == name,
    }
}

fn unknown(given: &str) -> SelectionError {
    let similar = nearest(given);
    SelectionError::UnknownType {
        given: given.chars().take(60).collect(),
        hint: similar.map_or_else(String::new, |name| format!(" Did you mean {name}?")),
    }
}

/// Returns the event whose name resembles the given one most, if any does.
fn nearest(given: &str) -> Option<&'static str> {
    const LONGEST: usize = 64;
    let wanted = given.trim_end_matches(['*', '.']).to_ascii_lowercase();
    if wanted.len() < 4 || wanted.len() > LONGEST {
        return None;
    }
    let rated = event_names().map(|name| (distance(&wanted, name), name));
    let best = rated.min_by_key(|(distance, _)| *distance);
    let near = best.filter(|(distance, _)| *distance <= 2 && *distance * 6 <= wanted.len());
    // An older client knows `message.part.delta` and the like; the last words of a name are the specific ones.
    let ends = || event_names().find(|name| name.ends_with(&format!(".{wanted}")));
    near.map(|(_, name)| name).or_else(ends)
}

/// Number of bytes to insert, delete or replace to turn one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, from) in a.bytes().enumerate() {
        let mut before = line;
        row[0] = line + 1;
        for (column, to) in b.bytes().enumerate() {
            let replaced = before + usize::from(from != to);
            before = row[column + 1];
            row[column + 1] = replaced.min(before + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(types: &[&str]) -> Result<Selection, SelectionError> {
        let types: Vec<String> = types.iter().map(|name| (*name).to_owned()).collect();
        Selection::new(Some(&types), None)
    }

    fn has(selection: &Selection, name: &str) -> bool {
        selection.has(Topic {
            name,
            session: None,
        })
    }

    #[test]
    fn names_and_beginnings_select_events() {
        for (types, name, expected) in [
            (&["session.idle"][..], "session.idle", true),
            (&["session.idle"], "session.status", false),
            (&["session.idle"], "server.heartbeat", true),
            (&["session.idle"], "global.disposed", true),
            (&["session.*"], "session.next.text.delta", true),
            (&["session.*"], "session.compacted", true),
            (&["session.next.*"], "session.idle", false),
            (&["message.*"], "message.part.updated", true),
            (&["message.part.*"], "message.updated", false),
            (&["*"], "message.updated", true),
            (&["*"], "mcp.updated", true),
        ] {
            assert_eq!(
                has(&selection(types).unwrap(), name),
                expected,
                "{types:?} {name}"
            );
        }
    }

    #[test]
    fn most_events_are_selected_by_default() {
        for name in event_names() {
            assert_eq!(
                has(&Selection::default(), name),
                !SELECTED_ONLY.contains(&name),
                "{name}"
            );
        }
        assert!(!Selection::default().has_derived());
        assert!(selection(&["*"]).unwrap().has_derived());
        assert!(!selection(&["todo.updated"]).unwrap().has_derived());
    }

    #[test]
    fn a_session_selects_its_own_events() {
        let [one, other] = ["ses_1", "ses_2"].map(|id| SessionID::parse(id).unwrap());
        let selection = Selection::new(None, Some(one.clone())).unwrap();
        for (name, session, expected) in [
            ("session.idle", Some(&one), true),
            ("session.idle", Some(&other), false),
            ("mcp.updated", None, false),
            ("server.heartbeat", None, true),
        ] {
            assert_eq!(selection.has(Topic { name, session }), expected, "{name}");
        }
    }

    #[test]
    fn a_type_without_events_is_refused_with_a_suggestion() {
        for (given, hint) in [
            ("sesion.idle", " Did you mean session.idle?"),
            ("Session.Idle", " Did you mean session.idle?"),
            ("text.delta", " Did you mean session.next.text.delta?"),
            ("mesage.updated", " Did you mean message.updated?"),
            ("sesion.*", ""),
            ("session*", ""),
            ("s*ession.idle", " Did you mean session.idle?"),
            ("lsp.updated", ""),
            ("", ""),
            (".*", ""),
        ] {
            let expected = SelectionError::UnknownType {
                given: given.to_owned(),
                hint: hint.to_owned(),
            };
            assert_eq!(selection(&[given]).unwrap_err(), expected, "{given}");
        }
        assert_eq!(selection(&[]).unwrap_err(), SelectionError::Empty);
        let many = vec!["session.idle"; 129];
        assert_eq!(selection(&many).unwrap_err(), SelectionError::TooMany(129));
        let long = selection(&["é".repeat(5000).as_str()]).unwrap_err();
        assert!(long.to_string().len() < 400);
    }
}
