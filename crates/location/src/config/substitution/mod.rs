//! Replaces `{env:NAME}` and `{file:path}` in the text of a document before it is parsed.
//!
//! Each token is replaced once. The replacement is not searched for tokens. Within a string, the
//! replacement is escaped, so that it cannot end the string. Outside of strings it is inserted
//! unchanged, so a variable can provide a number or `true`. Tokens in comments are not replaced.
//!
//! A token that cannot be replaced, or that an untrusted document must not use, is replaced with a
//! mark. The value that contains the mark is removed from the document.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use opencode_handles::read_file;

use super::document::MAX_DOCUMENT_BYTES;
use super::jsonc::{Position, position};
use crate::directory::is_project_text;
use crate::environment::Environment;

/// Maximum size in bytes of a file that a token names. Keys and prompts are much smaller.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Maximum number of different files that the tokens of one document name.
const MAX_FILES: usize = 100;

/// First and last character of the mark for a refused token: a code point that Unicode reserves as a
/// noncharacter. If a document itself contains it, the value with it is removed.
const MARK: char = '\u{fdd0}';

/// The tokens that a document may use.
#[derive(Clone, Copy)]
pub(super) enum Tokens<'r> {
    /// All variables and files.
    All,
    /// Only files below a directory. Symbolic links are resolved before the check.
    FilesBelow(&'r Path),
}

/// A text with its tokens replaced, and the mapping to positions in the original.
pub(super) struct Substituted<'a> {
    original: &'a str,
    text: String,
    /// The replacements in order, each with its range in both texts.
    replaced: Vec<Replaced>,
    /// The files that tokens name, which may be missing.
    files: Vec<PathBuf>,
    /// The reasons for refused tokens. The mark of a token contains the index.
    refused: Vec<Refused>,
}

/// The reason why a token was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// The message.
    pub message: String,
    /// True if the token was refused because the host does not trust the document. The token itself may be valid.
    pub is_withheld: bool,
}

struct Replaced {
    /// Start of the token in the original.
    from: usize,
    /// End of the token in the original.
    from_end: usize,
    /// Start of the replacement.
    to: usize,
    /// End of the replacement.
    to_end: usize,
}

/// The error for a document that becomes too large.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SubstitutionError {
    /// The problem.
    pub message: String,
    /// Position of the token.
    pub position: Position,
}

impl<'a> Substituted<'a> {
    /// The text after replacement.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The files that tokens name, which may be missing.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The reason why the tokens in a text were refused. `None` if the text contains no mark.
    pub(super) fn refusal(&self, text: &str) -> Option<Refused> {
        let (_, mark) = text.split_once(MARK)?;
        let number = mark.split(MARK).next().and_then(|it| it.parse().ok());
        let refused = number.and_then(|number: usize| self.refused.get(number));
        Some(refused.cloned().unwrap_or_else(|| Refused {
            message: "The value holds a code point that no text may hold, U+FDD0".to_owned(),
            is_withheld: false,
        }))
    }

    /// The position in the original for a byte offset in the replaced text. Within a replacement, this
    /// is the start of its token.
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

/// Replaces the tokens of a document. `base` is the base directory of its relative paths.
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
        missing: Vec::new(),
    };
    let mut result = Substituted {
        original,
        text: String::with_capacity(original.len()),
        replaced: Vec::new(),
        files: Vec::new(),
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
    result.files = files.read.into_keys().chain(files.missing).collect();
    Ok(result)
}

/// A token and the offset of its end.
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

/// The lexical context of a position in the text.
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
    /// Returns the token that starts at `at`.
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

    /// Processes the byte at `at`, together with the next one if the two form a unit. Returns the
    /// number of processed bytes.
    fn step(&mut self, text: &[u8], at: usize) -> usize {
        let pair = (text[at], text.get(at + 1).copied().unwrap_or_default());
        let (state, taken) = match (self.state, pair) {
            (State::Plain, (b'"', _)) => (State::String, 1),
            (State::Plain, (b'/', b'/')) => (State::LineComment, 2),
            (State::Plain, (b'/', b'*')) => (State::BlockComment, 2),
            (State::String, (b'\\', next)) => (State::String, 1 + usize::from(next.is_ascii())),
            // A string cannot continue on the next line. The parser reports an unclosed string.
            (State::String, (b'"' | b'\n', _)) => (State::Plain, 1),
            (State::LineComment, (b'\n', _)) => (State::Plain, 1),
            (State::BlockComment, (b'*', b'/')) => (State::Plain, 2),
            (same, _) => (same, 1),
        };
        self.state = state;
        // An escape at the end of the text has no second byte.
        taken.min(text.len() - at)
    }
}

/// Cache of the files that tokens name. Each file is read once.
struct Files<'e> {
    base: &'e Path,
    tokens: Tokens<'e>,
    environment: &'e Environment,
    read: HashMap<PathBuf, String>,
    /// Files that cannot be read.
    missing: Vec<PathBuf>,
}

impl Files<'_> {
    /// The replacement of a token. Empty for an unset variable.
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
        match load(&path) {
            Ok(content) => {
                self.read.insert(path, content.clone());
                Ok(content)
            }
            Err(problem) => {
                let message = format!(
                    "{{file:{name}}} cannot be replaced with {}: {problem}",
                    path.display()
                );
                if self.missing.len() < MAX_FILES {
                    self.missing.push(path);
                }
                Err(TokenProblem::Impossible(message))
            }
        }
    }
}

/// The reason why a token is refused.
enum TokenProblem {
    /// The token cannot be replaced.
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

/// Returns the text of the file without surrounding blanks.
fn load(path: &Path) -> Result<String, String> {
    if !path.is_absolute() {
        return Err("the path is not absolute".to_owned());
    }
    let bytes = read_file(path, MAX_FILE_BYTES).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or("there is no such file")?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    Ok(text.trim().to_owned())
}

/// Appends text in the escaped form for the inside of a JSON string.
fn push_escaped(out: &mut String, text: &str) {
    let quoted = serde_json::Value::from(text).to_string();
    out.push_str(&quoted[1..quoted.len() - 1]);
}

#[cfg(test)]
mod tests;
