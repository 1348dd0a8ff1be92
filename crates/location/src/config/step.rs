//! Steps of a path within a value.

/// One step from a value to a member or element of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Index(usize),
}

impl Step {
    /// The name of the member. `None` for an element.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Index(_) => None,
        }
    }
}
