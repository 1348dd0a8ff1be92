//! Patterns of paths in the forms in which models write them.
//!
//! The library knows patterns below one directory. Here absolute patterns, `./`, `../`, `~`, `file://`, lists, `\` between
//! names and a slash at the end become such patterns, or a reason why they cannot.

mod readings;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use opencode_location::directory::lexical;
use opencode_location::files::walk::{MAX_NESTED_BRACES, nests_too_deeply};

use readings::{expanded, readings};

/// Maximum number of patterns that one pattern can stand for.
const MAX_PATTERNS: usize = 256;

/// Maximum size in bytes of a pattern.
const MAX_PATTERN_BYTES: usize = 16 * 1024;

/// The place of a search, and its patterns below that place.
#[derive(Debug, Default, PartialEq)]
pub(in crate::builtin) struct Plan {
    /// The path to search if it is not the requested one.
    pub(in crate::builtin) path: Option<String>,
    globs: Vec<String>,
}

/// The directories on which the meaning of a pattern depends. All paths are absolute.
pub(in crate::builtin) struct Places<'a> {
    /// The names of the working directory: as the session has it, and without links.
    pub(in crate::builtin) location: [&'a Path; 2],
    /// The names of the directory to search.
    pub(in crate::builtin) root: [&'a Path; 2],
    /// The meaning of `~`.
    pub(in crate::builtin) home: &'a Path,
}

impl Plan {
    /// Reads a pattern. An error is the end of a sentence.
    pub(in crate::builtin) fn of(pattern: &str, places: &Places<'_>) -> Result<Self, String> {
        let named = lexical(places.root[0]);
        let places = &Places {
            location: places.location,
            root: [&named, places.root[1]],
            home: places.home,
        };
        if pattern.contains('\0') {
            return Err("the pattern contains a NUL character".to_owned());
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(format!(
                "the pattern has more than {MAX_PATTERN_BYTES} bytes. Search in several calls"
            ));
        }
        if nests_too_deeply(pattern.as_bytes()) {
            return Err(format!(
                "the pattern has more than {MAX_NESTED_BRACES} braces inside of each other"
            ));
        }
        // The message for an invalid pattern names it as the model wrote it.
        compiled(places.root[0], &[pattern.to_owned()])?;
        let mut placed = Vec::new();
        for reading in readings(pattern) {
            let (negation, positive) = match reading.strip_prefix('!') {
                Some(positive) => ("!", positive),
                None => ("", reading.as_str()),
            };
            for one in expanded(positive) {
                let placed_one = placed_pattern(&one, places)?;
                placed.push((negation, placed_one));
                if placed.len() > MAX_PATTERNS {
                    return Err(format!(
                        "it stands for more than {MAX_PATTERNS} patterns. Search in several calls"
                    ));
                }
            }
        }
        Self::joined(placed, places)
    }

    /// Chooses one place for all patterns.
    fn joined(placed: Vec<(&str, Placed)>, places: &Places<'_>) -> Result<Self, String> {
        let outside = placed.iter().find_map(|(_, it)| match &it.base {
            Base::Outside(base) => Some(base.clone()),
            _ => None,
        });
        let in_location = placed.iter().any(|(_, it)| it.base == Base::Location);
        let below = below_any(places.root[0], &places.location)
            .or_else(|| below_any(places.root[1], &places.location));
        let mut globs = Vec::new();
        for (negation, one) in placed {
            let glob = match (&outside, one.base) {
                (Some(outside), Base::Outside(base)) if base == *outside => one.glob,
                (Some(_), _) => {
                    return Err(
                        "its parts begin in different directories. Search one at a time".to_owned(),
                    );
                }
                (None, Base::Root) if in_location => match &below {
                    Some(below) if one.glob.contains('/') => rebased(below, &one.glob),
                    // A name without a slash fits at any depth.
                    Some(below) => rebased(below, &format!("**/{}", one.glob)),
                    None => one.glob,
                },
                (None, _) => one.glob,
            };
            let glob = format!("{negation}{glob}");
            if !globs.contains(&glob) {
                globs.push(glob);
            }
        }
        let path = match outside {
            Some(outside) => Some(outside),
            None => in_location.then(|| ".".to_owned()),
        };
        Ok(Self { path, globs })
    }

    /// Returns the rules of the patterns below `root`.
    pub(in crate::builtin) fn rules(&self, root: &Path) -> Result<Override, String> {
        compiled(root, &self.globs)
    }

    /// Returns the rules for hidden directories that a pattern names as parents. `None` if there are none.
    pub(in crate::builtin) fn hidden_parents(&self, root: &Path) -> Option<Override> {
        let mut rules = OverrideBuilder::new(root);
        let mut is_empty = true;
        for glob in self.globs.iter().filter(|glob| !glob.starts_with('!')) {
            let names: Vec<&str> = glob.trim_start_matches('/').split('/').collect();
            for (index, name) in names.iter().enumerate().take(names.len() - 1) {
                if is_hidden(name) {
                    let parent = format!("/{}", names[..=index].join("/"));
                    is_empty &= rules.add(&parent).is_err();
                }
            }
        }
        rules.build().ok().filter(|_| !is_empty)
    }
}

/// True if a pattern of a name fits only names that begin with a dot, or names the dot itself.
fn is_hidden(name: &str) -> bool {
    if let Some(class) = name.strip_prefix('[') {
        let class = class.split(']').next().unwrap_or_default();
        return !class.starts_with(['!', '^']) && class.contains('.');
    }
    name.strip_prefix('\\').unwrap_or(name).starts_with('.')
}

fn compiled(root: &Path, globs: &[String]) -> Result<Override, String> {
    let mut rules = OverrideBuilder::new(root);
    let build = |rules: &mut OverrideBuilder| -> Result<Override, ignore::Error> {
        for glob in globs {
            // A line that begins with `#` would be a comment.
            let glob = glob
                .strip_prefix('#')
                .map_or_else(|| glob.clone(), |rest| format!("\\#{rest}"));
            rules.add(&glob)?;
        }
        rules.add("!**/.git/**")?.build()
    };
    build(&mut rules).map_err(|error| {
        format!("the pattern is not valid ({error}). A backslash before `[`, `{{` or `*` means the character itself")
    })
}

/// A pattern below a directory.
#[derive(Debug, PartialEq)]
struct Placed {
    base: Base,
    glob: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Base {
    /// The directory to search.
    Root,
    /// The working directory.
    Location,
    /// Another directory, by its absolute path.
    Outside(String),
}

fn placed_pattern(pattern: &str, places: &Places<'_>) -> Result<Placed, String> {
    let pattern = absolute(pattern, places.home);
    let pattern = with_directory_content(&pattern);
    // The path of a directory may contain characters that have another meaning in a pattern.
    for (base, names) in [
        (Base::Root, &places.root),
        (Base::Location, &places.location),
    ] {
        let rest = names.iter().find_map(|name| below(&pattern, name));
        if let Some(rest) = rest.filter(|rest| !climbs(rest)) {
            let glob = anchored(rest);
            return Ok(Placed { base, glob });
        }
    }
    let (fixed, rest) = fixed_part(&pattern);
    if rest.split('/').any(|name| name == "..") {
        return Err("`..` cannot follow a wildcard in a pattern".to_owned());
    }
    let is_absolute = pattern.starts_with('/') && !is_anchored(&fixed, &rest, places);
    let has_dots = fixed.split('/').any(|name| name == "." || name == "..");
    if !is_absolute && !has_dots {
        let glob = without_empty_names(&pattern);
        return Ok(Placed {
            base: Base::Root,
            glob,
        });
    }
    let start = if is_absolute {
        Path::new("/")
    } else {
        places.root[0]
    };
    let directory = lexical(&start.join(fixed.trim_start_matches('/')));
    let in_root = below_any(&directory, &places.root).map(|below| (Base::Root, below));
    let in_location =
        || below_any(&directory, &places.location).map(|below| (Base::Location, below));
    if let Some((base, below)) = in_root.or_else(in_location) {
        let glob = rebased(&below, &rest);
        return Ok(Placed { base, glob });
    }
    if !is_absolute {
        return Err(
            "the pattern leaves the working directory. Use an absolute pattern for a place outside of it"
                .to_owned(),
        );
    }
    let base = Base::Outside(directory.to_string_lossy().into_owned());
    let glob = anchored(&rest);
    Ok(Placed { base, glob })
}

/// Returns a pattern in the form of a URL or with the home directory as an absolute one.
fn absolute(pattern: &str, home: &Path) -> String {
    if let Some(path) = pattern.strip_prefix("file://") {
        let path = path.strip_prefix("localhost").unwrap_or(path);
        let decoded = percent_encoding::percent_decode_str(path).decode_utf8();
        return decoded.map_or_else(|_| path.to_owned(), Into::into);
    }
    for name in ["~/", "$HOME/", "${HOME}/"] {
        if let Some(below) = pattern.strip_prefix(name) {
            return format!("{}/{below}", home.to_string_lossy().trim_end_matches('/'));
        }
    }
    pattern.to_owned()
}

/// A pattern with a slash at its end means the files below a directory.
fn with_directory_content(pattern: &str) -> String {
    match pattern.strip_suffix('/') {
        None => pattern.to_owned(),
        Some("") => "/**".to_owned(),
        Some(directory) if directory.contains('/') => format!("{directory}/**"),
        Some(directory) => format!("**/{directory}/**"),
    }
}

/// Divides a pattern after its last name that is before any wildcard and before the last name.
fn fixed_part(pattern: &str) -> (String, String) {
    let names: Vec<&str> = pattern.split('/').collect();
    let is_wild = |name: &&str| name.contains(['*', '?', '[', '{', '\\']);
    let wild = names.iter().position(is_wild).unwrap_or(names.len());
    let mut fixed = wild.min(names.len() - 1);
    // `.` and `..` are never the name of a file.
    while names
        .get(fixed)
        .is_some_and(|name| *name == "." || *name == "..")
    {
        fixed += 1;
    }
    (names[..fixed].join("/"), names[fixed..].join("/"))
}

/// True if the slash at the beginning means the searched directory: nothing else is possible, or the first name exists
/// there.
fn is_anchored(fixed: &str, rest: &str, places: &Places<'_>) -> bool {
    let first = fixed
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    if first.is_empty() || rest.is_empty() {
        return true;
    }
    // An entry outside has no influence.
    let is_inside = below_any(places.root[1], &places.location).is_some();
    !is_inside || places.root[1].join(first).symlink_metadata().is_ok()
}

/// Returns what follows a directory in an absolute pattern.
fn below<'a>(pattern: &'a str, directory: &Path) -> Option<&'a str> {
    let rest = pattern.strip_prefix(directory.to_str()?)?;
    rest.strip_prefix('/')
        .or_else(|| rest.is_empty().then_some("**"))
}

fn climbs(pattern: &str) -> bool {
    pattern.split('/').any(|name| name == "." || name == "..")
}

fn below_any(path: &Path, directories: &[&Path; 2]) -> Option<PathBuf> {
    let mut below = directories
        .iter()
        .filter_map(|directory| path.strip_prefix(directory).ok());
    below.next().map(Path::to_owned)
}

/// Returns a pattern below a directory as a pattern below the parent of that directory.
fn rebased(below: &Path, glob: &str) -> String {
    let mut text = String::new();
    for name in below.components() {
        text.push('/');
        text.push_str(&escaped(&name.as_os_str().to_string_lossy()));
    }
    let rest = if glob.is_empty() {
        "**"
    } else {
        glob.trim_start_matches('/')
    };
    format!("{text}/{}", without_empty_names(rest))
}

fn anchored(glob: &str) -> String {
    format!("/{}", without_empty_names(glob.trim_start_matches('/')))
}

fn without_empty_names(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    for character in pattern.chars() {
        if character != '/' || !text.ends_with('/') {
            text.push(character);
        }
    }
    text.replace("/./", "/")
}

fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if "*?[]{}!\\#".contains(character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}
