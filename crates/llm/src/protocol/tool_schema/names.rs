//! The names of properties that a provider accepts, in place of those that it refuses.

use crate::canonical::request::JsonMap;

/// Maximum length of a name.
const MAX_NAME: usize = 64;

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
    fn accepts(self, name: &str) -> bool {
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

    /// Returns the properties whose names are refused, with the names in their places.
    pub(super) fn replaced(self, properties: &JsonMap) -> Vec<(String, String)> {
        let mut out: Vec<(String, String)> = Vec::new();
        if self == Self::Any {
            return out;
        }
        for name in properties.keys().filter(|name| !self.accepts(name)) {
            let chars = name.chars().map(|c| if self.has(c) { c } else { '_' });
            let mut base: String = chars.take(MAX_NAME - 4).collect();
            if !self.accepts(&base) {
                base.insert(0, '_');
            }
            let mut free = base.clone();
            let mut number = 2;
            while properties.contains_key(&free) || out.iter().any(|(_, taken)| *taken == free) {
                free = format!("{base}_{number}");
                number += 1;
            }
            out.push((name.clone(), free));
        }
        out
    }
}
