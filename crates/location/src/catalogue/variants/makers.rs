//! The choices that models have by their names. Several vendors offer models of the same makers.

use opencode_schema::clock::Millis;

use super::{Choices, MAX_BUDGET};
use crate::catalogue::versions::{gpt_version, version_after};
use crate::model::released;

/// The smaller of two budgets, in tokens.
const HIGH_BUDGET: u64 = 16_000;

/// The choices of models that differ from the other models of their vendor. Most of these models have none.
pub(super) fn special(id: &str) -> Option<Choices> {
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
        return Some(Choices::Efforts(&["low", "high"]));
    }
    if id.contains("glm-5.2") {
        return Some(Choices::Efforts(&["high", "max"]));
    }
    let without = WITHOUT.iter().any(|name| id.contains(name));
    without.then_some(Choices::NONE)
}

/// Returns the choices of a model of OpenAI.
pub(in crate::catalogue) fn gpt(id: &str, released_at: Millis) -> Choices {
    let has = |part: &str| id.contains(part);
    let since = |date| released(date).is_some_and(|date| released_at >= date);
    let version = gpt_version(id);
    let efforts: &[&str] = if has("deep-research") {
        &["medium"]
    } else if has("codex") {
        match version {
            Some(version) if version >= (5, 3) => &["none", "low", "medium", "high", "xhigh"],
            Some(version) if version >= (5, 2) || has("codex-max") => {
                &["low", "medium", "high", "xhigh"]
            }
            _ => &["low", "medium", "high"],
        }
    } else {
        match version {
            Some((5, 0)) if has("-chat") => &[],
            Some((5, _)) if has("-chat") => &["medium"],
            Some((5, 0)) if has("-pro") => &["high"],
            Some((5, _)) if has("-pro") => &["medium", "high", "xhigh"],
            Some((5, 0)) => &["minimal", "low", "medium", "high"],
            Some((5, 1)) => &["none", "low", "medium", "high"],
            Some((5, _)) => &["none", "low", "medium", "high", "xhigh"],
            _ if since("2025-12-04") => &["none", "low", "medium", "high", "xhigh"],
            _ if since("2025-11-13") => &["none", "low", "medium", "high"],
            _ => &["low", "medium", "high"],
        }
    };
    Choices::Efforts(efforts)
}

/// Returns the choices of a Claude model with this maximum number of output tokens.
pub(in crate::catalogue) fn claude(id: &str, output: u64) -> Choices {
    match claude_version(id) {
        Some(version) if version >= (4, 7) => {
            Choices::Efforts(&["low", "medium", "high", "xhigh", "max"])
        }
        Some((4, 6)) => Choices::Efforts(&["low", "medium", "high", "max"]),
        // A budget must leave room for the answer.
        _ => match output.checked_sub(1) {
            Some(room) if room > 1 => Choices::Budgets {
                high: HIGH_BUDGET.min((output / 2).saturating_sub(1)),
                max: MAX_BUDGET.min(room),
            },
            _ => Choices::NONE,
        },
    }
}

/// The version in the name of a Claude model, for example `claude-opus-4-5` or `claude-3-7-sonnet`.
pub(in crate::catalogue) fn claude_version(id: &str) -> Option<(u32, u32)> {
    ["claude-opus-", "claude-sonnet-", "claude-haiku-", "claude-"]
        .iter()
        .find_map(|prefix| version_after(id, prefix))
}

/// Returns the choices of a model of Google.
pub(in crate::catalogue) fn gemini(id: &str) -> Choices {
    const FLASH_BUDGET: u64 = 24_576;
    const PRO_BUDGET: u64 = 32_768;
    let pro = id.contains("pro");
    if id.contains("2.5") {
        return Choices::Budgets {
            high: HIGH_BUDGET,
            max: if pro { PRO_BUDGET } else { FLASH_BUDGET },
        };
    }
    let newer = id.contains("gemma") || version_after(id, "gemini-").is_some_and(|v| v.0 >= 3);
    let efforts: &[&str] = match (newer, pro, id.contains("flash"), id.contains("image")) {
        (false, ..) => &[],
        (_, true, _, true) => &["high"],
        (_, true, ..) => &["low", "high"],
        (_, _, true, false) => &["minimal", "low", "medium", "high"],
        (_, _, true, true) => &["minimal", "high"],
        _ if id.contains("gemma") => &["minimal", "high"],
        _ => &[],
    };
    Choices::Efforts(efforts)
}
