//! Observes the files of skills and caches the results for the next observation.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use opencode_schema::skill::SkillInfo;
use serde_json::Value;

use super::sources::Source;
use crate::config::{
    Decoded, Diagnostic, DiagnosticKind, Invalid, boolean, object, optional, text,
};
use crate::definitions::markdown::{
    FileFilter, Found, Listings, Markdown, ReadBudget, UnreadablePath, find,
};
use crate::directory::is_project_text;

/// The name of the file in the directory of a skill.
const SKILL_FILE: &str = "SKILL.md";

/// Observes the directories of skills.
pub(super) struct Observer {
    sources: Vec<Source>,
    listings: Listings,
    /// The files as they were last read.
    files: HashMap<OsString, File>,
    /// The skills as separate allocations, used to detect changes.
    shared: Vec<Arc<SkillInfo>>,
    seen: ObservedSkills,
}

/// The result of an observation.
#[derive(Clone, Default)]
pub(super) struct ObservedSkills {
    pub skills: Arc<[SkillInfo]>,
    /// The problems that were found.
    pub diagnostics: Arc<[Diagnostic]>,
}

/// The result of reading a file.
struct File {
    /// `None` if the next observation must read the file again.
    version: Option<Version>,
    skill: Option<Arc<SkillInfo>>,
    diagnostics: Vec<Diagnostic>,
}

/// The metadata that changes when a file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Version {
    size: u64,
    modified: SystemTime,
}

/// Maximum length of a skill name in characters. Names and descriptions are sent to models in every session.
const MAX_NAME: usize = 200;

/// Maximum length of a skill description in characters.
const MAX_DESCRIPTION: usize = 10_000;

impl Observer {
    pub(super) fn new(sources: Vec<Source>) -> Self {
        Self {
            sources,
            listings: Listings::default(),
            files: HashMap::new(),
            shared: Vec::new(),
            seen: ObservedSkills::default(),
        }
    }

    /// Lists every directory and reads the files that have changed since the last observation.
    pub(super) fn observe(&mut self) -> ObservedSkills {
        self.listings.begin();
        let mut observing = Observing {
            listings: &mut self.listings,
            before: std::mem::take(&mut self.files),
            files: HashMap::new(),
            allowance: ReadBudget::default(),
            diagnostics: Vec::new(),
            skills: Vec::new(),
            places: HashMap::new(),
        };
        for source in &self.sources {
            observing.source(source);
        }
        self.files = observing.files;
        for diagnostic in &observing.diagnostics {
            if !self.seen.diagnostics.contains(diagnostic) {
                diagnostic.log();
            }
        }
        self.seen.diagnostics = observing.diagnostics.into();
        let same = |(a, b): (&Arc<SkillInfo>, &Arc<SkillInfo>)| Arc::ptr_eq(a, b);
        let unchanged = self.shared.len() == observing.skills.len()
            && self.shared.iter().zip(&observing.skills).all(same);
        if !unchanged {
            self.seen.skills = observing.skills.iter().map(|it| (**it).clone()).collect();
            self.shared = observing.skills;
        }
        self.seen.clone()
    }
}

/// State of a running observation.
struct Observing<'o> {
    listings: &'o mut Listings,
    before: HashMap<OsString, File>,
    files: HashMap<OsString, File>,
    allowance: ReadBudget,
    diagnostics: Vec<Diagnostic>,
    skills: Vec<Arc<SkillInfo>>,
    /// Indices into `skills` by name.
    places: HashMap<String, usize>,
}

impl Observing<'_> {
    fn source(&mut self, source: &Source) {
        let wanted = FileFilter {
            below: true,
            name: is_skill,
        };
        let mut obstacles = Vec::new();
        let directory = &source.directory;
        let found = find(
            directory,
            wanted,
            source.bound.as_deref(),
            self.listings,
            &mut self.allowance,
            &mut obstacles,
        );
        let obstacles = obstacles.iter().map(UnreadablePath::diagnostic);
        self.diagnostics.extend(obstacles);
        if let (None, Some(by)) = (&found, &source.named_by) {
            let message = format!("There is no such directory of skills; it is named by {by}");
            self.diagnostics.push(io_diagnostic(directory, message));
        }
        for file in found.unwrap_or_default() {
            self.file(&file, source.bound.as_deref());
        }
    }

    fn file(&mut self, found: &Found, bound: Option<&Path>) {
        let key = found.path.as_os_str();
        let skill = match self.files.get(key) {
            // Already found through another source.
            Some(file) => file.skill.clone(),
            None => {
                let file = self.observe_file(found, bound);
                let skill = file.skill.clone();
                self.diagnostics.extend(file.diagnostics.iter().cloned());
                self.files.insert(key.to_owned(), file);
                skill
            }
        };
        if let Some(skill) = skill {
            self.add(skill);
        }
    }

    /// Returns the result for a file. Reads it only if it has changed.
    fn observe_file(&mut self, found: &Found, bound: Option<&Path>) -> File {
        let version = Version::of(&found.path);
        let kept = self.before.remove(found.path.as_os_str());
        let is_outside = bound.is_some_and(|root| !is_project_text(&found.path, root));
        let kept = kept.filter(|file| version.is_some() && file.version == version && !is_outside);
        let file = match kept {
            Some(file) => self.allowance.take(file.size()).map(|()| file),
            None => self
                .allowance
                .read_below(&found.path, bound)
                .map(|bytes| File {
                    version,
                    ..File::read(found, bytes)
                }),
        };
        file.unwrap_or_else(|error| File {
            // The file was not read, so the next observation tries again.
            version: None,
            skill: None,
            diagnostics: vec![io_diagnostic(
                &found.path,
                format!("The file cannot be read: {error}"),
            )],
        })
    }

    /// Adds a skill. It replaces an existing skill with the same name.
    fn add(&mut self, skill: Arc<SkillInfo>) {
        match self.places.get(&skill.name) {
            Some(place) => self.skills[*place] = skill,
            None => {
                self.places.insert(skill.name.clone(), self.skills.len());
                self.skills.push(skill);
            }
        }
    }
}

impl Version {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata.modified().ok()?;
        let size = metadata.len();
        Some(Self { size, modified })
    }
}

impl File {
    fn size(&self) -> u64 {
        self.version.map_or(0, |version| version.size)
    }

    /// Parses a file. The result is empty if the file no longer exists.
    fn read(found: &Found, bytes: Option<Vec<u8>>) -> Self {
        let mut diagnostics = Vec::new();
        let skill = bytes
            .and_then(|bytes| Markdown::parse(&found.path, &bytes, &mut diagnostics))
            .and_then(|file| skill(found, &file, &mut diagnostics));
        Self {
            version: None,
            skill: skill.map(Arc::new),
            diagnostics,
        }
    }
}

/// True for Markdown files directly in a directory of skills, and for the skill file of a directory below it.
fn is_skill(name: &str) -> bool {
    match name.rsplit_once('/') {
        Some((_, name)) => name == SKILL_FILE,
        None => name.ends_with(".md"),
    }
}

fn skill(found: &Found, file: &Markdown, diagnostics: &mut Vec<Diagnostic>) -> Option<SkillInfo> {
    if file.is_blank() {
        let message = "The file is empty, so it is no skill".to_owned();
        diagnostics.push(file.complaint(DiagnosticKind::Ignored, message, &[]));
        return None;
    }
    let head = file.decode(head, diagnostics)?.value;
    let of_file = || (!found.name.contains('/')).then(|| found.name.strip_suffix(".md"));
    let Some(name) = head.name.or_else(|| of_file()?.map(str::to_owned)) else {
        let message = "The skill has no name; give it one in the front matter".to_owned();
        diagnostics.push(file.complaint(DiagnosticKind::Ignored, message, &[]));
        return None;
    };
    Some(SkillInfo {
        name,
        description: head.description.filter(|text| !text.is_empty()),
        slash: head.slash,
        location: found.path.display().to_string(),
        content: file.body.clone(),
    })
}

/// The front matter fields of a skill.
struct Head {
    name: Option<String>,
    description: Option<String>,
    slash: Option<bool>,
}

fn head(value: &Value) -> Decoded<Head> {
    let source = object(value)?;
    Ok(Head {
        name: optional(source, "name", name)?,
        description: optional(source, "description", |value| short(value, MAX_DESCRIPTION))?,
        slash: optional(source, "slash", boolean)?,
    })
}

fn name(value: &Value) -> Decoded<String> {
    let name = short(value, MAX_NAME)?;
    if name.is_empty() || name.contains(char::is_control) {
        return Err(Invalid::new("must be a text without control characters"));
    }
    Ok(name)
}

/// Reads a text without surrounding blanks. Fails if it has more than `most` characters.
fn short(value: &Value, most: usize) -> Decoded<String> {
    let text = text(value)?;
    let text = text.trim();
    if text.chars().count() > most {
        return Err(Invalid::new(format!("must have at most {most} characters")));
    }
    Ok(text.to_owned())
}

fn io_diagnostic(path: &Path, message: String) -> Diagnostic {
    let origin = path.display().to_string();
    Diagnostic::new(&origin, DiagnosticKind::Io, message, None)
}
