//! References in the configuration: `references`, or `reference` in the older generation of the format.

use serde_json::Value;

use super::decode::{Decoded, Invalid, boolean, entries, few, object, optional, text, wrong};
use super::document::{Draft, Located};

/// The description of a reference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReferencePatch {
    /// The source.
    pub origin: ReferenceOrigin,
    /// The purpose.
    pub description: Option<String>,
    /// True if user interfaces do not offer it when they complete names.
    pub hidden: Option<bool>,
}

/// The source of a reference, as written in the document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReferenceOrigin {
    /// A directory.
    Path(String),
    /// A git repository.
    Repository {
        /// The repository.
        name: String,
        /// The branch. `None` for the default branch of the repository.
        branch: Option<String>,
    },
}

/// A reference with its position in the document.
pub(crate) type NamedReference = (String, Located<ReferencePatch>);

/// Reads the references under a key.
pub(super) fn read(draft: &mut Draft<'_>, key: &str, value: &Value) -> Decoded<()> {
    object(value)?;
    few(value)?;
    let references = entries(value, |name, value| {
        Ok((name.to_owned(), reference(value)?))
    })?;
    let references: Vec<_> = draft.located_members(key, references).collect();
    draft.document.references.extend(references);
    Ok(())
}

fn reference(value: &Value) -> Decoded<ReferencePatch> {
    let source = match value {
        Value::String(text) => {
            return Ok(ReferencePatch {
                origin: origin(text),
                description: None,
                hidden: None,
            });
        }
        Value::Object(source) => source,
        other => return Err(wrong("a string or an object", other)),
    };
    let path = optional(source, "path", text)?;
    let repository = optional(source, "repository", text)?;
    let branch = optional(source, "branch", text)?;
    let origin = match (path, repository) {
        (Some(path), None) => ReferenceOrigin::Path(path),
        (None, Some(name)) => ReferenceOrigin::Repository { name, branch },
        (Some(_), Some(_)) => {
            return Err(Invalid::new("has both a path and a repository; keep one"));
        }
        (None, None) => return Err(Invalid::new("must have a path or a repository")),
    };
    Ok(ReferencePatch {
        origin,
        description: optional(source, "description", text)?,
        hidden: optional(source, "hidden", boolean)?,
    })
}

/// Interprets a plain text: a path if it starts with `.`, `/` or `~`, otherwise a repository.
fn origin(text: &str) -> ReferenceOrigin {
    let text = text.to_owned();
    if text.starts_with(['.', '/', '~']) {
        ReferenceOrigin::Path(text)
    } else {
        let branch = None;
        ReferenceOrigin::Repository { name: text, branch }
    }
}
