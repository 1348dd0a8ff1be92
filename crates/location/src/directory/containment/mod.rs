//! Resolves a path from the model to a file and checks if the Location permits access to it.
//!
//! A path is checked twice: by its text, and by its real path after all symbolic links are resolved. A relative path
//! must not leave the Location. A path that is inside by its text but outside by its real path goes through a link, and
//! no approval can permit it. An absolute path outside is possible, but only after the user approved its directory.
//!
//! The result is valid only at the time of the check. A tool that waits between resolving and opening,
//! for example for a permission, checks [`Target::still_resolves`] before it accesses the file.
//!
//! All functions in this module access the disk and block: call them only where blocking is allowed.

#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::{
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf, Prefix},
};

use opencode_schema::permission::{folded, matches};

use super::alike::escaped;
use super::lexical;
use super::link_names::link_names;

/// The expected type of the path. It decides which directory an approval outside the Location covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A file: the approval covers the directory that contains it.
    File,
    /// A directory, if it exists: the approval covers its content.
    Directory,
}

/// A path that the Location may use, possibly after an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The absolute path without symbolic links. Its last components may not exist yet.
    pub canonical: PathBuf,
    /// The name for permission rules: relative to the Location with `/` between the names (`.` for its
    /// root), or the canonical path if the target is outside.
    pub resource: String,
    /// Other names of the resource: the path as it was given, and each path to which a link on it leads. A rule about
    /// any of them restricts.
    pub other_names: Vec<String>,
    /// For a target outside: the pattern that an `external_directory` approval must cover.
    pub external_directory: Option<String>,
    /// The same pattern for the other names.
    pub other_external_directories: Vec<String>,
}

impl Target {
    /// True if the canonical path has an entry.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.canonical.symlink_metadata().is_ok()
    }

    /// True if the canonical path still leads to the same place as when it was resolved. False if a
    /// component was replaced by a link or removed.
    #[must_use]
    pub fn still_resolves(&self) -> bool {
        real_path(&self.canonical).is_ok_and(|now| now == self.canonical)
    }
}

/// Names that look the same.
#[derive(Debug)]
pub struct Names(pub Vec<String>);

impl std::fmt::Display for Names {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.0.iter().map(|name| format!("\"{}\"", escaped(name)));
        out.write_str(&names.collect::<Vec<_>>().join(" and "))
    }
}

/// The reason why a path cannot be used, as the end of a sentence. Only the reason in [`ContainmentError::Outside`]
/// depends on what exists outside of the Location.
#[derive(Debug, thiserror::Error)]
pub enum ContainmentError {
    /// A relative path leaves the Location.
    #[error(
        "the relative path leaves the working directory. Use an absolute path for a place outside of it"
    )]
    RelativeEscape,
    /// The path is inside by its text, but a symbolic link leads out, or to nothing: what exists outside is not told.
    #[error("a symbolic link on the path leads out of the working directory or to nothing")]
    LocationEscape,
    /// A component of the path that must be a directory is not one.
    #[error("a part of the path before its last name is a file, not a directory")]
    NonDirectoryAncestor,
    /// A symbolic link outside has no target. A file created through it would be at a place that was not checked.
    #[error("a symbolic link on the path has no target")]
    DanglingLink,
    /// More than one entry looks like the name.
    #[error("more than one entry looks like this name: {0}. Give one of these names exactly")]
    Ambiguous(Names),
    /// The path contains a NUL.
    #[error("the path contains a NUL character")]
    Nul,
    /// The Location directory does not exist.
    #[error("the working directory does not exist")]
    NoLocation,
    /// The path is outside of the Location and cannot be used. The reason may be told only after an approval of the
    /// directory.
    #[error("the path cannot be used")]
    Outside {
        /// The pattern that an `external_directory` approval must cover.
        pattern: String,
        /// The same pattern for the path as it was given.
        other_patterns: Vec<String>,
        /// The reason.
        reason: Box<ContainmentError>,
    },
    /// The real path is not valid text, so no rule could name it.
    #[error("the path is not Unicode")]
    NotUnicode,
    /// The file system refused the path.
    #[error("the system refuses the path: {}", .0.kind())]
    Io(#[from] io::Error),
}

/// Resolves `input` against the Location directory, which must be absolute.
pub fn resolve(location: &Path, input: &str, kind: TargetKind) -> Result<Target, ContainmentError> {
    if input.contains('\0') {
        return Err(ContainmentError::Nul);
    }
    let root = lexical(location);
    let named = lexical(&root.join(input));
    let named_inside = named.starts_with(&root);
    if !named_inside && !Path::new(input).is_absolute() {
        return Err(ContainmentError::RelativeEscape);
    }
    let real_root = real_path(&root).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ContainmentError::NoLocation,
        _ => error.into(),
    })?;
    let resolved = follow(&named).and_then(|real| {
        let roots = [root.as_path(), &real_root];
        target(real, &named, roots, kind)
    });
    resolved.map_err(|reason| {
        if named_inside && leads_out(&named, &root, &real_root) {
            ContainmentError::LocationEscape
        } else if named_inside || named.starts_with(&real_root) {
            reason
        } else {
            outside(&named, reason)
        }
    })
}

/// Returns the target of a path that was followed. `roots` are the Location as it is named, and without links.
fn target(
    real: RealPath,
    named: &Path,
    roots: [&Path; 2],
    kind: TargetKind,
) -> Result<Target, ContainmentError> {
    let others = link_names(named, &real.canonical);
    match real.canonical.strip_prefix(roots[1]) {
        Ok(rest) => {
            let resource = relative_resource(rest)?;
            let canonical = [real.canonical.clone()];
            let mut other_names = Vec::new();
            for other in others.iter().chain(&canonical) {
                let below = roots.map(|root| other.strip_prefix(root).ok());
                for below in below.into_iter().flatten() {
                    push_new(&mut other_names, &resource, relative_resource(below)?);
                }
                push_new(&mut other_names, &resource, text(other)?.to_owned());
            }
            Ok(Target {
                resource,
                other_names,
                external_directory: None,
                other_external_directories: Vec::new(),
                canonical: real.canonical,
            })
        }
        Err(_) if named.starts_with(roots[0]) => Err(ContainmentError::LocationEscape),
        Err(_) => {
            let directory = real.approval_directory(kind);
            let below = real.canonical.strip_prefix(directory);
            let below = below.map_or(0, |below| below.components().count());
            let mut other_names = Vec::new();
            let mut other_external_directories = Vec::new();
            for other in &others {
                other_names.push(text(other)?.to_owned());
                let directory = other.ancestors().nth(below).unwrap_or(other);
                other_external_directories.push(content_of(directory)?);
            }
            Ok(Target {
                resource: text(&real.canonical)?.to_owned(),
                other_names,
                external_directory: Some(content_of(directory)?),
                other_external_directories,
                canonical: real.canonical,
            })
        }
    }
}

fn push_new(names: &mut Vec<String>, resource: &str, name: String) {
    if name != resource && !names.contains(&name) {
        names.push(name);
    }
}

/// True if a symbolic link on a path that is inside by its text leads out or to nothing. Then the reason of a failure
/// could depend on what exists outside.
fn leads_out(named: &Path, root: &Path, real_root: &Path) -> bool {
    let Ok(below) = named.strip_prefix(root) else {
        return false;
    };
    let mut path = root.to_owned();
    for name in below.components() {
        path.push(name);
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                let stays = real_path(&path).is_ok_and(|real| real.starts_with(real_root));
                if !stays {
                    return true;
                }
            }
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    false
}

/// Returns the failure of a path outside, whose directory the user must approve before the reason is told.
fn outside(named: &Path, reason: ContainmentError) -> ContainmentError {
    let directory = named.parent().unwrap_or(named);
    let real = directory.ancestors().find_map(|existing| {
        let rest = directory.strip_prefix(existing).ok()?;
        Some(real_path(existing).ok()?.join(rest))
    });
    let pattern = |directory: &Path| {
        let directory = directory.to_string_lossy();
        let bare = directory.strip_suffix(std::path::is_separator);
        format!("{}/*", bare.unwrap_or(&directory))
    };
    let named = pattern(directory);
    let pattern = real.map_or_else(|| named.clone(), |real| pattern(&real));
    ContainmentError::Outside {
        other_patterns: Some(named)
            .filter(|named| *named != pattern)
            .into_iter()
            .collect(),
        pattern,
        reason: Box::new(reason),
    }
}

pub(super) struct RealPath {
    pub(super) canonical: PathBuf,
    /// The longest prefix of `canonical` that exists.
    existing: PathBuf,
}

impl RealPath {
    /// The directory that an approval covers.
    fn approval_directory(&self, kind: TargetKind) -> &Path {
        let exists = self.existing == self.canonical;
        if exists && !(kind == TargetKind::Directory && self.canonical.is_dir()) {
            self.canonical.parent().unwrap_or(&self.canonical)
        } else {
            &self.existing
        }
    }
}

/// The pattern of the entries of a directory.
fn content_of(directory: &Path) -> Result<String, ContainmentError> {
    let directory = text(directory)?;
    // Only the root of a file system ends with a separator.
    let bare = directory
        .strip_suffix(std::path::is_separator)
        .unwrap_or(directory);
    Ok(format!("{bare}/*"))
}

/// Resolves all links in the existing part of the path and appends the missing part unchanged.
pub(super) fn follow(named: &Path) -> Result<RealPath, ContainmentError> {
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut current = named;
    loop {
        let error = match real_path(current) {
            Ok(existing) => {
                if !missing.is_empty() && !existing.is_dir() {
                    return Err(ContainmentError::NonDirectoryAncestor);
                }
                let mut canonical = existing.clone();
                canonical.extend(missing.iter().rev());
                return Ok(RealPath {
                    canonical,
                    existing,
                });
            }
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::NotFound => {}
            io::ErrorKind::NotADirectory => return Err(ContainmentError::NonDirectoryAncestor),
            _ => return Err(error.into()),
        }
        match fs::symlink_metadata(current) {
            // The name exists, so the target of the link is missing.
            Ok(_) => return Err(ContainmentError::DanglingLink),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // For example a path that is too long for the system. Checking it name by name would be slow.
            Err(error) => return Err(error.into()),
        }
        let (Some(parent), Some(name)) = (current.parent(), current.file_name()) else {
            return Err(error.into());
        };
        missing.push(name);
        current = parent;
    }
}

/// True if a path is below a directory after links are resolved. A path that does not exist is checked by its text.
pub(crate) fn lies_below(path: &Path, root: &Path) -> bool {
    match (real_path(path), real_path(root)) {
        (Ok(path), Ok(root)) => path.starts_with(root),
        _ => lexical(path).starts_with(root),
    }
}

/// True if a file of an untrusted project can be read as project text: it is below `root` after links
/// are resolved, and it is not private.
pub(crate) fn is_project_text(path: &Path, root: &Path) -> bool {
    let real = real_path(path).unwrap_or_else(|_| lexical(path));
    let root_real = real_path(root).unwrap_or_else(|_| root.to_owned());
    lies_below(path, root) && !is_private(&real, &root_real)
}

/// The patterns of files that usually contain secrets.
pub(crate) const PRIVATE_FILES: [&str; 5] = ["*.env", "*.env.*", "*.envrc", "*.envrc.*", "*.env~"];

/// The patterns of files that these patterns match although they contain no secrets.
pub(crate) const PUBLIC_FILES: [&str; 1] = ["*.env.example"];

/// True if a file below `root` may contain secrets: environment files, which the model can read only if
/// the rules allow it, and the data of Git.
pub(crate) fn is_private(path: &Path, root: &Path) -> bool {
    let below = path.strip_prefix(root).unwrap_or(path);
    let mut names = below
        .components()
        .map(|name| name.as_os_str().to_string_lossy());
    let is_environment = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        let name = folded(&name);
        let fits = |patterns: &[&str]| patterns.iter().any(|pattern| matches(pattern, &name));
        fits(&PRIVATE_FILES) && !fits(&PUBLIC_FILES)
    });
    is_environment || names.any(|name| folded(&name) == ".git")
}

/// The real path in its usual form. Windows returns `\\?\C:\...`, which rules would not match and other
/// programs do not accept.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    let mut components = real.components();
    if let Some(Component::Prefix(prefix)) = components.next()
        && let Prefix::VerbatimDisk(letter) = prefix.kind()
    {
        let drive = PathBuf::from(format!("{}:", char::from(letter)));
        return Ok(drive.join(components.as_path()));
    }
    Ok(real)
}

fn relative_resource(rest: &Path) -> Result<String, ContainmentError> {
    let mut resource = String::new();
    for component in rest.components() {
        if !resource.is_empty() {
            resource.push('/');
        }
        resource.push_str(text(component.as_ref())?);
    }
    Ok(if resource.is_empty() {
        ".".to_owned()
    } else {
        resource
    })
}

fn text(path: &Path) -> Result<&str, ContainmentError> {
    path.to_str().ok_or(ContainmentError::NotUnicode)
}
