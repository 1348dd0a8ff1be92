//! Authors of documents and definition files.

/// The author of a document or a definition file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// The user: the user's configuration directories and the environment variables that name configuration.
    #[default]
    User,
    /// The embedding program.
    Host,
    /// The administrator of the machine. No other author loosens these rules.
    Administrator,
    /// A file of a project that the host trusts.
    Project,
    /// A file of a project that the host does not trust. It can only add text and restrictions: it
    /// cannot send data elsewhere, start a program, read a secret or loosen a permission.
    UntrustedProject,
}

impl Source {
    /// True for files of the project.
    #[must_use]
    pub fn is_project(self) -> bool {
        matches!(self, Self::Project | Self::UntrustedProject)
    }

    /// True if only text and restrictions take effect.
    #[must_use]
    pub fn is_untrusted(self) -> bool {
        self == Self::UntrustedProject
    }
}
