//! Parses a patch as a model writes it: the format of the tool, and the forms around it whose meaning is evident. Pure.

mod marker;
mod rows;

pub(super) use self::marker::Numbers;
use self::marker::{Kind, Marker};
use self::rows::{Body, Row, header, indentation};

/// Reason why a text is not a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PatchError {
    #[error("patchText is required")]
    Blank,
    #[error("apply_patch verification failed: Error: {0}")]
    Syntax(String),
    #[error("patch rejected: empty patch")]
    Empty,
    #[error(
        "apply_patch moves are not supported yet: line {0} of patchText asks for one. Add the file at its new path and \
         delete the old one instead. Nothing was changed."
    )]
    Move(usize),
}

/// The change of one file.
#[derive(Debug, PartialEq)]
pub(super) struct Hunk {
    pub(super) path: String,
    pub(super) action: Action,
}

#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Creates the file with this content.
    Add(String),
    Delete,
    Update(Vec<Chunk>),
}

/// Consecutive lines of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chunk {
    /// The line of the patch at which the chunk begins, counted from 1.
    pub(super) number: usize,
    /// A line to find before the chunk.
    pub(super) context: Option<String>,
    /// The line numbers of a unified diff. Models count badly, so they only decide between equal places.
    pub(super) numbers: Option<Numbers>,
    pub(super) lines: Vec<Line>,
    /// Number of lines at the beginning and at the end that are empty in the patch. They are empty lines of the file, or
    /// only separate the parts of the patch.
    pub(super) empty: [usize; 2],
    /// True if the chunk belongs at the end of the file.
    pub(super) at_end: bool,
    /// True if the last old line, and the last new line, are said to have no end.
    pub(super) is_open: [bool; 2],
    /// Number and text of the first line without a mark. It counts as a line that stays.
    pub(super) unmarked: Option<(usize, String)>,
}

/// A line of a chunk without its first character.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    Keep(String),
    Remove(String),
    Insert(String),
}

/// Parses a patch. Ignores the text before and after it.
pub(super) fn parse(text: &str) -> Result<Vec<Hunk>, PatchError> {
    if text.trim().is_empty() {
        return Err(PatchError::Blank);
    }
    let mut parser = Parser::new(text);
    let mut hunks = Vec::new();
    while let Some(row) = parser.next() {
        if let Some(hunk) = parser.hunk(row).map_err(PatchError::Syntax)? {
            hunks.push(hunk);
        }
    }
    if let Some(number) = parser.moves {
        return Err(PatchError::Move(number));
    }
    if !hunks.is_empty() {
        return Ok(hunks);
    }
    if parser.is_delimited {
        return Err(PatchError::Empty);
    }
    let issue = "Invalid patch format: missing Begin/End markers (*** Begin Patch, *** End Patch)";
    Err(PatchError::Syntax(issue.to_owned()))
}

struct Parser<'a> {
    rows: Vec<Row<'a>>,
    /// The index of the next row.
    at: usize,
    /// The indentation of the markers.
    indentation: usize,
    /// True if the patch has its first and its last line.
    is_delimited: bool,
    /// The line that requests a move.
    moves: Option<usize>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let Body {
            rows,
            indentation,
            is_delimited,
        } = Body::of(text);
        Self {
            rows,
            at: 0,
            indentation,
            is_delimited,
            moves: None,
        }
    }

    fn next(&mut self) -> Option<Row<'a>> {
        let row = self.rows.get(self.at).copied();
        self.at += 1;
        row
    }

    fn rest(&self) -> &[Row<'a>] {
        self.rows.get(self.at..).unwrap_or_default()
    }

    /// Returns the marker of the next row within the content of a file, where an indented marker is content unless
    /// what follows it shows the opposite.
    fn marker_in_content(&self) -> Option<Marker<'a>> {
        let (row, rest) = self.rest().split_first()?;
        let space = indentation(row.text);
        let found = marker::marker(&row.text[space..])?;
        let next = rest.first().map(|next| next.text.trim_start());
        let next_marker = next.and_then(marker::marker);
        let is_marker = match found {
            _ if space == 0 => true,
            Marker::Begin | Marker::End | Marker::EndOfFile => space == self.indentation,
            Marker::File(..) if space < 2 => false,
            Marker::File(Kind::Update, _) => {
                next.is_some_and(|next| next.starts_with("@@"))
                    || matches!(next_marker, Some(Marker::Move(_)))
            }
            Marker::File(Kind::Add, _) => next.is_some_and(|next| next.starts_with('+')),
            Marker::File(Kind::Delete, _) => {
                next.is_none_or(str::is_empty) || next_marker.is_some()
            }
            Marker::Move(_) | Marker::Unknown => false,
        };
        is_marker.then_some(found)
    }

    /// True if the content of a file ends before the next row.
    fn is_next_file(&self) -> bool {
        let is_marker = |marker| !matches!(marker, Marker::Begin);
        self.rest().first().is_none_or(|row| {
            row.text.starts_with("diff --git ")
                || self.marker_in_content().is_some_and(is_marker)
                || (header(self.rest()).is_some()
                    && self
                        .rest()
                        .get(2)
                        .is_none_or(|row| row.text.starts_with("@@")))
        })
    }

    /// Parses the change that begins with a row, if one does.
    fn hunk(&mut self, row: Row<'a>) -> Result<Option<Hunk>, String> {
        let text = row.text.trim_start();
        let (kind, path) = match marker::marker(text) {
            Some(Marker::File(kind, path)) => (kind, marker::clean(path)),
            Some(Marker::Begin) => return Ok(None),
            Some(Marker::End) => {
                self.skip_to_next_patch();
                return Ok(None);
            }
            _ if row.text.trim().is_empty() || marker::is_fence(text) => return Ok(None),
            _ if marker::is_diff_preamble(text) => return self.diff_without_lines(&row),
            _ => {
                self.at -= 1;
                let found = header(self.rest());
                self.at += 1;
                let Some((kind, path)) = found else {
                    return Err(row.invalid("patch line"));
                };
                self.at += 1;
                (kind, path)
            }
        };
        if path.is_empty() {
            let action = match kind {
                Kind::Add => "add",
                Kind::Delete => "delete",
                Kind::Update => "update",
            };
            return Err(format!(
                "Invalid {action} file path (line {} of patchText). Nothing was changed.",
                row.number
            ));
        }
        let action = match kind {
            Kind::Add => Action::Add(self.added()?),
            Kind::Delete => self.deleted()?,
            Kind::Update => Action::Update(self.chunks(path)?),
        };
        Ok(Some(Hunk {
            path: path.to_owned(),
            action,
        }))
    }

    /// Skips the text after a patch, up to another patch or file.
    fn skip_to_next_patch(&mut self) {
        while let Some(row) = self.rest().first() {
            if let Some(Marker::Begin | Marker::File(..)) = marker::marker(row.text) {
                break;
            }
            self.at += 1;
        }
    }

    /// Parses the part of a diff of Git that tells of an empty file, which has no lines.
    fn diff_without_lines(&mut self, head: &Row<'a>) -> Result<Option<Hunk>, String> {
        let Some(paths) = head.text.trim_start().strip_prefix("diff --git ") else {
            return Ok(None);
        };
        let moves = self.moves;
        let mut kind = None;
        while let Some(row) = self.rest().first() {
            match row.text {
                text if text.starts_with("new file mode ") => kind = Some(Kind::Add),
                text if text.starts_with("deleted file mode ") => kind = Some(Kind::Delete),
                text if text.starts_with("rename ") || text.starts_with("copy ") => {
                    self.moves.get_or_insert(row.number);
                }
                text if text.starts_with("similarity index ") => {}
                text if text.starts_with("diff --git ") || !marker::is_diff_preamble(text) => break,
                _ => {}
            }
            self.at += 1;
        }
        let next = self.rest().first();
        if next.is_some_and(|row| row.text.starts_with("--- ")) || self.moves != moves {
            return Ok(None);
        }
        let action = match kind {
            Some(Kind::Add) => Some(Action::Add(String::new())),
            Some(Kind::Delete) => Some(Action::Delete),
            _ => None,
        };
        // A mode that changes, and a path in quotes.
        let (Some(path), Some(action)) = (same_path(paths), action) else {
            return Err(head.invalid("patch line (only the content of a file can be changed)"));
        };
        let path = path.to_owned();
        Ok(Some(Hunk { path, action }))
    }

    /// Reads the content of a new file. If no line has a `+`, the lines are the content.
    fn added(&mut self) -> Result<String, String> {
        let mut rows = Vec::new();
        let mut is_open = false;
        while !self.is_next_file() {
            let Some(row) = self.next() else { break };
            if marker::is_no_newline(row.text) {
                is_open = true;
            } else if marker::marker(row.text) != Some(Marker::Begin)
                && marker::start(row.text).is_none_or(|start| start.numbers.is_none())
            {
                rows.push(row);
            }
        }
        if let Some(Marker::EndOfFile) = self.marker_in_content() {
            self.at += 1;
        }
        let has_mark = |row: &Row<'_>| row.text.starts_with('+');
        let is_marked = rows.iter().any(has_mark);
        while rows.last().is_some_and(Row::is_blank) {
            // It only separates the parts of the patch.
            rows.pop();
        }
        let unmarked = rows.iter().find(|row| !has_mark(row) && !row.is_blank());
        if let Some(row) = unmarked.filter(|_| is_marked) {
            return Err(row.invalid("add file line"));
        }
        let mut content = String::new();
        for (index, row) in rows.iter().enumerate() {
            let text = if is_marked {
                row.text.strip_prefix('+').unwrap_or_default()
            } else {
                row.text
            };
            content.push_str(text);
            if row.has_cr {
                content.push('\r');
            }
            if index + 1 < rows.len() {
                content.push('\n');
            }
        }
        if is_open {
            content.truncate(content.trim_end_matches('\r').len());
        } else if !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        Ok(content)
    }

    /// Skips the lines of a deleted file, which a diff shows.
    fn deleted(&mut self) -> Result<Action, String> {
        while !self.is_next_file() {
            let Some(row) = self.next() else { break };
            let is_shown = row.text.trim().is_empty()
                || row.text.starts_with('-')
                || marker::start(row.text).is_some()
                || marker::is_no_newline(row.text)
                || marker::is_fence(row.text);
            if !is_shown && marker::marker(row.text) != Some(Marker::Begin) {
                return Err(row.invalid("patch line"));
            }
        }
        Ok(Action::Delete)
    }

    fn chunks(&mut self, path: &str) -> Result<Vec<Chunk>, String> {
        self.update_header()?;
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut is_closed = false;
        loop {
            if let Some(Marker::EndOfFile) = self.marker_in_content() {
                self.at += 1;
                if let Some(chunk) = chunks.last_mut() {
                    chunk.at_end = true;
                }
                is_closed = true;
                continue;
            }
            if self.is_next_file() {
                break;
            }
            let Some(row) = self.next() else { break };
            if marker::marker(row.text) == Some(Marker::Begin) {
                continue;
            }
            if let Some(start) = marker::start(row.text) {
                chunks.push(Chunk {
                    number: row.number,
                    context: start.context.map(str::to_owned),
                    numbers: start.numbers,
                    ..Chunk::default()
                });
                is_closed = false;
                continue;
            }
            if row.is_blank() && (is_closed || chunks.is_empty()) {
                continue;
            }
            if is_closed {
                return Err(row.invalid("update file line"));
            }
            if chunks.is_empty() {
                chunks.push(Chunk {
                    number: row.number,
                    ..Chunk::default()
                });
            }
            if let Some(chunk) = chunks.last_mut() {
                chunk.add(&row);
            }
        }
        if chunks.is_empty() {
            return Err(format!(
                "Invalid update of {path}: expected at least one @@ chunk. Nothing was changed."
            ));
        }
        Ok(chunks)
    }

    /// Reads the lines between the header of an update and its first chunk.
    fn update_header(&mut self) -> Result<(), String> {
        loop {
            let Some(row) = self.rest().first().copied() else {
                return Ok(());
            };
            let count = match marker::marker(row.text.trim_start()) {
                Some(Marker::Move(path)) => {
                    if marker::clean(path).is_empty() {
                        return Err(format!(
                            "Invalid move file path (line {} of patchText). Nothing was changed.",
                            row.number
                        ));
                    }
                    self.moves.get_or_insert(row.number);
                    1
                }
                _ if row.is_blank() => 1,
                // The header of a diff within the format of the tool.
                _ if row.text.starts_with("--- ")
                    && self
                        .rest()
                        .get(1)
                        .is_some_and(|next| next.text.starts_with("+++ "))
                    && self
                        .rest()
                        .get(2)
                        .is_some_and(|next| next.text.starts_with("@@")) =>
                {
                    2
                }
                _ => return Ok(()),
            };
            self.at += count;
        }
    }
}

impl Chunk {
    fn add(&mut self, row: &Row<'_>) {
        if marker::is_no_newline(row.text) {
            match self.lines.last() {
                Some(Line::Keep(_)) => self.is_open = [true, true],
                Some(Line::Remove(_)) => self.is_open[0] = true,
                Some(Line::Insert(_)) => self.is_open[1] = true,
                None => {}
            }
            return;
        }
        let [head, tail] = &mut self.empty;
        if row.is_blank() {
            *head += usize::from(self.lines.len() == *head);
            *tail += 1;
        } else {
            *tail = 0;
        }
        let kind = match row.text.chars().next() {
            Some(' ') | None => Line::Keep,
            Some('-') => Line::Remove,
            Some('+') => Line::Insert,
            Some(_) => {
                let unmarked = || (row.number, row.text.to_owned());
                self.unmarked.get_or_insert_with(unmarked);
                self.lines.push(Line::Keep(row.text.to_owned()));
                return;
            }
        };
        let text = row.text.get(1..).unwrap_or_default();
        self.lines.push(kind(text.to_owned()));
    }
}

/// Returns the path of `a/path b/path`.
fn same_path(paths: &str) -> Option<&str> {
    let paths = paths.strip_prefix("a/")?;
    let both = paths.len().checked_sub(" b/".len())?;
    let (old, rest) = paths.split_at_checked(both / 2)?;
    rest.strip_prefix(" b/").filter(|new| *new == old)
}

#[cfg(test)]
mod tests;
