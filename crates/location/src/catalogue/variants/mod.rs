//! The variants of reasoning models for which neither the configuration nor a list of models names variants.
//!
//! The package and name of a model determine the options that it accepts. If these are not known
//! exactly, the model gets no variants, because it could reject them.

mod makers;

use opencode_schema::clock::Millis;
use serde_json::Value;

use super::platform::Platform;
use crate::config::ReasoningOption;
use crate::secret::Members;

use makers::special;
pub(super) use makers::{claude, claude_version, gemini, gpt};

/// The properties that determine the variants.
pub(super) struct ReasoningModel<'a> {
    /// The vendor behind its package.
    pub platform: &'static dyn Platform,
    /// The name that its provider uses for it.
    pub wire_id: &'a str,
    /// The release date.
    pub released: Millis,
    /// Maximum number of output tokens. 0 if unknown.
    pub output: u64,
    /// The reasoning options that a list of models names.
    pub options: Option<&'a [ReasoningOption]>,
}

/// Variants by id, with options in the spelling of the package.
type Variants = Vec<(String, Members)>;

/// Maximum number of thinking tokens in a request.
const MAX_BUDGET: u64 = 31_999;

/// The choices that requests have for the reasoning of a model. Each is a variant.
pub(super) enum Choices {
    /// Efforts, which are also the names of the variants.
    Efforts(&'static [&'static str]),
    /// Two numbers of thinking tokens.
    Budgets {
        /// The smaller one.
        high: u64,
        /// The greater one.
        max: u64,
    },
}

impl Choices {
    /// For models without a choice.
    pub(super) const NONE: Self = Self::Efforts(&[]);

    /// The efforts of most models.
    pub(super) const USUAL: Self = Self::Efforts(&["low", "medium", "high"]);
}

impl ReasoningModel<'_> {
    /// The variants of the model.
    pub(super) fn variants(&self) -> Variants {
        match self.options {
            Some(options) => self.listed(options),
            None => self.by_name(),
        }
    }

    fn listed(&self, options: &[ReasoningOption]) -> Variants {
        let efforts = options.iter().find_map(|option| match option {
            ReasoningOption::Effort(values) => Some(values),
            ReasoningOption::Budget { .. } => None,
        });
        if let Some(values) = efforts {
            let values: Vec<_> = values
                .iter()
                .map(|value| value.as_deref().unwrap_or("none"))
                .collect();
            return self.efforts(&values);
        }
        let budget = options.iter().find_map(|option| match option {
            ReasoningOption::Budget { min, max } => Some((min.unwrap_or_default(), *max)),
            ReasoningOption::Effort(_) => None,
        });
        let Some((min, max)) = budget else {
            return Variants::new();
        };
        let top = max.unwrap_or(MAX_BUDGET).min(MAX_BUDGET);
        let top = top.min(self.output.checked_sub(1).unwrap_or(top));
        let high = top.div_ceil(2).clamp(min.min(top), top);
        self.budgets(high, top)
    }

    fn by_name(&self) -> Variants {
        let id = self.wire_id.to_ascii_lowercase();
        let choices = special(&id).unwrap_or_else(|| self.platform.choices(&id, self));
        match choices {
            Choices::Efforts(efforts) => self.efforts(efforts),
            Choices::Budgets { high, max } => self.budgets(high, max),
        }
    }

    fn efforts(&self, values: &[&str]) -> Variants {
        let variant = |value: &&str| {
            let options = self.platform.effort(self.wire_id, value)?;
            Some(((*value).to_owned(), members(options)))
        };
        values.iter().filter_map(variant).collect()
    }

    fn budgets(&self, high: u64, max: u64) -> Variants {
        let variant = |(id, tokens): (&str, u64)| {
            Some((id.to_owned(), members(self.platform.budget(tokens)?)))
        };
        let both = [("high", high), ("max", max)];
        both.into_iter().filter_map(variant).collect()
    }
}

fn members(value: Value) -> Members {
    match value {
        Value::Object(members) => Members(members),
        _ => Members::default(),
    }
}

#[cfg(test)]
mod tests;
