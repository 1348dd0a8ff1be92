//! Finds files whose path matches a pattern.
//!
//! `*` and `?` match text within a name, `[a-z]` matches one character of a set, `{a,b}` matches either text, and `**`
//! as a whole name matches any number of directories. A name that begins with a dot has no special meaning.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use fast_glob::glob_match;

use super::InstructionError;
use super::place::unreadable;
use super::reading::is_missing;

/// Maximum number of names that all patterns of one search check together. Patterns that exceed it are too broad.
pub(super) const MAX_NAMES: usize = 10_000;

/// Maximum depth of directories that `**` searches.
const MAX_DEPTH: usize = 16;

/// Generated or downloaded files. `**` does not search these directories unless the pattern names them.
const SKIPPED_NAMES: [&str; 2] = [".git", "node_modules"];

/// A pattern and the directory below which it can match.
#[derive(Debug, PartialEq)]
pub(super) struct Glob {
    directory: PathBuf,
    /// The pattern for the rest of the path, with `/` between the names.
    pattern: String,
}

impl Glob {
    /// Extracts the pattern from an absolute path. `None` if the path contains no pattern or is not Unicode.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let mut directory = PathBuf::new();
        let mut pattern = Vec::new();
        for component in path.components() {
            let name = component.as_os_str();
            if pattern.is_empty() && !is_pattern(component) {
                directory.push(name);
            } else {
                pattern.push(name.to_str()?);
            }
        }
        let pattern = pattern.join("/");
        (!pattern.is_empty()).then_some(Self { directory, pattern })
    }

    /// Returns the files that match, sorted by path. Empty if the directory does not exist. Follows links, except with
    /// `**`, so that a cycle of links ends. `left` is the number of names that can still be checked.
    pub(super) fn files(&self, left: &mut usize) -> Result<Vec<PathBuf>, InstructionError> {
        let mut walk = Walk {
            pattern: &self.pattern,
            names: self.pattern.split('/').collect(),
            left,
            found: Vec::new(),
        };
        walk.directory(&self.directory, "", 0)?;
        walk.found.sort_unstable();
        Ok(walk.found)
    }
}

fn is_pattern(component: Component<'_>) -> bool {
    let magic = |name: &OsStr| name.to_string_lossy().contains(['*', '?', '[', '{']);
    matches!(component, Component::Normal(name) if magic(name))
}

struct Walk<'g> {
    pattern: &'g str,
    /// The parts of the pattern between `/` characters. A `/` inside braces splits an alternative.
    names: Vec<&'g str>,
    left: &'g mut usize,
    found: Vec<PathBuf>,
}

impl Walk<'_> {
    fn directory(
        &mut self,
        path: &Path,
        below: &str,
        depth: usize,
    ) -> Result<(), InstructionError> {
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(()),
            Err(error) => return Err(unreadable(path, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(path, &error))?;
            *self.left = self
                .left
                .checked_sub(1)
                .ok_or_else(|| self.too_much(path))?;
            if let Some(name) = entry.file_name().to_str() {
                self.entry(&entry, name, below, depth)?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        entry: &fs::DirEntry,
        name: &str,
        below: &str,
        depth: usize,
    ) -> Result<(), InstructionError> {
        let path = entry.path();
        let here = format!("{below}{name}");
        if glob_match(self.pattern, &here) && !path.is_dir() {
            self.found.push(path);
        } else if self.may_match_below(entry, name, depth) {
            self.directory(&path, &format!("{here}/"), depth + 1)?;
        }
        Ok(())
    }

    /// True if a path below this entry can match.
    fn may_match_below(&self, entry: &fs::DirEntry, name: &str, depth: usize) -> bool {
        let names = &self.names[..self.names.len().min(depth + 1)];
        if names.contains(&"**") {
            let real = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let named = !SKIPPED_NAMES.contains(&name) || self.names.contains(&name);
            return real && named && depth < MAX_DEPTH;
        }
        let cut_in_braces = names.iter().any(|it| it.contains(['{', '}']));
        let more = depth + 1 < self.names.len();
        more && (cut_in_braces || glob_match(names[depth], name)) && entry.path().is_dir()
    }

    fn too_much(&self, path: &Path) -> InstructionError {
        let reason = format!(
            "up to the pattern {} more than {MAX_NAMES} names are looked at; name less",
            self.pattern
        );
        InstructionError {
            path: path.to_owned(),
            reason,
        }
    }
}
