//! Problems in the configuration, for callers and for the log.

use std::fmt;

use opencode_schema::display::DisplayText;

use super::jsonc::Position;

/// A part of the configuration that does not have the effect that its author expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, or the name of another source of the document.
    pub path: String,
    /// The kind of the problem.
    pub kind: DiagnosticKind,
    /// The problem and its solution. Names the key, never a value.
    pub message: String,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column in characters, counted from 1.
    pub column: Option<u32>,
}

/// The kinds of diagnostics. [`DiagnosticKind::Io`] and [`DiagnosticKind::Syntax`] concern a whole document
/// or file, the other kinds usually a single value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// The document, file or directory cannot be read.
    Io,
    /// A `{file:…}` token cannot be replaced, or the replacements make the document too large.
    Substitution,
    /// The text is not JSON with comments and trailing commas.
    Syntax,
    /// A value is not valid for its key. Only this value is left out, unless it is the whole document.
    Invalid,
    /// One value has no effect. The rest of the document applies.
    Ignored,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Diagnostic {
    /// Creates a diagnostic without logging it. Names in the path and the message come from the author of the document. The collector logs it after secrets were removed from its message.
    pub(crate) fn new(
        path: &str,
        kind: DiagnosticKind,
        message: String,
        position: Option<Position>,
    ) -> Self {
        Self {
            path: DisplayText::line(path).into_string(),
            kind,
            message: DisplayText::line(message).into_string(),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
        }
    }

    /// Writes the diagnostic to the log.
    pub(crate) fn log(&self) {
        let Self {
            path,
            kind,
            line,
            column,
            message,
        } = self;
        tracing::warn!(path, ?kind, line, column, "Configuration: {message}");
    }
}
