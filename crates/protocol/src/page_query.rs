//! Pages: what a request for one means, and how the pages beside it are reached.
//!
//! A page is asked for by an initial query or by the cursor of another page, which carries that
//! query. Either way the outcome is a [`PageRequest`], and items always keep the order of the query,
//! also on a page that lies before another.

use std::path::Path;

use opencode_schema::check::Issue;
use opencode_schema::id::SessionID;

use crate::channel::Channel;
use crate::cursor::{CursorError, MessagesCursor, SessionsCursor};
use crate::failure::Failure;
use crate::input::{MessagesQuery, SessionsQuery};
use crate::output::PageCursors;
use crate::page::{
    DEFAULT_LIMIT, Direction, MAX_SESSIONS, MessagesPage, PageAnchor, PageRequest, SessionAnchor,
    SessionFilters, SessionsPage,
};

/// Characters of a directory that a failure repeats.
const MAX_SHOWN: usize = 200;

/// Most bytes of a text that is searched for. A title is far shorter, and a cursor has to carry it.
const MAX_SEARCH_BYTES: usize = 4096;

impl SessionsQuery {
    /// The page that is asked for. Beside a cursor only `limit` counts: some clients put their
    /// directory into every query.
    pub fn page(self) -> Result<SessionsPage, Failure> {
        let limit = |limit: u64| {
            u32::try_from(limit)
                .unwrap_or(MAX_SESSIONS)
                .min(MAX_SESSIONS)
        };
        if let Some(cursor) = self.cursor {
            let mut page = cursor.decode()?;
            page.limit = self.limit.map_or(page.limit, limit);
            return Ok(page);
        }
        if let Some(directory) = &self.directory {
            refuse_relative(directory)?;
        }
        if let Some(search) = &self.search {
            refuse_unsearchable(search)?;
        }
        Ok(SessionsPage {
            limit: self.limit.map_or(DEFAULT_LIMIT, limit),
            scope: SessionFilters {
                workspace: self.workspace,
                search: self.search,
                directory: self.directory,
                project: self.project,
                subpath: self.subpath,
            },
            order: self.order.unwrap_or_default(),
            from: None,
        })
    }
}

impl MessagesQuery {
    /// The page of that session that is asked for. An empty cursor is none.
    pub fn page(self, session_id: &SessionID) -> Result<MessagesPage, Failure> {
        let Some(cursor) = self.cursor.filter(|cursor| !cursor.as_str().is_empty()) else {
            return Ok(MessagesPage {
                scope: session_id.clone(),
                order: self.order.unwrap_or_default(),
                limit: self.limit.unwrap_or(DEFAULT_LIMIT),
                from: None,
            });
        };
        if self.order.is_some() {
            return Err(Failure::invalid_cursor(
                "Cursor cannot be combined with order",
            ));
        }
        let mut page = cursor.decode(session_id)?;
        page.limit = self.limit.unwrap_or(page.limit);
        Ok(page)
    }
}

/// Refuses a relative directory. No session lives in one, so the request is a mistake. An empty directory only matches
/// nothing.
fn refuse_relative(directory: &str) -> Result<(), Failure> {
    if directory.is_empty() || Path::new(directory).is_absolute() {
        return Ok(());
    }
    let shown: String = directory.chars().take(MAX_SHOWN).collect();
    let message = format!(
        "The directory {shown:?} is not an absolute path; give the full path, from the root on"
    );
    Err(Failure::invalid_field("directory", message))
}

/// No title is that long, and for the store a text ends at its first NUL.
fn refuse_unsearchable(search: &str) -> Result<(), Failure> {
    let length = search.len();
    let problem = if length > MAX_SEARCH_BYTES {
        format!("Expected a text of at most {MAX_SEARCH_BYTES} bytes, got one of {length}")
    } else if search.contains('\0') {
        "Expected a text without a NUL character".to_owned()
    } else {
        return Ok(());
    };
    let issue = Issue::new(problem).at_key("search");
    Err(Failure::invalid(Channel::Query, &issue))
}

impl From<CursorError> for Failure {
    fn from(error: CursorError) -> Self {
        Self::invalid_cursor(error.to_string())
    }
}

impl SessionsPage {
    /// The cursors of this page, given its first and last session.
    pub fn cursors(
        &self,
        ends: Option<(SessionAnchor, SessionAnchor)>,
    ) -> PageCursors<SessionsCursor> {
        self.beside(ends, SessionsCursor::encode)
    }
}

impl MessagesPage {
    /// The cursors of this page, given the sequences of its first and last message.
    pub fn cursors(&self, ends: Option<(u64, u64)>) -> PageCursors<MessagesCursor> {
        self.beside(ends, MessagesCursor::encode)
    }
}

impl<Scope: Clone, Anchor> PageRequest<Scope, Anchor> {
    fn beside<C>(&self, ends: Option<(Anchor, Anchor)>, encode: fn(&Self) -> C) -> PageCursors<C> {
        let cursor = |anchor, direction| {
            encode(&Self {
                scope: self.scope.clone(),
                order: self.order,
                limit: self.limit,
                from: Some(PageAnchor { anchor, direction }),
            })
        };
        let (previous, next) = ends.map_or((None, None), |(first, last)| {
            (
                Some(cursor(first, Direction::Previous)),
                Some(cursor(last, Direction::Next)),
            )
        });
        PageCursors { previous, next }
    }
}
