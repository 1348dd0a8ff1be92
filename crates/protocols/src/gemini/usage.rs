//! Token counts.

use opencode_llm::canonical::json::{count, report};
use opencode_llm::canonical::usage::Usage;
use serde_json::{Map, Value};

use super::NAMESPACE;

/// Parses a usage report. The prompt includes the cached part, and thoughts are beside the answer.
pub(super) fn parse(raw: &str) -> Option<Usage> {
    let raw: Value = serde_json::from_str(raw).ok()?;
    let report = report(&raw)?;
    let number = |name: &str| count(report.get(name));
    let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    };
    let input = sum(
        number("promptTokenCount"),
        number("toolUsePromptTokenCount"),
    );
    let (read, reasoning) = (
        number("cachedContentTokenCount"),
        number("thoughtsTokenCount"),
    );
    Some(Usage {
        input_tokens: input,
        output_tokens: sum(number("candidatesTokenCount"), reasoning),
        non_cached_input_tokens: input.map(|all| all.saturating_sub(read.unwrap_or(0))),
        cache_read_input_tokens: read,
        cache_write_input_tokens: None,
        reasoning_tokens: reasoning,
        total_tokens: number("totalTokenCount"),
        cost: None,
        provider_metadata: Some(Box::new(Map::from_iter([(NAMESPACE.to_owned(), raw)]))),
    })
}

#[cfg(test)]
mod tests {
    use opencode_llm::canonical::usage::TokenCounts;
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_disjoint() {
        let rows = [
            (
                json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 10,
                    "thoughtsTokenCount": 5, "toolUsePromptTokenCount": 7, "totalTokenCount": 122}),
                (47, 10, 5, 60),
            ),
            (json!({"promptTokenCount": 3}), (3, 0, 0, 0)),
            (
                json!({"promptTokenCount": null, "candidatesTokenCount": -1}),
                (0, 0, 0, 0),
            ),
            (
                json!({"cachedContentTokenCount": 9, "promptTokenCount": 3}),
                (0, 0, 0, 9),
            ),
        ];
        for (raw, (input, output, reasoning, cache_read)) in rows {
            let expected = TokenCounts {
                input,
                output,
                reasoning,
                cache_read,
                cache_write: 0,
            };
            assert_eq!(parse(&raw.to_string()).unwrap().counts(), expected, "{raw}");
        }
        assert_eq!(parse("5"), None);
    }
}
