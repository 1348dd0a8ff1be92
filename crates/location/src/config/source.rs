//! Who wrote a document or a definition file.

/// Who wrote a document or a definition file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// The user: the user's configuration directories, and the variables that name configuration.
    #[default]
    User,
    /// The embedding program.
    Host,
    /// A file of a project that the host trusts.
    Project,
    /// A file of a project that the host does not trust. It gives text and caution: nothing in it
    /// sends data elsewhere, starts a program, reads a secret or loosens a permission.
    UntrustedProject,
}

impl Source {
    /// Whether it is a file of the project.
    #[must_use]
    pub fn is_project(self) -> bool {
        matches!(self, Self::Project | Self::UntrustedProject)
    }

    /// Whether only text and caution of it count.
    #[must_use]
    pub fn is_untrusted(self) -> bool {
        self == Self::UntrustedProject
    }
}
