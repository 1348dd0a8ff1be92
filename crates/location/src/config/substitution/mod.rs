//! `{env:NAME}` and `{file:path}` in the text of a document, replaced before it is parsed.
//!
//! A token is replaced once, where it was written: what it is replaced with is never looked through
//! for tokens. Within a string the text put there is escaped, so that it stays the string's content
//! whatever it holds; outside of strings a variable stands for itself, a number or `true`. Tokens in
//! comments are left alone.
//!
//! A token that cannot be replaced, or that an untrusted document may not use, leaves a mark. The
//! document loses the value that holds the mark.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::document::MAX_DOCUMENT_BYTES;
use super::jsonc::{Position, position};
use crate::bounded;
use crate::containment::is_project_text;
use crate::environment::Environment;

/// Largest file a token may name. Keys and prompts are a small part of it.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Most different files the tokens of one document may name.
const MAX_FILES: usize = 100;

/// Begins and ends the mark of a refused token: a code point that Unicode keeps free of meaning. A
/// document that holds it by itself loses the value around it.
const MARK: char = '\u{fdd0}';

/// Which tokens a document may use.
#[derive(Clone, Copy)]
pub(super) enum Tokens<'r> {
    /// Every variable and file.
    All,
    /// Files below a directory, links followed.
    FilesBelow(&'r Path),
}

/// A text with its tokens replaced, and where its parts stood before.
pub(super) struct Substituted<'a> {
    original: &'a str,
    text: String,
    /// Replacements in their order, each as the two ranges that correspond.
    replaced: Vec<Replaced>,
    /// Why tokens were refused, by the number in their marks.
    refused: Vec<Refused>,
}

/// Why a token was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// Why.
    pub message: String,
    /// Whether the host does not trust the document, and the token may be right.
    pub is_withheld: bool,
}

struct Replaced {
    /// Where the token begins in the original.
    from: usize,
    /// Where it ends there.
    from_end: usize,
    /// Where its replacement begins.
    to: usize,
    /// Where that ends.
    to_end: usize,
}

/// A document that becomes too large.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SubstitutionError {
    /// What is wrong and what to do about it.
    pub message: String,
    /// Where the token stands.
    pub position: Position,
}

impl<'a> Substituted<'a> {
    /// The text after replacement.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Why the tokens in a text were refused; none if the text holds no mark.
    pub(super) fn refusal(&self, text: &str) -> Option<Refused> {
        let (_, mark) = text.split_once(MARK)?;
        let number = mark.split(MARK).next().and_then(|it| it.parse().ok());
        let refused = number.and_then(|number: usize| self.refused.get(number));
        Some(refused.cloned().unwrap_or_else(|| Refused {
            message: "The value holds a code point that no text may hold, U+FDD0".to_owned(),
            is_withheld: false,
        }))
    }

    /// Where the byte at `offset` of the replaced text stood in the original: within a replacement
    /// that is where its token begins.
    pub(super) fn position(&self, offset: usize) -> Position {
        let following = self.replaced.partition_point(|it| it.to <= offset);
        let original = match following.checked_sub(1).map(|last| &self.replaced[last]) {
            None => offset,
            Some(last) if offset < last.to_end => last.from,
            Some(last) => last.from_end + (offset - last.to_end),
        };
        position(self.original, original)
    }
}

/// Replaces the tokens of a document whose relative paths start at `base`.
pub(super) fn substitute<'a>(
    original: &'a str,
    base: &Path,
    tokens: Tokens<'_>,
    environment: &Environment,
) -> Result<Substituted<'a>, SubstitutionError> {
    let mut files = Files {
        base,
        tokens,
        environment,
        read: HashMap::new(),
    };
    let mut result = Substituted {
        original,
        text: String::with_capacity(original.len()),
        replaced: Vec::new(),
        refused: Vec::new(),
    };
    let mut scanner = Scanner::default();
    let mut copied = 0;
    let mut at = 0;
    while at < original.len() {
        let Some(token) = scanner.token(original, at) else {
            at += scanner.step(original.as_bytes(), at);
            continue;
        };
        let value = files.value(&token);
        result.text.push_str(&original[copied..at]);
        let to = result.text.len();
        match (value, scanner.state) {
            (Ok(value), State::String) => push_escaped(&mut result.text, &value),
            (Ok(value), _) => result.text.push_str(&value),
            (Err(problem), state) => {
                let mark = format!("{MARK}{}{MARK}", result.refused.len());
                result.refused.push(problem.into());
                match state {
                    State::String => result.text.push_str(&mark),
                    _ => result.text.push_str(&format!("\"{mark}\"")),
                }
            }
        }
        if result.text.len() as u64 > MAX_DOCUMENT_BYTES {
            return Err(SubstitutionError {
                message: format!(
                    "What replaces the tokens makes the document larger than {MAX_DOCUMENT_BYTES} bytes"
                ),
                position: position(original, at),
            });
        }
        result.replaced.push(Replaced {
            from: at,
            from_end: token.end,
            to,
            to_end: result.text.len(),
        });
        at = token.end;
        copied = at;
    }
    result.text.push_str(&original[copied..]);
    Ok(result)
}

/// A token and where it ends.
struct Token<'a> {
    kind: TokenKind,
    name: &'a str,
    end: usize,
}

#[derive(Clone, Copy)]
enum TokenKind {
    Variable,
    File,
}

/// What the text at some place is part of.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Plain,
    String,
    LineComment,
    BlockComment,
}

#[derive(Default)]
struct Scanner {
    state: State,
}

impl Scanner {
    /// The token that begins at `at`.
    fn token<'a>(&self, text: &'a str, at: usize) -> Option<Token<'a>> {
        if text.as_bytes()[at] != b'{'
            || matches!(self.state, State::LineComment | State::BlockComment)
        {
            return None;
        }
        let rest = &text[at..];
        let (kind, after) = if let Some(after) = rest.strip_prefix("{env:") {
            (TokenKind::Variable, after)
        } else {
            (TokenKind::File, rest.strip_prefix("{file:")?)
        };
        let line_end = after.find(['}', '\n'])?;
        let name = after[..line_end].trim();
        if name.is_empty() || after.as_bytes()[line_end] != b'}' {
            return None;
        }
        let end = at + (rest.len() - after.len()) + line_end + 1;
        Some(Token { kind, name, end })
    }

    /// Takes note of the byte at `at`, and of its companion where two belong together; gives how
    /// many were taken.
    fn step(&mut self, text: &[u8], at: usize) -> usize {
        let pair = (text[at], text.get(at + 1).copied().unwrap_or_default());
        let (state, taken) = match (self.state, pair) {
            (State::Plain, (b'"', _)) => (State::String, 1),
            (State::Plain, (b'/', b'/')) => (State::LineComment, 2),
            (State::Plain, (b'/', b'*')) => (State::BlockComment, 2),
            (State::String, (b'\\', next)) => (State::String, 1 + usize::from(next.is_ascii())),
            // No string goes on in another line: an unclosed one is a mistake the parser tells.
            (State::String, (b'"' | b'\n', _)) => (State::Plain, 1),
            (State::LineComment, (b'\n', _)) => (State::Plain, 1),
            (State::BlockComment, (b'*', b'/')) => (State::Plain, 2),
            (same, _) => (same, 1),
        };
        self.state = state;
        // An escape at the end of the text has no companion.
        taken.min(text.len() - at)
    }
}

/// The files that tokens name, each read once.
struct Files<'e> {
    base: &'e Path,
    tokens: Tokens<'e>,
    environment: &'e Environment,
    read: HashMap<PathBuf, String>,
}

impl Files<'_> {
    /// What a token stands for: a variable that is not set for nothing.
    fn value(&mut self, token: &Token<'_>) -> Result<String, TokenProblem> {
        let name = token.name;
        match (token.kind, self.tokens) {
            (TokenKind::Variable, Tokens::All) => {
                let value = self.environment.variable(name);
                Ok(value.unwrap_or_default().to_owned())
            }
            (TokenKind::Variable, Tokens::FilesBelow(_)) => Err(TokenProblem::Withheld(format!(
                "{{env:{name}}} reads a variable of the host"
            ))),
            (TokenKind::File, tokens) => self.file(name, tokens),
        }
    }

    fn file(&mut self, name: &str, tokens: Tokens<'_>) -> Result<String, TokenProblem> {
        let path = self.environment.expand(self.base, name);
        if let Tokens::FilesBelow(root) = tokens
            && !is_project_text(&path, root)
        {
            return Err(TokenProblem::Withheld(format!(
                "{{file:{name}}} reads a private file, or one outside the project"
            )));
        }
        if let Some(content) = self.read.get(&path) {
            return Ok(content.clone());
        }
        if self.read.len() == MAX_FILES {
            return Err(TokenProblem::Impossible(format!(
                "A document may name at most {MAX_FILES} files with {{file:…}}"
            )));
        }
        let content = load(&path).map_err(|problem| {
            TokenProblem::Impossible(format!(
                "{{file:{name}}} cannot be replaced with {}: {problem}",
                path.display()
            ))
        })?;
        self.read.insert(path, content.clone());
        Ok(content)
    }
}

/// Why a token is refused.
enum TokenProblem {
    /// It cannot be replaced.
    Impossible(String),
    /// The host does not trust the document.
    Withheld(String),
}

impl From<TokenProblem> for Refused {
    fn from(problem: TokenProblem) -> Self {
        let (message, is_withheld) = match problem {
            TokenProblem::Impossible(message) => (message, false),
            TokenProblem::Withheld(message) => (message, true),
        };
        Self {
            message,
            is_withheld,
        }
    }
}

/// The file's text without the blanks around it.
fn load(path: &Path) -> Result<String, String> {
    if !path.is_absolute() {
        return Err("the path is not absolute".to_owned());
    }
    let bytes = bounded::read(path, MAX_FILE_BYTES).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or("there is no such file")?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    Ok(text.trim().to_owned())
}

/// Appends text as it stands between the quotes of a JSON string.
fn push_escaped(out: &mut String, text: &str) {
    let quoted = serde_json::Value::from(text).to_string();
    out.push_str(&quoted[1..quoted.len() - 1]);
}

#[cfg(test)]
mod tests;
