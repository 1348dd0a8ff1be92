//! The registrations of a program with an open host, by their kind.

use super::context_sources::ContextSourceRegistration;
use super::hooks::HookRegistration;
use super::providers::ProviderRegistration;
use super::tools::ToolRegistration;

/// A kind of registrations of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationKind {
    /// A tool for models.
    Tool,
    /// A part of the System Context.
    ContextSource,
    /// A provider of models.
    Provider,
    /// A function that is called at a moment of a session.
    Hook,
    /// A function that gives variables to terminals.
    Environment,
}

/// A registration of a program.
#[derive(Debug)]
pub enum Registered {
    /// A tool for models.
    Tool(ToolRegistration),
    /// A part of the System Context.
    ContextSource(ContextSourceRegistration),
    /// A provider of models.
    Provider(ProviderRegistration),
    /// A function that is called at a moment of a session.
    Hook(HookRegistration),
    /// A function that gives variables to terminals.
    Environment,
}

impl RegistrationKind {
    /// Returns the kind with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "tool" => Self::Tool,
            "contextSource" => Self::ContextSource,
            "provider" => Self::Provider,
            "hook" => Self::Hook,
            "environment" => Self::Environment,
            _ => return None,
        })
    }

    /// Reads a definition of this kind: `{name, description, inputSchema, action, permission, recovers, timeoutMs}`,
    /// `{key, required, timeoutMs}`, `{id, name, models}`, `{moment, timeoutMs}` or `{}`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not such JSON.
    pub fn read(self, definition: &str) -> serde_json::Result<Registered> {
        Ok(match self {
            Self::Tool => Registered::Tool(serde_json::from_str(definition)?),
            Self::ContextSource => Registered::ContextSource(serde_json::from_str(definition)?),
            Self::Provider => Registered::Provider(serde_json::from_str(definition)?),
            Self::Hook => Registered::Hook(serde_json::from_str(definition)?),
            Self::Environment => Registered::Environment,
        })
    }
}
