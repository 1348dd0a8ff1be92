//! What is wrong with the configuration, told to whoever asks and to the log.

use std::fmt;

use super::jsonc::Position;

/// Something in the configuration that does not have the effect its author expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, or the name of what gave the document.
    pub path: String,
    /// What kind of thing is wrong.
    pub kind: DiagnosticKind,
    /// What is wrong and what to do about it; names the key, never a value.
    pub message: String,
    /// The line it is in, counted from 1.
    pub line: Option<u32>,
    /// The column it is at, in characters, counted from 1.
    pub column: Option<u32>,
}

/// The kinds of diagnostics. Those before [`DiagnosticKind::Ignored`] cost the whole document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// The document cannot be read.
    Io,
    /// What is to be put in place of a `{file:…}` cannot be had.
    Substitution,
    /// It is not JSON with comments and trailing commas.
    Syntax,
    /// A value in it is not what its key takes.
    Invalid,
    /// One value has no effect; the rest of the document holds.
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
    /// A diagnostic. What collects it logs it, once its message holds no secret.
    pub(crate) fn new(
        path: &str,
        kind: DiagnosticKind,
        message: String,
        position: Option<Position>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            kind,
            message,
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
        }
    }

    /// Tells the log.
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
