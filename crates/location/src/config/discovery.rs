//! Where configuration is looked for.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::project::Project;

/// A place that may hold a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layer {
    /// A file that need not exist.
    Found(PathBuf),
    /// A file somebody named, so that its absence is a mistake.
    Named {
        /// What named it.
        by: &'static str,
        /// The file.
        file: PathBuf,
    },
    /// Text given in place of a file.
    Inline {
        /// What gave it.
        by: &'static str,
        /// The document.
        text: String,
    },
}

/// The file names of a directory's documents; the second is the stronger one.
const NAMES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

/// The directory that holds configuration next to what it configures.
const DOT_DIRECTORY: &str = ".opencode";

const FILE_VARIABLE: &str = "OPENCODE_CONFIG";
const CONTENT_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";
const DIRECTORY_VARIABLE: &str = "OPENCODE_CONFIG_DIR";
const NO_PROJECT_VARIABLE: &str = "OPENCODE_DISABLE_PROJECT_CONFIG";

/// The places for a directory, weakest first: the user's, the file the environment names, the
/// project's files and then its `.opencode` directories, each from the project's root down to the
/// directory, the directory the environment names, and the text the environment holds.
pub(crate) fn layers(environment: &Environment, project: &Project, directory: &str) -> Vec<Layer> {
    let mut layers = Vec::new();
    // A host that gives no root has no such place.
    if !environment.config.as_os_str().is_empty() {
        layers.extend(files(&environment.config));
    }
    if !environment.home.as_os_str().is_empty() {
        layers.extend(files(&environment.home.join(DOT_DIRECTORY)));
    }
    if let Some(file) = environment.variable(FILE_VARIABLE) {
        layers.push(Layer::Named {
            by: FILE_VARIABLE,
            file: PathBuf::from(file),
        });
    }
    if !environment.flag(NO_PROJECT_VARIABLE) {
        layers.extend(project_files(environment, project, directory));
    }
    if let Some(named) = environment.variable(DIRECTORY_VARIABLE) {
        layers.extend(files(Path::new(named)));
    }
    if let Some(text) = environment.variable(CONTENT_VARIABLE) {
        layers.push(Layer::Inline {
            by: CONTENT_VARIABLE,
            text: text.to_owned(),
        });
    }
    keep_last(layers)
}

fn files(directory: &Path) -> [Layer; 2] {
    NAMES.map(|name| Layer::Found(directory.join(name)))
}

fn project_files(environment: &Environment, project: &Project, directory: &str) -> Vec<Layer> {
    let directory = Path::new(directory);
    // The user's own configuration directory is no project to be configured by its surroundings.
    if directory == environment.config {
        return Vec::new();
    }
    let mut path: Vec<_> = directory
        .ancestors()
        .take_while(|ancestor| project.contains(ancestor))
        .collect();
    path.reverse();
    let plain = path.iter().flat_map(|ancestor| files(ancestor));
    let dotted = path
        .iter()
        .flat_map(|ancestor| files(&ancestor.join(DOT_DIRECTORY)));
    plain.chain(dotted).collect()
}

/// Leaves a file that is found twice only where it is strongest, as for a project in the home
/// directory: read twice it would say nothing more, and complain twice.
fn keep_last(layers: Vec<Layer>) -> Vec<Layer> {
    let mut kept = Vec::with_capacity(layers.len());
    let mut seen = std::collections::HashSet::new();
    for layer in layers.into_iter().rev() {
        let new = match &layer {
            Layer::Found(file) | Layer::Named { file, .. } => seen.insert(file.clone()),
            Layer::Inline { .. } => true,
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

    /// The places as text, without the `.jsonc` twin of every `.json`.
    fn places(environment: &Environment, root: &str, directory: &str) -> Vec<String> {
        layers(environment, &project(root), directory)
            .into_iter()
            .filter_map(|layer| match layer {
                Layer::Found(file) => {
                    let file = file.to_str().unwrap().to_owned();
                    file.ends_with(".json").then_some(file)
                }
                Layer::Named { by, file } => Some(format!("{by}={}", file.display())),
                Layer::Inline { by, text } => Some(format!("{by}={text}")),
            })
            .collect()
    }

    #[test]
    fn all_layers_weakest_first() {
        let environment = environment(&[
            ("OPENCODE_CONFIG", "/x/y.json"),
            ("OPENCODE_CONFIG_DIR", "/z"),
            ("OPENCODE_CONFIG_CONTENT", "{}"),
        ]);
        assert_eq!(
            places(&environment, "/p", "/p/a/b"),
            [
                "/home/u/.config/opencode/opencode.json",
                "/home/u/.opencode/opencode.json",
                "OPENCODE_CONFIG=/x/y.json",
                "/p/opencode.json",
                "/p/a/opencode.json",
                "/p/a/b/opencode.json",
                "/p/.opencode/opencode.json",
                "/p/a/.opencode/opencode.json",
                "/p/a/b/.opencode/opencode.json",
                "/z/opencode.json",
                "OPENCODE_CONFIG_CONTENT={}",
            ]
        );
    }

    #[test]
    fn jsonc_is_stronger_than_json() {
        let layers = layers(&environment(&[]), &project("/p"), "/p");
        assert_eq!(
            layers[4..6],
            [
                Layer::Found("/p/opencode.json".into()),
                Layer::Found("/p/opencode.jsonc".into())
            ]
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
                "/home/u/.opencode/opencode.json",
                "OPENCODE_CONFIG_CONTENT={}",
            ]
        );
    }

    #[test]
    fn outside_any_repository_every_ancestor_counts() {
        let environment = Environment::default();
        let files: Vec<_> = layers(&environment, &Project::global(), "/a/b")
            .into_iter()
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
        assert_eq!(files, expected.map(|file| Layer::Found(file.into())));
    }

    #[test]
    fn the_configuration_directory_is_no_project() {
        assert_eq!(
            places(&environment(&[]), "/", "/home/u/.config/opencode"),
            [
                "/home/u/.config/opencode/opencode.json",
                "/home/u/.opencode/opencode.json",
            ]
        );
    }

    #[test]
    fn a_file_found_twice_counts_where_it_is_strongest() {
        assert_eq!(
            places(&environment(&[]), "/home/u", "/home/u"),
            [
                "/home/u/.config/opencode/opencode.json",
                "/home/u/opencode.json",
                "/home/u/.opencode/opencode.json",
            ]
        );
    }
}
