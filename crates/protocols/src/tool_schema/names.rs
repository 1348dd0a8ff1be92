//! The names of properties that a provider accepts, in place of those that it refuses.

use std::collections::HashMap;

use opencode_llm::canonical::request::JsonMap;
use opencode_llm::normal_schema::FreeNames;

/// Maximum length of a name.
const MAX_NAME: usize = 64;

/// Maximum length of what is added to the beginning of a refused name.
const MAX_SUFFIX: usize = 7;

/// The names that a provider accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// All names.
    Any,
    /// Letters, digits, `_`, `.` and `-`, at most 64.
    Anthropic,
    /// Letters, digits and `_`, at most 64, and no digit at the beginning.
    Gemini,
    /// All names but those of some keywords.
    Moonshot,
}

impl Names {
    /// True if the provider accepts a name.
    pub(super) fn accepts(self, name: &str) -> bool {
        let is_short = (1..=MAX_NAME).contains(&name.len());
        let mut chars = name.chars();
        match self {
            Self::Any => true,
            Self::Anthropic => is_short && chars.all(|c| self.has(c)),
            Self::Gemini => {
                is_short
                    && !name.starts_with(|c: char| c.is_ascii_digit())
                    && chars.all(|c| self.has(c))
            }
            Self::Moonshot => !matches!(
                name,
                "$defs" | "$ref" | "anyOf" | "required" | "additionalProperties"
            ),
        }
    }

    fn has(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || c == '_' || (self == Self::Anthropic && matches!(c, '.' | '-'))
    }

    /// Returns the names in place of those properties whose names are refused.
    pub(super) fn replaced(self, properties: &JsonMap) -> Replaced {
        let mut out = Replaced::default();
        if self == Self::Any || properties.keys().all(|name| self.accepts(name)) {
            return out;
        }
        let mut free = FreeNames::beside(properties.keys());
        for name in properties.keys().filter(|name| !self.accepts(name)) {
            let chars = name.chars().map(|c| if self.has(c) { c } else { '_' });
            let mut base: String = chars.take(MAX_NAME - MAX_SUFFIX).collect();
            if !self.accepts(&base) {
                base.insert(0, '_');
            }
            let wire = free.take(base);
            out.originals.insert(wire.clone(), name.clone());
            out.wires.insert(name.clone(), wire);
        }
        out
    }
}

/// The names in place of refused ones.
#[derive(Default)]
pub(super) struct Replaced {
    wires: HashMap<String, String>,
    originals: HashMap<String, String>,
}

impl Replaced {
    /// True if all names are accepted.
    pub(super) fn is_empty(&self) -> bool {
        self.wires.is_empty()
    }

    /// Returns the name of a property in a form.
    pub(super) fn wire<'a>(&'a self, name: &'a str) -> &'a str {
        self.wires.get(name).map_or(name, String::as_str)
    }

    /// Returns the refused name in whose place a form has this one.
    pub(super) fn original(&self, wire: &str) -> Option<&String> {
        self.originals.get(wire)
    }
}
