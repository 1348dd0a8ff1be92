//! Skills behind an address: `index.json` lists them, each with its files.
//!
//! ```json
//! { "skills": [{ "name": "review", "version": "2", "files": ["SKILL.md", "examples/one.md"] }] }
//! ```
//!
//! The files of a skill are at `<address>/<name>/<file>`.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use serde::Deserialize;
use url::Url;

use crate::copy::{Access, Copy, Made};
use crate::folder::Unfinished;

/// Maximum size of a list, in bytes.
const MAX_INDEX_BYTES: usize = 1024 * 1024;

/// Maximum size of one file, in bytes.
const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Maximum size of all files behind one address, in bytes.
const MAX_TOTAL_BYTES: usize = 32 * 1024 * 1024;

/// Maximum number of skills behind one address.
const MAX_SKILLS: usize = 200;

/// Maximum number of files of one skill.
const MAX_FILES: usize = 100;

/// Time limit of one answer.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The file that every skill has.
const SKILL: &str = "SKILL.md";

/// Name of the new files in their temporary folder.
const NEW: &str = "skills";

#[derive(Deserialize)]
struct Index {
    skills: Vec<Listed>,
}

/// A skill of a list.
#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    version: Option<String>,
    files: Vec<String>,
}

/// The files of all skills, by their path in the directory.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Replaces the skills of a directory with those behind an address, all or none.
///
/// # Errors
///
/// Returns the reason as a part of a sentence without secrets.
pub(crate) async fn update(access: &Access, address: &Url, copy: &Copy) -> Result<Made, String> {
    let mut base = address.clone();
    if !base.path().ends_with('/') {
        base.set_path(&format!("{}/", base.path()));
    }
    let index = get(access, &base, "index.json", MAX_INDEX_BYTES).await?;
    let index: Index = serde_json::from_slice(&index)
        .map_err(|error| format!("index.json is not a list of skills: {error}"))?;
    check(&index)?;
    let (work, place) = (copy.work.clone(), copy.directory.clone());
    let fingerprint = fingerprint(&index);
    if fingerprint.is_some() && fingerprint == read_fingerprint(&place) {
        return Ok(Made::Kept);
    }
    let mut files = Files::new();
    let mut total = 0;
    for skill in &index.skills {
        for file in &skill.files {
            let path = format!("{}/{file}", skill.name);
            let content = get(access, &base, &path, MAX_FILE_BYTES).await?;
            total += content.len();
            if total > MAX_TOTAL_BYTES {
                return Err(format!("its files have more than {MAX_TOTAL_BYTES} bytes"));
            }
            files.insert(PathBuf::from(path), content);
        }
    }
    let replace = move || replace(&files, fingerprint.as_deref(), &work, &place);
    let replaced = opencode_log::spawn_blocking(replace).await;
    let replaced = replaced.map_err(io::Error::other).flatten();
    replaced.map_err(|error| format!("its directory cannot be replaced: {error}"))?;
    Ok(Made::Replaced)
}

/// Gets a file below an address. It has the same origin, because its path is checked.
async fn get(access: &Access, base: &Url, path: &str, limit: usize) -> Result<Vec<u8>, String> {
    let mut address = base.clone();
    {
        let segments = address.path_segments_mut();
        let mut segments = segments.map_err(|()| "the address cannot have files".to_owned())?;
        segments.pop_if_empty().extend(path.split('/'));
    }
    let answer = tokio::time::timeout(TIME_LIMIT, access.fetch.fetch(address, limit)).await;
    let answer = answer.map_err(|_| format!("no answer within {} seconds", TIME_LIMIT.as_secs()));
    answer?.map_err(|error| format!("{path}: {error}"))
}

/// Refuses a list whose names would leave the directory, or that is too large.
fn check(index: &Index) -> Result<(), String> {
    if index.skills.len() > MAX_SKILLS {
        return Err(format!("index.json lists more than {MAX_SKILLS} skills"));
    }
    let mut names = HashSet::new();
    for skill in &index.skills {
        let name = &skill.name;
        if !is_name(name) || !names.insert(name) {
            return Err(format!(
                "the skill {name:?} has a name that is no file name or is used twice"
            ));
        }
        if skill.files.len() > MAX_FILES || !skill.files.iter().any(|it| it == SKILL) {
            return Err(format!(
                "the skill {name:?} must have the file {SKILL} and at most {MAX_FILES} files"
            ));
        }
        let unsafe_file = skill.files.iter().find(|it| !it.split('/').all(is_name));
        if let Some(file) = unsafe_file {
            return Err(format!(
                "the skill {name:?} has the unsafe file name {file:?}"
            ));
        }
    }
    Ok(())
}

/// True if a text is the name of a file on every system, and hidden on none.
fn is_name(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_. ".contains(it);
    (1..=100).contains(&text.len())
        && text.chars().all(is_plain)
        && !text.starts_with(['.', ' '])
        && !text.ends_with(['.', ' '])
}

/// Returns a text that changes if any skill has a new version. `None` if a skill has no version.
fn fingerprint(index: &Index) -> Option<String> {
    let lines = index.skills.iter().map(|skill| {
        let version = skill.version.as_deref()?;
        Some(format!("{:?} {version:?} {:?}\n", skill.name, skill.files))
    });
    lines.collect()
}

/// The file beside a directory that contains its fingerprint. Skills are read from the directory alone.
fn fingerprint_file(directory: &Path) -> PathBuf {
    directory.with_extension("versions")
}

fn read_fingerprint(directory: &Path) -> Option<String> {
    let text = fs::read_to_string(fingerprint_file(directory)).ok();
    text.filter(|_| directory.is_dir())
}

fn replace(
    files: &Files,
    fingerprint: Option<&str>,
    work: &Path,
    directory: &Path,
) -> io::Result<()> {
    let unfinished = Unfinished::create(work)?;
    let root = unfinished.path().join(NEW);
    fs::create_dir_all(&root)?;
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&root))?;
        fs::write(path, content)?;
    }
    // Without its file of versions, a directory counts as old. So a crash between the two steps repeats them.
    let versions = fingerprint_file(directory);
    match fs::remove_file(&versions) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    unfinished.put(NEW, work, directory)?;
    match fingerprint {
        Some(text) => fs::write(versions, text),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, files: &[&str]) -> Index {
        let files = files.iter().map(|it| (*it).to_owned()).collect();
        Index {
            skills: vec![Listed {
                name: name.to_owned(),
                version: None,
                files,
            }],
        }
    }

    #[test]
    fn names_cannot_leave_the_directory() {
        assert_eq!(check(&listed("review", &[SKILL, "a/b.md"])), Ok(()));
        for (name, file) in [
            ("..", SKILL),
            ("a/b", SKILL),
            (".hidden", SKILL),
            ("", SKILL),
            ("a", "../x"),
            ("a", "/etc/passwd"),
            ("a", "b//c"),
            ("a", "b\\c"),
            ("a", "c:\\x"),
            ("a", "x\n"),
        ] {
            assert!(
                check(&listed(name, &[SKILL, file])).is_err(),
                "{name:?} {file:?}"
            );
        }
        assert!(check(&listed("a", &["other.md"])).is_err());
        let mut twice = listed("a", &[SKILL]);
        twice.skills.extend(listed("a", &[SKILL]).skills);
        assert!(check(&twice).is_err());
    }
}
