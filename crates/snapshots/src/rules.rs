//! Ignore rules of a project: `.gitignore` at every level and `.git/info/exclude`.
//!
//! The excludes of the user's Git configuration do not apply, because they are in a home directory
//! that only the host may access.

use std::{
    borrow::Cow,
    io::{self, Read},
    sync::Arc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use opencode_handles::{Directory, Stamp};

/// Name of ignore files.
pub(crate) const IGNORE_FILE: &str = ".gitignore";

/// Maximum size in bytes of all ignore files that apply to one directory, including those above it.
/// Compiled patterns need more than a hundred times as much memory.
const MAX_BYTES: u64 = 128 * 1024;

/// The ignore rules of a directory: its own, then those above it.
#[derive(Debug)]
pub(crate) struct Rules {
    own: Gitignore,
    /// Length of the path prefix up to the directory of the rules, including the slash.
    prefix: usize,
    above: Option<Arc<Rules>>,
    /// Total size of these rules and those above, in bytes.
    bytes: u64,
}

impl Rules {
    /// Returns the rules of the whole repository, which every other rule overrides.
    pub(crate) fn of_repository(exclude: &[u8]) -> Arc<Self> {
        Arc::new(Self {
            own: parse(exclude),
            prefix: 0,
            above: None,
            bytes: exclude.len() as u64,
        })
    }

    /// Adds the rules of a directory.
    pub(crate) fn within(above: &Arc<Self>, directory: &str, text: &[u8]) -> Arc<Self> {
        let prefix = match directory {
            "" => 0,
            directory => directory.len() + 1,
        };
        Arc::new(Self {
            own: parse(text),
            prefix,
            above: Some(Arc::clone(above)),
            bytes: above.bytes.saturating_add(text.len() as u64),
        })
    }

    /// True if a file or directory is ignored. The directories above it must not be ignored.
    pub(crate) fn ignores(&self, path: &str, is_directory: bool) -> bool {
        let mut rules = Some(self);
        while let Some(here) = rules {
            let below = path.get(here.prefix..).unwrap_or(path);
            match here.own.matched(below, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = here.above.as_deref(),
            }
        }
        false
    }
}

/// Returns the rules of an open directory, and the stamp of its ignore file.
pub(crate) fn read(
    held: &Directory,
    directory: &str,
    above: &Arc<Rules>,
) -> (Arc<Rules>, Option<Stamp>) {
    // As in Git, a link is not an ignore file.
    match read_text(held, above.bytes) {
        Ok((text, stamp)) => (Rules::within(above, directory, &text), Some(stamp)),
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(directory, %error, "an ignore file is not read");
            }
            (Arc::clone(above), held.stat(IGNORE_FILE).ok().flatten())
        }
    }
}

/// Returns the text of a directory's ignore file. `above` is the size of the rules above it, in
/// bytes.
pub(crate) fn text(held: &Directory, above: u64) -> io::Result<Vec<u8>> {
    read_text(held, above).map(|(text, _)| text)
}

fn read_text(held: &Directory, above: u64) -> io::Result<(Vec<u8>, Stamp)> {
    let (file, stamp) = held.open_file(IGNORE_FILE)?;
    let left = MAX_BYTES.saturating_sub(above);
    if stamp.size > left {
        tracing::warn!(
            "an ignore file and those above it are over 128 KiB; everything beside and below it counts as ignored"
        );
        return Ok((b"*".to_vec(), stamp));
    }
    let mut text = Vec::new();
    file.take(left).read_to_end(&mut text)?;
    Ok((text, stamp))
}

/// Escapes braces. They are ordinary characters in Git, but not in the library.
fn with_plain_braces(line: &str) -> Cow<'_, str> {
    if !line.contains(['{', '}']) {
        return Cow::Borrowed(line);
    }
    let mut plain = String::new();
    let (mut is_escaped, mut is_class) = (false, false);
    for character in line.chars() {
        match character {
            '{' | '}' if !is_class && !is_escaped => plain.push('\\'),
            '[' if !is_escaped => is_class = true,
            ']' => is_class = false,
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
        plain.push(character);
    }
    Cow::Owned(plain)
}

fn parse(text: &[u8]) -> Gitignore {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut builder = GitignoreBuilder::new(".");
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // A pattern that is not UTF-8 matches no UTF-8 path.
        let Ok(line) = std::str::from_utf8(line) else {
            continue;
        };
        if let Err(error) = builder.add_line(None, &with_plain_braces(line)) {
            tracing::debug!(%error, "a pattern is not understood");
        }
    }
    builder.build().unwrap_or_else(|error| {
        tracing::warn!(%error, "ignore rules are not understood");
        Gitignore::empty()
    })
}
