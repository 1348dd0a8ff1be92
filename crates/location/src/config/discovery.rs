//! The places where configuration is searched.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::remote::RemoteDocument;
use super::source::Source;
use crate::environment::Environment;
use crate::project::Project;

/// A possible source of configuration, with the context for its interpretation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layer<'h> {
    /// The place.
    pub place: Place<'h>,
    /// The base directory of relative paths in it.
    pub base: PathBuf,
    /// The author.
    pub source: Source,
}

/// A possible source of configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place<'h> {
    /// A file that may be missing.
    Found(PathBuf),
    /// A file that is named explicitly, so its absence is a mistake.
    Named {
        /// The variable that names it.
        by: &'static str,
        /// The file.
        file: PathBuf,
    },
    /// Text that replaces a file.
    Inline {
        /// The variable that contains it.
        by: &'static str,
        /// The document.
        text: String,
        /// The key whose value the text is. `None` if the text is a whole document.
        key: Option<&'static str>,
    },
    /// A document of a server.
    Remote(&'h RemoteDocument),
    /// The value that the embedding program gives.
    Host(&'h Value),
    /// A directory with definitions in separate files. It may be missing.
    Directory(PathBuf),
}

impl Place<'_> {
    /// The file or directory.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Directory(path) => Some(path),
            _ => self.file(),
        }
    }

    /// The file that contains the document.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Found(file) | Self::Named { file, .. } => Some(file),
            Self::Inline { .. } | Self::Remote(_) | Self::Host(_) | Self::Directory(_) => None,
        }
    }
}

/// The file names of the documents in a directory. The second one is stronger.
const NAMES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

/// The directory with configuration next to the files that it configures.
const DOT_DIRECTORY: &str = ".opencode";

const FILE_VARIABLE: &str = "OPENCODE_CONFIG";
const CONTENT_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";
const DIRECTORY_VARIABLE: &str = "OPENCODE_CONFIG_DIR";
const PERMISSION_VARIABLE: &str = "OPENCODE_PERMISSION";

/// Returns the sources for a directory, weakest first: those of the user, the file that the environment
/// names, the files of the project and then its `.opencode` directories (both from the project's root
/// down to the directory), the directory and the texts from the environment, and the values of the host.
pub(crate) fn layers<'h>(
    environment: &Environment,
    project: &Project,
    directory: &str,
    is_trusted: bool,
    host: &[&'h Value],
) -> Vec<Layer<'h>> {
    let mut layers = Vec::new();
    // An empty path means that the host does not use this directory.
    if !environment.config.as_os_str().is_empty() {
        layers.extend(folder(&environment.config, Source::User));
    }
    if !environment.home.as_os_str().is_empty() {
        layers.extend(folder(&environment.home.join(DOT_DIRECTORY), Source::User));
    }
    if let Some(named) = environment.variable(FILE_VARIABLE) {
        let file = PathBuf::from(named);
        layers.push(Layer {
            base: file.parent().unwrap_or(&file).to_owned(),
            place: Place::Named {
                by: FILE_VARIABLE,
                file,
            },
            source: Source::User,
        });
    }
    if environment.reads_projects() {
        let mut of_project = project_layers(environment, project, directory, is_trusted);
        // A place of the user stays a place of the user even inside a project, for example in the home
        // directory. Otherwise it would have the strength and the trust level of the project.
        of_project.retain(|it| layers.iter().all(|known| known.place != it.place));
        layers.extend(of_project);
    }
    if let Some(named) = environment.variable(DIRECTORY_VARIABLE) {
        layers.extend(named_folder(Path::new(named)));
    }
    let inline = inline(environment).map(|place| (place, Source::User));
    let host = host.iter().map(|value| (Place::Host(value), Source::Host));
    layers.extend(inline.chain(host).map(|(place, source)| Layer {
        place,
        base: PathBuf::from(directory),
        source,
    }));
    keep_last(layers)
}

/// Returns the sources at servers, weakest first. They are weaker than all others.
pub(crate) fn remote(documents: &[RemoteDocument]) -> Vec<Layer<'_>> {
    let layers = documents.iter().map(|document| Layer {
        place: Place::Remote(document),
        // Relative paths lead nowhere.
        base: PathBuf::new(),
        source: Source::User,
    });
    layers.collect()
}

/// Returns the sources in the directory of an administrator. They are stronger than all others.
pub(crate) fn managed(directory: Option<&Path>) -> Vec<Layer<'static>> {
    let layers = directory.map(|directory| folder(directory, Source::Administrator));
    layers.into_iter().flatten().collect()
}

/// The documents in environment variables.
fn inline<'h>(environment: &Environment) -> impl Iterator<Item = Place<'h>> {
    let variables = [
        (CONTENT_VARIABLE, None),
        (PERMISSION_VARIABLE, Some("permission")),
    ];
    variables.into_iter().filter_map(|(by, key)| {
        let text = environment.variable(by)?.to_owned();
        Some(Place::Inline { by, text, key })
    })
}

/// The documents of a directory.
fn files(directory: &Path, source: Source) -> [Layer<'static>; 2] {
    NAMES.map(|name| Layer {
        place: Place::Found(directory.join(name)),
        base: directory.to_owned(),
        source,
    })
}

/// The documents of a configuration directory, and the directory itself.
fn folder(directory: &Path, source: Source) -> [Layer<'static>; 3] {
    let [weaker, stronger] = files(directory, source);
    let itself = Layer {
        place: Place::Directory(directory.to_owned()),
        base: directory.to_owned(),
        source,
    };
    [weaker, stronger, itself]
}

/// The configuration directory that the environment names. A relative path, which would depend on the
/// working directory, is reported as a file that cannot be read.
fn named_folder(directory: &Path) -> Vec<Layer<'static>> {
    if directory.is_absolute() {
        return folder(directory, Source::User).into();
    }
    vec![Layer {
        place: Place::Named {
            by: DIRECTORY_VARIABLE,
            file: directory.to_owned(),
        },
        base: directory.to_owned(),
        source: Source::User,
    }]
}

fn project_layers(
    environment: &Environment,
    project: &Project,
    directory: &str,
    is_trusted: bool,
) -> Vec<Layer<'static>> {
    let directory = Path::new(directory);
    // The surrounding directories do not configure the user's own configuration directory.
    if directory == environment.config {
        return Vec::new();
    }
    let source = match is_trusted {
        true => Source::Project,
        false => Source::UntrustedProject,
    };
    let worktree = project.worktree(directory, &environment.home);
    let mut path: Vec<_> = directory
        .ancestors()
        .take_while(|ancestor| match is_trusted {
            true => project.contains(ancestor),
            false => ancestor.starts_with(worktree),
        })
        .collect();
    path.reverse();
    let plain = path.iter().flat_map(|ancestor| files(ancestor, source));
    let dotted = path
        .iter()
        .flat_map(|ancestor| folder(&ancestor.join(DOT_DIRECTORY), source));
    plain.chain(dotted).collect()
}

/// Keeps only the strongest occurrence of a place that is found twice, for example because the
/// environment also names it. Reading it twice would add nothing and report its problems twice.
fn keep_last(layers: Vec<Layer<'_>>) -> Vec<Layer<'_>> {
    let mut kept = Vec::with_capacity(layers.len());
    let mut seen = std::collections::HashSet::new();
    for layer in layers.into_iter().rev() {
        let new = match &layer.place {
            Place::Found(path) | Place::Named { file: path, .. } | Place::Directory(path) => {
                seen.insert(path.clone())
            }
            Place::Inline { .. } | Place::Remote(_) | Place::Host(_) => true,
        };
        if new {
            kept.push(layer);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::project::Vcs;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment {
            home: "/home/u".into(),
            config: "/home/u/.config/opencode".into(),
            variables: variables
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
            ..Environment::default()
        }
    }

    fn project(directory: &str) -> Project {
        Project {
            directory: directory.to_owned(),
            vcs: Some(Vcs::Git {
                store: String::new(),
            }),
            ..Project::global()
        }
    }

    /// The places as text, without the `.jsonc` variant of each `.json` file.
    fn places(environment: &Environment, root: &str, directory: &str) -> Vec<String> {
        layers(
            environment,
            &project(root),
            directory,
            true,
            &[&Value::Null],
        )
        .into_iter()
        .filter_map(|layer| match layer.place {
            Place::Found(file) => {
                let file = file.to_str().unwrap().to_owned();
                file.ends_with(".json").then_some(file)
            }
            Place::Named { by, file } => Some(format!("{by}={}", file.display())),
            Place::Inline { by, text, .. } => Some(format!("{by}={text}")),
            Place::Directory(path) => Some(format!("{}/", path.display())),
            Place::Remote(_) => None,
            Place::Host(_) => Some("host".to_owned()),
        })
        .collect()
    }

    #[test]
    fn layers_are_listed_from_weakest_to_strongest() {
        let environment = environment(&[
            ("OPENCODE_CONFIG", "/x/y.json"),
            ("OPENCODE_CONFIG_DIR", "/z"),
            ("OPENCODE_PERMISSION", "\"ask\""),
            ("OPENCODE_CONFIG_CONTENT", "{}"),
        ]);
        assert_eq!(
            places(&environment, "/p", "/p/a/b"),
            [
                "/home/u/.config/opencode/opencode.json",
                "/home/u/.config/opencode/",
                "/home/u/.opencode/opencode.json",
                "/home/u/.opencode/",
                "OPENCODE_CONFIG=/x/y.json",
                "/p/opencode.json",
                "/p/a/opencode.json",
                "/p/a/b/opencode.json",
                "/p/.opencode/opencode.json",
                "/p/.opencode/",
                "/p/a/.opencode/opencode.json",
                "/p/a/.opencode/",
                "/p/a/b/.opencode/opencode.json",
                "/p/a/b/.opencode/",
                "/z/opencode.json",
                "/z/",
                "OPENCODE_CONFIG_CONTENT={}",
                "OPENCODE_PERMISSION=\"ask\"",
                "host",
            ]
        );
    }

    #[test]
    fn jsonc_is_stronger_than_json() {
        let layers = layers(&environment(&[]), &project("/p"), "/p", true, &[]);
        let project = |name: &str| Layer {
            place: Place::Found(name.into()),
            base: "/p".into(),
            source: Source::Project,
        };
        assert_eq!(
            layers[6..8],
            [project("/p/opencode.json"), project("/p/opencode.jsonc")]
        );
    }

    #[test]
    fn project_files_can_be_switched_off() {
        let environment = environment(&[
            ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
            ("OPENCODE_CONFIG_CONTENT", "{}"),
        ]);
        assert_eq!(
            places(&environment, "/p", "/p"),
            [
                "/home/u/.config/opencode/opencode.json",
                "/home/u/.config/opencode/",
                "/home/u/.opencode/opencode.json",
                "/home/u/.opencode/",
                "OPENCODE_CONFIG_CONTENT={}",
                "host",
            ]
        );
    }

    #[test]
    fn without_a_repository_all_ancestors_are_searched() {
        let environment = Environment::default();
        let files: Vec<_> = layers(&environment, &Project::global(), "/a/b", true, &[])
            .into_iter()
            .filter_map(|layer| match layer.place {
                Place::Found(file) => Some(file),
                _ => None,
            })
            .step_by(2)
            .collect();
        let expected = [
            "/opencode.json",
            "/a/opencode.json",
            "/a/b/opencode.json",
            "/.opencode/opencode.json",
            "/a/.opencode/opencode.json",
            "/a/b/.opencode/opencode.json",
        ];
        assert_eq!(files, expected.map(PathBuf::from));
    }

    #[test]
    fn the_configuration_directory_is_not_read_as_a_project() {
        assert_eq!(
            places(&environment(&[]), "/", "/home/u/.config/opencode"),
            [
                "/home/u/.config/opencode/opencode.json",
                "/home/u/.config/opencode/",
                "/home/u/.opencode/opencode.json",
                "/home/u/.opencode/",
                "host",
            ]
        );
    }

    #[test]
    fn files_of_the_user_stay_trusted_in_a_surrounding_project() {
        let environment = environment(&[]);
        assert_eq!(
            places(&environment, "/home/u", "/home/u"),
            [
                "/home/u/.config/opencode/opencode.json",
                "/home/u/.config/opencode/",
                "/home/u/.opencode/opencode.json",
                "/home/u/.opencode/",
                "/home/u/opencode.json",
                "host",
            ]
        );
        let of_project: Vec<_> = layers(&environment, &project("/home/u"), "/home/u", true, &[])
            .into_iter()
            .filter(|layer| layer.source.is_project())
            .map(|layer| layer.place)
            .collect();
        let file = |name: &str| Place::Found(Path::new("/home/u").join(name));
        assert_eq!(of_project, [file("opencode.json"), file("opencode.jsonc")]);
    }

    #[test]
    fn a_file_found_twice_is_read_in_its_strongest_layer() {
        let environment = environment(&[("OPENCODE_CONFIG_DIR", "/p/.opencode")]);
        assert_eq!(
            places(&environment, "/p", "/p")[4..],
            [
                "/p/opencode.json",
                "/p/.opencode/opencode.json",
                "/p/.opencode/",
                "host",
            ]
        );
        let last = layers(&environment, &project("/p"), "/p", true, &[]).pop();
        assert!(last.is_some_and(|it| it.source == Source::User));
    }

    #[test]
    fn an_untrusted_project_reads_no_files_above_its_root() {
        let untrusted = |project: &Project| -> Vec<PathBuf> {
            layers(&Environment::default(), project, "/a/b", false, &[])
                .into_iter()
                .inspect(|layer| assert_eq!(layer.source, Source::UntrustedProject))
                .filter_map(|layer| match layer.place {
                    Place::Found(file) => Some(file),
                    _ => None,
                })
                .step_by(2)
                .collect()
        };
        let own = ["/a/b/opencode.json", "/a/b/.opencode/opencode.json"];
        assert_eq!(untrusted(&Project::global()), own.map(PathBuf::from));
        let repository = [
            "/a/opencode.json",
            "/a/b/opencode.json",
            "/a/.opencode/opencode.json",
            "/a/b/.opencode/opencode.json",
        ];
        assert_eq!(untrusted(&project("/a")), repository.map(PathBuf::from));
        // A repository that contains the home directory does not count as one project.
        let environment = environment(&[]);
        let of_home: Vec<_> = layers(&environment, &project("/home"), "/home/u/x", false, &[])
            .into_iter()
            .filter(|layer| layer.source == Source::UntrustedProject)
            .map(|layer| layer.base)
            .collect();
        assert!(of_home.iter().all(|base| base.starts_with("/home/u/x")));
    }
}
