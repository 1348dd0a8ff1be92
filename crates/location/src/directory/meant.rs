//! Finds the entry that a name means which a model or a user wrote.
//!
//! The exact name comes first, and then no directory is read. Only if nothing has that name, other spellings and names
//! that look the same count, at each component, and only if exactly one entry remains. The result is checked like a path
//! that was written exactly, so permission rules decide about the real entry.
//!
//! All functions in this module access the disk and block.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::alike::look;
use super::containment::{ContainmentError, Names, Target, TargetKind, real_path, resolve};
use super::lexical;
use super::spelling::{certain, spellings};

/// Maximum number of names in a directory that are compared.
const MAX_NAMES: usize = 100_000;

/// Maximum number of entries that are followed at each component.
const MAX_ALIKE: usize = 8;

/// The use that a call makes of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It uses an entry that exists.
    Existing,
    /// It may create a file. Spellings that a new file could have count as its name.
    Creation,
}

/// Resolves the path that a text means against the Location directory, which must be absolute. `home` is the meaning of
/// `~`. A target without an entry is one for the exact name.
///
/// # Errors
///
/// Fails as [`resolve`] does, and if the text can mean more than one entry.
pub fn resolve_meant(
    location: &Path,
    input: &str,
    kind: TargetKind,
    purpose: Purpose,
    home: &Path,
) -> Result<Target, ContainmentError> {
    let exact = resolve(location, input, kind)?;
    if exact.exists() {
        return Ok(exact);
    }
    let certain = certain(input, home);
    let spelled = match purpose {
        Purpose::Existing => spellings(input, home),
        Purpose::Creation => certain.iter().cloned().collect(),
    };
    let resolved = |text: &str| resolve(location, text, kind).ok().filter(Target::exists);
    let mut found = Vec::new();
    for text in &spelled {
        add(&mut found, resolved(text));
    }
    let mut begun = Vec::new();
    if found.is_empty() {
        for text in std::iter::once(input).chain(spelled.iter().map(String::as_str)) {
            let entries = Entries::like(location, text);
            for path in &entries.whole {
                add(&mut found, path.to_str().and_then(resolved));
            }
            if text == certain.as_deref().unwrap_or(input) {
                begun = entries.begun;
            }
        }
    }
    match &mut found[..] {
        [] => {}
        [_] => return Ok(found.remove(0)),
        several => return Err(ambiguous(several)),
    }
    match &begun[..] {
        // A new file belongs into the directory that exists, not into another one that looks the same.
        [path] if purpose == Purpose::Creation => {
            let text = path.to_str().ok_or(ContainmentError::NotUnicode)?;
            resolve(location, text, kind)
        }
        [_, _, ..] if purpose == Purpose::Creation => {
            let begun = begun
                .iter()
                .filter_map(|path| resolve(location, path.to_str()?, kind).ok());
            Err(ambiguous(&begun.collect::<Vec<_>>()))
        }
        _ => match certain {
            Some(certain) => resolve(location, &certain, kind),
            None => Ok(exact),
        },
    }
}

fn add(found: &mut Vec<Target>, target: Option<Target>) {
    let is_known = |target: &Target| found.iter().any(|it| it.canonical == target.canonical);
    if let Some(target) = target.filter(|target| !is_known(target)) {
        found.push(target);
    }
}

fn ambiguous(targets: &[Target]) -> ContainmentError {
    let names = targets.iter().map(|target| target.resource.clone());
    let reason = ContainmentError::Ambiguous(Names(names.collect()));
    let outside = targets
        .iter()
        .find_map(|target| Some((target.external_directory.clone()?, target)));
    match outside {
        None => reason,
        Some((pattern, target)) => ContainmentError::Outside {
            pattern,
            other_patterns: target.other_external_directories.clone(),
            reason: Box::new(reason),
        },
    }
}

/// The entries with a name that looks like the one in a path.
#[derive(Default)]
struct Entries {
    /// Entries for the whole path.
    whole: Vec<PathBuf>,
    /// Paths that begin with entries that look the same and go on as written.
    begun: Vec<PathBuf>,
}

impl Entries {
    fn like(location: &Path, text: &str) -> Self {
        let root = lexical(location);
        let named = lexical(&root.join(text));
        let inside = named.starts_with(&root);
        if !inside && !Path::new(text).is_absolute() {
            return Self::default();
        }
        let Some(existing) = named
            .ancestors()
            .find(|path| path.symlink_metadata().is_ok())
        else {
            return Self::default();
        };
        let Ok(missing) = named.strip_prefix(existing) else {
            return Self::default();
        };
        let bounds = real_path(&root).ok().filter(|_| inside);
        let mut found = vec![existing.to_owned()];
        let mut names = missing.components();
        while let Some(name) = names.next() {
            let name = name.as_os_str();
            let next: Vec<PathBuf> = found
                .iter()
                // Nothing is read behind a link that leads out of the Location.
                .filter(|path| bounds.as_ref().is_none_or(|root| leads_into(path, root)))
                .flat_map(|path| children_like(path, Path::new(name)))
                .take(MAX_ALIKE)
                .collect();
            if next.is_empty() {
                let rest = Path::new(name).join(names.as_path());
                return Self {
                    whole: Vec::new(),
                    begun: found.iter().map(|path| path.join(&rest)).collect(),
                };
            }
            found = next;
        }
        Self {
            whole: found,
            begun: Vec::new(),
        }
    }
}

fn leads_into(path: &Path, root: &Path) -> bool {
    real_path(path).is_ok_and(|real| real.starts_with(root))
}

/// Returns the child with exactly this name, or else the children that look like it.
fn children_like(directory: &Path, name: &Path) -> Vec<PathBuf> {
    let exact = directory.join(name);
    if exact.symlink_metadata().is_ok() {
        return vec![exact];
    }
    let Some(wanted) = name.to_str().map(look).filter(|wanted| !wanted.is_empty()) else {
        return Vec::new();
    };
    let children = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .take(MAX_NAMES)
        .flatten();
    let mut alike: Vec<PathBuf> = children
        .filter(|child| {
            child
                .file_name()
                .to_str()
                .is_some_and(|name| look(name) == wanted)
        })
        .map(|child| child.path())
        .collect();
    alike.sort();
    alike
}
