//! A separate machine for every test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opencode_location::catalogue::Catalogue;
use opencode_location::config::{Configuration, Diagnostic, HostConfiguration};
use opencode_location::definitions::Definitions;
use opencode_location::environment::Environment;
use opencode_location::location::{Locations, Trust};
use opencode_location::project::{Project, Vcs};
use serde_json::Value;

/// Directories of a machine: `home`, `config`, and others that a test adds.
pub(crate) struct Machine {
    root: tempfile::TempDir,
    pub(crate) environment: Environment,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        // The path of the temporary directory may contain a link.
        let base = root.path().canonicalize().unwrap();
        let mut environment = Environment {
            home: base.join("home"),
            data: base.join("data"),
            config: base.join("config"),
            cache: base.join("cache"),
            ..Environment::default()
        };
        environment
            .variables
            .insert("PATH".to_owned(), std::env::var("PATH").unwrap());
        Self { root, environment }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn text(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    pub(crate) fn directory(&self, below: &str) -> String {
        fs::create_dir_all(self.path(below)).unwrap();
        self.text(below)
    }

    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment
            .variables
            .insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn locations(&self, config: Option<Value>) -> Locations {
        Locations::new(Arc::new(self.environment.clone()), config).with_trust(Trust::Always)
    }

    /// The configuration of `directory` in a project with the root `root`.
    pub(crate) fn configuration(
        &self,
        root: &str,
        directory: &str,
        host: Option<&Value>,
    ) -> Configuration {
        let host = HostConfiguration::from(host.cloned());
        self.configuration_of(root, directory, &host)
    }

    /// Same, with the complete configuration of the embedding program.
    pub(crate) fn configuration_of(
        &self,
        root: &str,
        directory: &str,
        host: &HostConfiguration,
    ) -> Configuration {
        self.configuration_with(root, directory, host, true)
    }

    /// A project with the root `root`.
    pub(crate) fn project(&self, root: &str) -> Project {
        Project {
            directory: self.directory(root),
            vcs: Some(Vcs::Git {
                store: String::new(),
            }),
            ..Project::global()
        }
    }

    /// The definitions of `project`, and diagnostics for parts without effect.
    pub(crate) fn definitions(
        &self,
        configuration: &Configuration,
        catalogue: &Catalogue,
    ) -> (Definitions, Vec<Diagnostic>) {
        let project = self.project("project");
        Definitions::read(
            configuration,
            catalogue,
            &self.environment,
            &project,
            &project.directory,
        )
    }

    /// Same, with a choice if the host trusts the project.
    pub(crate) fn configuration_with(
        &self,
        root: &str,
        directory: &str,
        host: &HostConfiguration,
        is_trusted: bool,
    ) -> Configuration {
        let project = self.project(root);
        let directory = self.text(directory);
        Configuration::load(&self.environment, &project, &directory, host, is_trusted)
    }
}

/// The end of a message about a value that could contain permissions.
pub(crate) const ASKS: &str = ". Until this is corrected, the host asks before every use of a tool";

/// Runs git at a fixed time, without the configuration of a user.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
