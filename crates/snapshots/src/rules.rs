//! Which files a project ignores: `.gitignore` at every level and `.git/info/exclude`.
//!
//! The excludes of a user's own Git configuration do not count, because they lie in a home directory
//! of which only the host may speak.

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

/// The name of the files that have rules.
pub(crate) const IGNORE_FILE: &str = ".gitignore";

/// Bytes of all files with rules that hold in one directory, its own and those above it. Their patterns
/// are compiled, which takes more than a hundred times as much memory.
const MAX_BYTES: u64 = 128 * 1024;

/// The rules that hold in a directory: its own, then those above.
#[derive(Debug)]
pub(crate) struct Rules {
    own: Gitignore,
    /// How much of a path leads to the directory the rules stand in, the slash included.
    prefix: usize,
    above: Option<Arc<Rules>>,
    /// How long all of them are.
    bytes: u64,
}

impl Rules {
    /// The rules of a whole repository, which every other rule overrides.
    pub(crate) fn of_repository(exclude: &[u8]) -> Arc<Self> {
        Arc::new(Self {
            own: parse(exclude),
            prefix: 0,
            above: None,
            bytes: exclude.len() as u64,
        })
    }

    /// With those that stand in a directory.
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

    /// Whether a file or directory is ignored. Of the directories above it none may be.
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

/// The rules of a directory that is held open, and the stamp of the file they stand in.
pub(crate) fn read(
    held: &Directory,
    directory: &str,
    above: &Arc<Rules>,
) -> (Arc<Rules>, Option<Stamp>) {
    // A link is no file with rules, as it is none for Git.
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

/// The text of the rules of a directory, where those above it have so many bytes.
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

/// To Git braces are characters like others, but not to the library.
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
        // A pattern that is not UTF-8 fits no path that is.
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
