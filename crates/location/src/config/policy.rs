//! Rules for the use of providers: `experimental.policies`, `enabled_providers`, `disabled_providers`.

use serde_json::Value;

use super::decode::{Decoded, Invalid, bounded_texts, elements, object, optional, required, text};

/// A rule for the use of providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Policy {
    /// True if the matching providers can be used.
    pub allow: bool,
    /// Pattern for provider ids: `*` stands for any text and `?` for any character.
    pub resource: String,
}

impl Policy {
    /// The policy that denies all providers.
    pub(crate) fn none() -> Self {
        Self {
            allow: false,
            resource: "*".to_owned(),
        }
    }
}

/// The only supported action of policies.
const USE_PROVIDER: &str = "provider.use";

/// Reads the policies of `experimental`. Skips policies for other actions, which belong to newer versions.
pub(super) fn decode(value: &Value) -> Decoded<Vec<Policy>> {
    let statements = optional(object(value)?, "policies", |value| {
        elements(value, statement)
    })?;
    Ok(statements
        .unwrap_or_default()
        .into_iter()
        .flatten()
        .collect())
}

fn statement(value: &Value) -> Decoded<Option<Policy>> {
    let source = object(value)?;
    let action = required(source, "action", text)?;
    let allow = required(source, "effect", |value| match value.as_str() {
        Some("allow") => Ok(true),
        Some("deny") => Ok(false),
        _ => Err(Invalid::new("must be \"allow\" or \"deny\"")),
    })?;
    let resource = required(source, "resource", text)?;
    Ok((action == USE_PROVIDER).then_some(Policy { allow, resource }))
}

/// Reads `enabled_providers`. All other providers are denied.
pub(super) fn enabled(value: &Value) -> Decoded<Vec<Policy>> {
    let allowed = bounded_texts(value)?.into_iter().map(|resource| Policy {
        allow: true,
        resource,
    });
    Ok(std::iter::once(Policy::none()).chain(allowed).collect())
}

/// Reads `disabled_providers`.
pub(super) fn disabled(value: &Value) -> Decoded<Vec<Policy>> {
    let denied = bounded_texts(value)?.into_iter().map(|resource| Policy {
        allow: false,
        resource,
    });
    Ok(denied.collect())
}
