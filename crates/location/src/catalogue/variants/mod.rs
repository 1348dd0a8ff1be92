//! The variants of reasoning models for which neither the configuration nor a list of models names variants.
//!
//! The package and name of a model determine the options that it accepts. If these are not known
//! exactly, the model gets no variants, because it could reject them.

use opencode_schema::clock::Millis;
use serde_json::{Value, json};

use super::family::Family;
use super::versions::{gpt_version, version_after};
use crate::config::ReasoningOption;
use crate::model::released;
use crate::secret::Members;

/// The properties that determine the variants.
pub(super) struct ReasoningModel<'a> {
    /// The family of its package.
    pub family: Family,
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

/// The thinking budget of the smaller of two variants, in tokens.
const HIGH_BUDGET: u64 = 16_000;

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
        if let Some(special) = self.special(&id) {
            return special;
        }
        match self.family {
            Family::OpenAi | Family::Azure | Family::Xai => {
                self.efforts(&openai(&id, self.released))
            }
            Family::OpenRouter if id.starts_with("openai/") => {
                self.efforts(&openai(&id, self.released))
            }
            Family::OpenRouter => self.efforts(&["low", "medium", "high"]),
            Family::Anthropic => self.claude(&id),
            Family::Bedrock if id.contains("claude") => self.claude(&id),
            Family::Bedrock => self.efforts(&["low", "medium", "high"]),
            Family::Google => self.gemini(&id),
            Family::Copilot => self.copilot(&id),
            Family::Groq => self.efforts(&["none", "low", "medium", "high"]),
            Family::Mistral => self.efforts(&["high"]),
            Family::Compatible if id.contains("deepseek-v4") => {
                self.efforts(&["low", "medium", "high", "max"])
            }
            Family::Compatible => self.efforts(&["low", "medium", "high"]),
            Family::Other | Family::Unknown => Variants::new(),
        }
    }

    /// The variants of models that differ from the other models of their package. Most of these models have none.
    fn special(&self, id: &str) -> Option<Variants> {
        const WITHOUT: [&str; 10] = [
            "deepseek-chat",
            "deepseek-reasoning",
            "deepseek-r1",
            "deepseek-v3",
            "minimax",
            "glm",
            "kimi",
            "qwen",
            "grok",
            "command-a",
        ];
        if id.contains("grok-3-mini") {
            return Some(self.efforts(&["low", "high"]));
        }
        if id.contains("glm-5.2") {
            return Some(self.efforts(&["high", "max"]));
        }
        let without = WITHOUT.iter().any(|name| id.contains(name));
        without.then(Variants::new)
    }

    fn efforts(&self, values: &[&str]) -> Variants {
        let variant = |value: &&str| Some(((*value).to_owned(), self.effort(value)?));
        values.iter().filter_map(variant).collect()
    }

    /// The options that request an effort. `None` if the package does not support efforts.
    fn effort(&self, value: &str) -> Option<Members> {
        let options = match self.family {
            Family::OpenAi | Family::Azure | Family::Xai | Family::Copilot => json!({
                "reasoningEffort": value,
                "reasoningSummary": "auto",
                "include": ["reasoning.encrypted_content"],
            }),
            Family::Anthropic => {
                let mut thinking = json!({ "type": "adaptive" });
                if claude_version(self.wire_id).is_some_and(|version| version >= (4, 7)) {
                    thinking["display"] = json!("summarized");
                }
                json!({ "thinking": thinking, "effort": value })
            }
            Family::Bedrock if self.wire_id.contains("claude") => json!({
                "reasoningConfig": { "type": "adaptive", "maxReasoningEffort": value },
            }),
            Family::Bedrock => json!({
                "reasoningConfig": { "type": "enabled", "maxReasoningEffort": value },
            }),
            Family::Google => json!({
                "thinkingConfig": { "includeThoughts": true, "thinkingLevel": value },
            }),
            Family::OpenRouter => json!({ "reasoning": { "effort": value } }),
            Family::Groq | Family::Mistral | Family::Compatible => {
                json!({ "reasoningEffort": value })
            }
            Family::Other | Family::Unknown => return None,
        };
        Some(members(options))
    }

    fn budgets(&self, high: u64, max: u64) -> Variants {
        let variant = |(id, tokens): (&str, u64)| Some((id.to_owned(), self.budget(tokens)?));
        let both = [("high", high), ("max", max)];
        both.into_iter().filter_map(variant).collect()
    }

    /// The options that request a number of thinking tokens. `None` if the package does not support budgets.
    fn budget(&self, tokens: u64) -> Option<Members> {
        let options = match self.family {
            Family::Anthropic => {
                json!({ "thinking": { "type": "enabled", "budgetTokens": tokens } })
            }
            Family::Bedrock => {
                json!({ "reasoningConfig": { "type": "enabled", "budgetTokens": tokens } })
            }
            Family::Google => {
                json!({ "thinkingConfig": { "includeThoughts": true, "thinkingBudget": tokens } })
            }
            _ => return None,
        };
        Some(members(options))
    }

    fn claude(&self, id: &str) -> Variants {
        match claude_version(id) {
            Some(version) if version >= (4, 7) => {
                self.efforts(&["low", "medium", "high", "xhigh", "max"])
            }
            Some((4, 6)) => self.efforts(&["low", "medium", "high", "max"]),
            _ => {
                // A budget must leave room for the answer.
                let Some(room) = self.output.checked_sub(1).filter(|room| *room > 1) else {
                    return Variants::new();
                };
                let high = HIGH_BUDGET.min((self.output / 2).saturating_sub(1));
                self.budgets(high, MAX_BUDGET.min(room))
            }
        }
    }

    fn gemini(&self, id: &str) -> Variants {
        const FLASH_BUDGET: u64 = 24_576;
        const PRO_BUDGET: u64 = 32_768;
        let pro = id.contains("pro");
        if id.contains("2.5") {
            return self.budgets(HIGH_BUDGET, if pro { PRO_BUDGET } else { FLASH_BUDGET });
        }
        let newer = id.contains("gemma") || version_after(id, "gemini-").is_some_and(|v| v.0 >= 3);
        match (newer, pro, id.contains("flash"), id.contains("image")) {
            (false, ..) => Variants::new(),
            (_, true, _, true) => self.efforts(&["high"]),
            (_, true, ..) => self.efforts(&["low", "high"]),
            (_, _, true, false) => self.efforts(&["minimal", "low", "medium", "high"]),
            (_, _, true, true) => self.efforts(&["minimal", "high"]),
            _ if id.contains("gemma") => self.efforts(&["minimal", "high"]),
            _ => Variants::new(),
        }
    }

    fn copilot(&self, id: &str) -> Variants {
        if id.contains("gemini") || id.contains("claude") {
            return Variants::new();
        }
        let extra = ["5.1-codex-max", "5.2", "5.3"];
        if extra.iter().any(|name| id.contains(name)) {
            self.efforts(&["low", "medium", "high", "xhigh"])
        } else {
            self.efforts(&["low", "medium", "high"])
        }
    }
}

/// The efforts that a model of OpenAI supports.
fn openai(id: &str, released_at: Millis) -> Vec<&'static str> {
    let version = gpt_version(id);
    let has = |part: &str| id.contains(part);
    if has("deep-research") {
        return vec!["medium"];
    }
    if has("codex") {
        return match version {
            Some(version) if version >= (5, 3) => vec!["none", "low", "medium", "high", "xhigh"],
            Some(version) if version >= (5, 2) || has("codex-max") => {
                vec!["low", "medium", "high", "xhigh"]
            }
            _ => vec!["low", "medium", "high"],
        };
    }
    match version {
        Some((5, 0)) if has("-chat") => vec![],
        Some((5, _)) if has("-chat") => vec!["medium"],
        Some((5, 0)) if has("-pro") => vec!["high"],
        Some((5, _)) if has("-pro") => vec!["medium", "high", "xhigh"],
        Some((5, 0)) => vec!["minimal", "low", "medium", "high"],
        Some((5, 1)) => vec!["none", "low", "medium", "high"],
        Some((5, _)) => vec!["none", "low", "medium", "high", "xhigh"],
        _ => {
            let since = |date| released(date).is_some_and(|date| released_at >= date);
            let mut efforts = vec!["low", "medium", "high"];
            if since("2025-11-13") {
                efforts.insert(0, "none");
            }
            if since("2025-12-04") {
                efforts.push("xhigh");
            }
            efforts
        }
    }
}

/// The version in the name of a Claude model, for example `claude-opus-4-5` or `claude-3-7-sonnet`.
fn claude_version(id: &str) -> Option<(u32, u32)> {
    ["claude-opus-", "claude-sonnet-", "claude-haiku-", "claude-"]
        .iter()
        .find_map(|prefix| version_after(id, prefix))
}

fn members(value: Value) -> Members {
    match value {
        Value::Object(members) => Members(members),
        _ => Members::default(),
    }
}

#[cfg(test)]
mod tests;
