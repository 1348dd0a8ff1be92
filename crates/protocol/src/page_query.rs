//! Requests for pages, and the cursors of the neighbouring pages.
//!
//! A client requests a page with an initial query or with the cursor of another page, which contains that query. Both
//! give a [`PageRequest`]. Items always have the order of the query, also on a previous page.

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

/// Maximum number of characters of a directory that a failure repeats.
const MAX_SHOWN: usize = 200;

/// Maximum number of bytes of a search text. Titles are much shorter, and a cursor contains the text.
const MAX_SEARCH_BYTES: usize = 4096;

impl SessionsQuery {
    /// Returns the requested page. With a cursor, only `limit` has an effect: some clients put their
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
                archived: self.archived,
                roots: self.roots.unwrap_or_default(),
                parent: self.parent_id,
            },
            order: self.order.unwrap_or_default(),
            from: None,
        })
    }
}

impl MessagesQuery {
    /// Returns the requested page of that session. An empty cursor means no cursor.
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

/// Refuses a relative directory. No session has one, so the request is a mistake. An empty directory only matches
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

/// Refuses a search text that no title can contain: it is too long, or it contains NUL, which ends a text in the store.
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
    /// Returns the cursors of this page from its first and last session.
    pub fn cursors(
        &self,
        ends: Option<(SessionAnchor, SessionAnchor)>,
    ) -> PageCursors<SessionsCursor> {
        self.cursors_around(ends, SessionsCursor::encode)
    }
}

impl MessagesPage {
    /// Returns the cursors of this page from the sequences of its first and last message.
    pub fn cursors(&self, ends: Option<(u64, u64)>) -> PageCursors<MessagesCursor> {
        self.cursors_around(ends, MessagesCursor::encode)
    }
}

impl<Scope: Clone, Anchor> PageRequest<Scope, Anchor> {
    fn cursors_around<C>(
        &self,
        ends: Option<(Anchor, Anchor)>,
        encode: fn(&Self) -> C,
    ) -> PageCursors<C> {
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
