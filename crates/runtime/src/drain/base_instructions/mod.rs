//! Base instructions: rules of behaviour for agents that have no text of their own.
//!
//! Models of different families need different instructions, so the text depends on the family of the
//! selected model. It is chosen for each Provider Turn together with the model and is not part of the
//! Baseline System Context.

use opencode_llm::ResolvedModel;

/// Models that need the same instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Anthropic,
    OpenAi,
    Google,
    Other,
}

/// Words that identify a family. The name of the model is checked first, because many providers
/// offer models of other companies.
struct Row {
    family: Family,
    /// Words in the name of a model.
    models: &'static [&'static str],
    /// Words in the name of the provider.
    providers: &'static [&'static str],
}

const FAMILIES: [Row; 3] = [
    Row {
        family: Family::Anthropic,
        models: &["claude"],
        providers: &["anthropic"],
    },
    Row {
        family: Family::OpenAi,
        models: &["gpt", "codex", "o1", "o3", "o4"],
        providers: &["openai", "azure"],
    },
    Row {
        family: Family::Google,
        models: &["gemini", "gemma"],
        providers: &["google", "vertex"],
    },
];

/// Returns the base instructions for a model.
pub(super) fn base_instructions(model: &ResolvedModel) -> &'static str {
    match family(model) {
        Family::Anthropic => concat!(
            include_str!("common.md"),
            "\n",
            include_str!("anthropic.md")
        ),
        Family::OpenAi => concat!(include_str!("common.md"), "\n", include_str!("openai.md")),
        Family::Google => concat!(include_str!("common.md"), "\n", include_str!("google.md")),
        Family::Other => include_str!("common.md"),
    }
}

fn family(model: &ResolvedModel) -> Family {
    let named = |name: &str, words: fn(&Row) -> &[&str]| {
        let name = name.to_lowercase();
        let found = FAMILIES
            .iter()
            .find(|row| words(row).iter().any(|word| has_word(&name, word)));
        found.map(|row| row.family)
    };
    named(&model.model_id, |row| row.models)
        .or_else(|| named(&model.id, |row| row.models))
        .or_else(|| named(&model.provider_id, |row| row.providers))
        .unwrap_or(Family::Other)
}

/// True if a word occurs in a name and does not begin in the middle of another word: `o3` is in
/// `openai/o3-mini` but not in `foo3`.
fn has_word(name: &str, word: &str) -> bool {
    let begins = |at: usize| !name[..at].ends_with(|before: char| before.is_alphanumeric());
    name.match_indices(word).any(|(at, _)| begins(at))
}

#[cfg(test)]
mod tests {
    use opencode_llm::ProtocolId;

    use super::*;

    fn family_of(provider: &str, id: &str, wire: &str) -> Family {
        let mut model = ResolvedModel::new(provider, wire, ProtocolId::OpenAiChat, "http://x");
        model.model_id = id.to_owned();
        family(&model)
    }

    #[test]
    fn the_model_and_then_the_provider_determine_the_family() {
        for (provider, id, wire, expected) in [
            ("anthropic", "claude-sonnet-4-5", "", Family::Anthropic),
            (
                "openrouter",
                "anthropic/claude-opus-4-5",
                "",
                Family::Anthropic,
            ),
            (
                "amazon-bedrock",
                "eu.anthropic.Claude-Haiku",
                "",
                Family::Anthropic,
            ),
            ("openai", "gpt-5.1", "", Family::OpenAi),
            ("azure", "my-deployment", "", Family::OpenAi),
            ("openrouter", "openai/o3-mini", "", Family::OpenAi),
            ("local", "gpt-oss-120b", "", Family::OpenAi),
            ("google", "gemini-3-pro", "", Family::Google),
            ("google-vertex", "tuned", "", Family::Google),
            ("google-vertex", "claude-sonnet-4-5", "", Family::Anthropic),
            // An alias in the catalogue. The name on the wire identifies the model.
            ("proxy", "fast", "gemini-3-flash", Family::Google),
            ("moonshot", "kimi-k2", "kimi-k2", Family::Other),
            ("local", "foo3", "pro1", Family::Other),
            ("mock", "m1", "m1", Family::Other),
        ] {
            assert_eq!(family_of(provider, id, wire), expected, "{provider}/{id}");
        }
    }

    #[test]
    fn every_family_has_the_same_beginning() {
        let common = include_str!("common.md");
        let mut texts = Vec::new();
        for provider in ["anthropic", "openai", "google", "mock"] {
            let model = ResolvedModel::new(provider, "m", ProtocolId::OpenAiChat, "http://x");
            let text = base_instructions(&model);
            assert!(
                text.starts_with(common) && text.ends_with(".\n"),
                "{provider}"
            );
            texts.push(text);
        }
        texts.dedup();
        assert_eq!(texts.len(), 4);
    }
}
