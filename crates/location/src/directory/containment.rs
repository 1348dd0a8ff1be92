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

use std::{
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf, Prefix},
};

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
    /// True if the canonical path still leads to the same place as when it was resolved. False if a
    /// component was replaced by a link or removed.
    #[must_use]
    pub fn still_resolves(&self) -> bool {
        real_path(&self.canonical).is_ok_and(|now| now == self.canonical)
    }
}

/// The reason why a path cannot be used. Tools answer with their generic failure text instead of these messages.
#[derive(Debug, thiserror::Error)]
pub enum ContainmentError {
    /// A relative path leaves the Location.
    #[error("the relative path leaves the Location")]
    RelativeEscape,
    /// The path is inside by its text, but a symbolic link leads out.
    #[error("a symbolic link leads out of the Location")]
    LocationEscape,
    /// A component of the path that must be a directory is not one.
    #[error("an ancestor of the path is not a directory")]
    NonDirectoryAncestor,
    /// A symbolic link on the path has no target. A file created through it would be at a place that was not checked.
    #[error("a symbolic link on the path has no target")]
    DanglingLink,
    /// The real path is not valid text, so no rule could name it.
    #[error("the path is not Unicode")]
    NotUnicode,
    /// The file system refused the path, or the Location itself is missing.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Resolves `input` against the Location directory, which must be absolute.
pub fn resolve(location: &Path, input: &str, kind: TargetKind) -> Result<Target, ContainmentError> {
    let root = lexical(location);
    let named = lexical(&root.join(input));
    let named_inside = named.starts_with(&root);
    if !named_inside && !Path::new(input).is_absolute() {
        return Err(ContainmentError::RelativeEscape);
    }
    let real_root = real_path(&root)?;
    let real = follow(&named)?;
    let others = link_names(&named, &real.canonical);
    match real.canonical.strip_prefix(&real_root) {
        Ok(rest) => {
            let resource = relative_resource(rest)?;
            let canonical = [real.canonical.clone()];
            let mut other_names = Vec::new();
            for other in others.iter().chain(&canonical) {
                let below = [&root, &real_root].map(|root| other.strip_prefix(root).ok());
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
        Err(_) if named_inside => Err(ContainmentError::LocationEscape),
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

/// True if a file below `root` may contain secrets: environment files, which the model can read only if
/// the rules allow it, and the data of Git.
pub(crate) fn is_private(path: &Path, root: &Path) -> bool {
    let below = path.strip_prefix(root).unwrap_or(path);
    let mut names = below
        .components()
        .map(|name| name.as_os_str().to_string_lossy());
    let is_environment = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        (name.ends_with(".env") || name.contains(".env.")) && !name.ends_with(".env.example")
    });
    is_environment || names.any(|name| name.eq_ignore_ascii_case(".git"))
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::{ffi::OsStrExt, fs::symlink};

    use super::*;

    /// Creates the directories `loc` and `outside` next to each other and returns their real paths.
    fn roots() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(temp.path()).unwrap();
        let [location, outside] = [real.join("loc"), real.join("outside")];
        fs::create_dir_all(location.join("sub")).unwrap();
        fs::create_dir_all(outside.join("sub")).unwrap();
        fs::write(location.join("file"), "").unwrap();
        fs::write(outside.join("file"), "").unwrap();
        symlink("sub", location.join("link")).unwrap();
        symlink(outside.join("file"), location.join("out-file")).unwrap();
        symlink(&outside, location.join("out")).unwrap();
        symlink("missing", location.join("dangling")).unwrap();
        symlink(&location, real.join("door")).unwrap();
        (temp, location, outside)
    }

    #[test]
    fn inside_targets_are_named_relative_to_the_location() {
        let (_temp, location, _) = roots();
        let door = location.with_file_name("door");
        let absolute = |name: &str| location.join(name).to_str().unwrap().to_owned();
        for (input, resource) in [
            (String::new(), "."),
            (".".to_owned(), "."),
            ("sub/..".to_owned(), "."),
            ("file".to_owned(), "file"),
            ("link".to_owned(), "sub"),
            ("link/new".to_owned(), "sub/new"),
            ("new/deeper/../file".to_owned(), "new/file"),
            ("sub/../file".to_owned(), "file"),
            (absolute("file"), "file"),
            (absolute("link/new"), "sub/new"),
        ] {
            for root in [&location, &door] {
                let target = resolve(root, &input, TargetKind::File).unwrap();
                assert_eq!(target.canonical, lexical(&location.join(resource)));
                assert_eq!(target.resource, resource, "{input:?} in {root:?}");
                assert_eq!(target.external_directory, None);
            }
        }
    }

    #[test]
    fn outside_targets_name_the_directory_to_approve() {
        use TargetKind::{Directory, File};
        let (_temp, location, outside) = roots();
        for (input, kind, approved) in [
            ("file", File, ""),
            ("file", Directory, ""),
            ("sub", Directory, "sub"),
            ("sub", File, ""),
            ("sub/new", File, "sub"),
            ("new", Directory, ""),
            ("new/deeper", Directory, ""),
        ] {
            let canonical = outside.join(input);
            let text = canonical.to_str().unwrap().to_owned();
            let approved = lexical(&outside.join(approved)).join("*");
            let expected = Target {
                resource: text.clone(),
                other_names: Vec::new(),
                external_directory: Some(approved.to_str().unwrap().to_owned()),
                other_external_directories: Vec::new(),
                canonical,
            };
            assert_eq!(resolve(&location, &text, kind).unwrap(), expected);
        }
        for kind in [File, Directory] {
            let root = resolve(&location, "/", kind).unwrap();
            assert_eq!(root.external_directory.as_deref(), Some("/*"));
        }
    }

    #[test]
    fn a_target_has_all_names_by_which_its_path_leads_to_it() {
        let (_temp, location, outside) = roots();
        let top = location.parent().unwrap();
        symlink("outside", top.join("door-out")).unwrap();
        symlink("outside/sub", top.join("door-sub")).unwrap();
        let top = top.to_str().unwrap();
        let absolute = |text: &str| text.replace('@', top);
        for (root, input, names, directories) in [
            ("@/loc", "sub/x", &["@/loc/sub/x"][..], &[][..]),
            (
                "@/loc",
                "link/x",
                &["link/x", "@/loc/link/x", "@/loc/sub/x"],
                &[],
            ),
            ("@/loc", "@/door/sub", &["@/door/sub", "@/loc/sub"], &[]),
            (
                "@/door",
                "link",
                &["link", "@/door/link", "@/loc/link", "@/loc/sub"],
                &[],
            ),
            ("@/loc", ".", &["@/loc"], &[]),
            ("@/loc", "@/outside/file", &[], &[]),
            (
                "@/loc",
                "@/door-out/file",
                &["@/door-out/file"],
                &["@/door-out/*"],
            ),
            (
                "@/loc",
                "@/door-out/new/x",
                &["@/door-out/new/x"],
                &["@/door-out/*"],
            ),
            ("@/loc", "@/door-sub", &["@/door-sub"], &["@/*"]),
        ] {
            let target = resolve(
                Path::new(&absolute(root)),
                &absolute(input),
                TargetKind::File,
            );
            let target = target.unwrap();
            let all = |texts: &[&str]| texts.iter().map(|it| absolute(it)).collect::<Vec<_>>();
            assert_eq!(target.other_names, all(names), "{input}");
            assert_eq!(
                target.other_external_directories,
                all(directories),
                "{input}"
            );
        }
        let sub = absolute("@/door-sub");
        let target = resolve(&location, &sub, TargetKind::Directory).unwrap();
        let expected = format!("{}/sub/*", outside.display());
        assert_eq!(target.external_directory, Some(expected));
        assert_eq!(target.other_external_directories, [format!("{sub}/*")]);
    }

    #[test]
    fn a_refused_target_has_a_reason() {
        let (_temp, location, outside) = roots();
        let odd = outside.join(OsStr::from_bytes(b"\xff"));
        fs::write(&odd, "").unwrap();
        symlink(&odd, outside.join("odd")).unwrap();
        let odd = outside.join("odd").to_str().unwrap().to_owned();
        let long = "n".repeat(300);
        for (input, expected) in [
            ("..", "the relative path leaves the Location"),
            ("../outside/file", "the relative path leaves the Location"),
            ("sub/../../loc2", "the relative path leaves the Location"),
            ("out", "a symbolic link leads out of the Location"),
            ("out/file", "a symbolic link leads out of the Location"),
            ("out/new", "a symbolic link leads out of the Location"),
            ("out-file", "a symbolic link leads out of the Location"),
            ("file/new", "an ancestor of the path is not a directory"),
            (
                "file/new/deeper",
                "an ancestor of the path is not a directory",
            ),
            ("dangling", "a symbolic link on the path has no target"),
            ("dangling/new", "a symbolic link on the path has no target"),
            (&odd, "the path is not Unicode"),
        ] {
            let error = resolve(&location, input, TargetKind::File).unwrap_err();
            assert_eq!(error.to_string(), expected, "{input:?}");
        }
        let deep = "d/".repeat(100_000);
        for input in ["a\0b", "/a\0b", &long, &deep] {
            let error = resolve(&location, input, TargetKind::File).unwrap_err();
            assert!(
                matches!(error, ContainmentError::Io(_)),
                "{input:?}: {error}"
            );
        }
        let missing = location.join("nowhere");
        let error = resolve(&missing, "file", TargetKind::File).unwrap_err();
        assert!(matches!(error, ContainmentError::Io(_)), "{error}");
    }

    #[test]
    fn a_target_resolves_until_a_link_replaces_a_component() {
        let (_temp, location, outside) = roots();
        let target = resolve(&location, "sub", TargetKind::Directory).unwrap();
        assert!(target.still_resolves());
        fs::remove_dir(location.join("sub")).unwrap();
        assert!(!target.still_resolves());
        symlink(outside.join("sub"), location.join("sub")).unwrap();
        assert!(!target.still_resolves());
    }
}
