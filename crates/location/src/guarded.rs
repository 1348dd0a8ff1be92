//! The files that decide what the host or Git does. A tool changes them only after a question, or by a rule that names
//! them.

use std::io;
use std::path::{Path, PathBuf};

use opencode_handles::read_file;
use opencode_schema::permission::folded;

use crate::changed_documents::ChangedDocuments;
use crate::config::{Configuration, document_places};
use crate::directory::{lexical, reached_paths, real_path};
use crate::environment::Environment;
use crate::project::{Project, Vcs};

/// Names of files and directories that decide, wherever they are. Everything in such a directory decides, too.
const NAMES: [&str; 7] = [
    // Configuration, agents, commands, skills and plugins of the host.
    "opencode.json",
    "opencode.jsonc",
    DOT_DIRECTORY,
    // Configuration, hooks and attributes of Git.
    GIT,
    ".gitattributes",
    ".gitconfig",
    ".gitmodules",
];

const DOT_DIRECTORY: &str = ".opencode";

const GIT: &str = ".git";

/// The folder of plans in a directory of the host. Plans are text that nothing reads by itself.
const PLANS: &str = "plans";

/// The files that decide what the host or Git does, from the view of one Location.
#[derive(Debug, Default)]
pub struct GuardedFiles {
    /// The Location as it is named.
    root: PathBuf,
    /// Files and directories that readers of documents follow, also through links. They may be missing.
    documents: Vec<PathBuf>,
    /// Other directories that decide although no name of [`NAMES`] tells it. They may be missing.
    directories: Vec<PathBuf>,
    /// Single files that a document names: those with values, and programs of MCP servers. They may be missing.
    files: Vec<PathBuf>,
    changed: ChangedDocuments,
}

impl GuardedFiles {
    /// `named` are files that documents name, besides those whose content they take.
    pub(crate) fn of(
        environment: &Environment,
        project: &Project,
        directory: &str,
        configuration: &Configuration,
        named: Vec<PathBuf>,
    ) -> Self {
        let mut documents = document_places(environment, project, directory);
        documents.extend(configuration.skill_places(environment, Path::new(directory)));
        let mut directories = vec![
            environment.config.clone(),
            environment.cache.clone(),
            environment.embedded(),
            environment.home.join(".config/git"),
            // The user's configuration of Git is beside that of the host.
            environment.config.with_file_name("git"),
        ];
        let mut named = named;
        if let Some(Vcs::Git { store }) = &project.vcs {
            directories.push(PathBuf::from(store));
            let named_by_git = NamedByGit::read(Path::new(store), Path::new(&project.directory));
            directories.extend(named_by_git.directories);
            named.extend(named_by_git.files);
        }
        directories.retain(|directory| directory.is_absolute());
        let values = configuration.documents().flat_map(|it| it.files.iter());
        let mut files = named;
        files.extend(values.cloned());
        Self {
            root: lexical(Path::new(directory)),
            documents,
            directories,
            files,
            changed: ChangedDocuments::of(environment),
        }
    }

    /// Returns the name that a permission rule must contain to allow a change of the file, or `None` if the file decides
    /// nothing. `others` are other paths that lead to it. Blocks on disk access.
    #[must_use]
    pub fn name_of(&self, path: &Path, others: &[String]) -> Option<String> {
        let others = others.iter().map(|other| self.root.join(other));
        let paths = std::iter::once(path.to_owned()).chain(others);
        let mut is_plan = false;
        let real_root = real_path(&self.root).unwrap_or_else(|_| self.root.clone());
        for path in paths {
            // The directories above a Location tell nothing about its files.
            let below = path.strip_prefix(&self.root);
            let below = below.or_else(|_| path.strip_prefix(&real_root));
            let below = below.unwrap_or(&path);
            if let Some(name) = by_name(below) {
                return Some(name.to_owned());
            }
            is_plan |= below.components().any(|it| it.as_os_str() == DOT_DIRECTORY);
        }
        let leads = |place: &&PathBuf| {
            let mut reached = reached_paths(place).into_iter();
            reached.any(|place| path.starts_with(place))
        };
        let contains = |directory: &&PathBuf| {
            let real = real_path(directory);
            path.starts_with(real.as_ref().unwrap_or(directory))
        };
        let directory = self.directories.iter().find(contains);
        // Without a name that decides, a file in a directory of the host is a plan.
        let documents = (!is_plan).then_some(&self.documents).into_iter().flatten();
        let is_same = |file: &&PathBuf| {
            let real = real_path(file);
            path == real.as_ref().unwrap_or(file)
        };
        let file = || self.files.iter().find(is_same);
        let place = directory.or_else(|| documents.clone().find(leads));
        let place = place.or_else(file)?;
        Some(place.file_name()?.to_string_lossy().into_owned())
    }

    /// Returns a name of such a file or directory that a word of a command contains.
    #[must_use]
    pub fn named_in(word: &str) -> Option<&'static str> {
        by_name(Path::new(word))
    }

    /// Notes that a tool is about to change a file. If the file is a document of a project, the host ignores its
    /// permissions and programs until the program confirms its trust. Blocks on disk access.
    ///
    /// # Errors
    ///
    /// Fails if the note cannot be stored. The file must not be changed then.
    pub fn note_change(&self, path: &Path) -> io::Result<()> {
        match self.name_of(path, &[]) {
            Some(name) if name != GIT => self.changed.note(path),
            _ => Ok(()),
        }
    }
}

/// Maximum size in bytes of a configuration of Git that is searched for paths.
const MAX_GIT_CONFIG: u64 = 1024 * 1024;

/// The files and directories in a worktree that the configuration of its repository names.
#[derive(Default)]
struct NamedByGit {
    directories: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl NamedByGit {
    /// Every word of a value may be a path: included files, programs, and files with attributes. Blocks on disk access.
    fn read(store: &Path, worktree: &Path) -> Self {
        let mut named = Self::default();
        let Ok(Some(config)) = read_file(&store.join("config"), MAX_GIT_CONFIG) else {
            return named;
        };
        let config = String::from_utf8_lossy(&config);
        for (key, value) in config.lines().filter_map(|line| line.split_once('=')) {
            let value = value.trim().trim_matches('"');
            // A key may stand behind its section: `[core] hooksPath = x`.
            let key = key
                .trim()
                .rsplit([' ', '\t', ']'])
                .next()
                .unwrap_or_default();
            let is_path = key.eq_ignore_ascii_case("path");
            let hooks = worktree.join(value);
            if key.eq_ignore_ascii_case("hooksPath") && !worktree.starts_with(&hooks) {
                named.directories.push(hooks);
            }
            let words = value.split([' ', '\t', '"', '\'', ';']);
            // Most words are no paths: names of branches, addresses, numbers.
            let paths = words.filter(|word| {
                (is_path || word.contains(['/', '.']))
                    && !word.contains([':', '*'])
                    && !word.starts_with("refs/")
            });
            // Paths of included files begin at the store, those of programs at the worktree.
            let paths = paths.flat_map(|word| [store.join(word), worktree.join(word)]);
            let paths = paths.map(|path| lexical(&path));
            named.files.extend(paths);
        }
        named
    }
}

fn by_name(path: &Path) -> Option<&'static str> {
    let mut names = path.components().peekable();
    let is_markdown = path.extension().is_some_and(|it| it == "md");
    while let Some(name) = names.next() {
        let name = name.as_os_str().to_string_lossy();
        let Some(found) = NAMES.iter().find(|it| **it == folded(&name)) else {
            continue;
        };
        let is_plan = *found == DOT_DIRECTORY
            && is_markdown
            && names.peek().is_some_and(|next| next.as_os_str() == PLANS);
        if !is_plan {
            return Some(found);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide_in_every_spelling() {
        for (path, expected) in [
            ("opencode.json", Some("opencode.json")),
            ("packages/a/OpenCode.JSONC", Some("opencode.jsonc")),
            (".opencode/agent/x.md", Some(".opencode")),
            (".opencode/mode/x.md", Some(".opencode")),
            (".OPENCODE/skills/x/SKILL.md", Some(".opencode")),
            (".opencode/plans/x.md", None),
            (".opencode/plans/x.json", Some(".opencode")),
            (".opencode/plans/../agent/x.md", None),
            (".opencode/plans/.git/x.md", Some(".git")),
            (".git", Some(".git")),
            ("sub/.g\u{200c}it/hooks/pre-commit", Some(".git")),
            (".gitattributes", Some(".gitattributes")),
            ("a/.gitmodules", Some(".gitmodules")),
            (".gitignore", None),
            ("AGENTS.md", None),
            ("opencode.json.md", None),
            ("src/opencode/json", None),
        ] {
            assert_eq!(by_name(Path::new(path)), expected, "{path}");
        }
    }
}
