//! Token counts in the formats of the various servers.

use opencode_llm::canonical::json::{count, report};
use opencode_llm::canonical::model::CompatibleServer;
use opencode_llm::canonical::usage::Usage;
use serde_json::{Map, Value};

use super::NAMESPACE;

/// Parses a usage object. All servers include cached input in `prompt_tokens` but report it in different members.
pub(super) fn parse(raw: &str, server: Option<CompatibleServer>) -> Option<Usage> {
    let raw: Value = serde_json::from_str(raw).ok()?;
    let report = report(&raw)?;
    let prompt_details = report.get("prompt_tokens_details");
    let prompt = count(report.get("prompt_tokens"));
    let completion = count(report.get("completion_tokens"));
    let total = count(report.get("total_tokens"));
    let read = member(prompt_details, "cached_tokens")
        .or_else(|| count(report.get("prompt_cache_hit_tokens")))
        .or_else(|| count(report.get("cached_tokens")));
    let write = member(prompt_details, "cache_write_tokens");
    let reasoning = member(report.get("completion_tokens_details"), "reasoning_tokens");
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    Some(Usage {
        input_tokens: prompt,
        output_tokens: completion.map(|visible| output(prompt, visible, reasoning, total)),
        non_cached_input_tokens: prompt.map(|all| all.saturating_sub(cached)),
        cache_read_input_tokens: read,
        cache_write_input_tokens: write,
        reasoning_tokens: reasoning,
        total_tokens: total,
        // Other servers may report a cost in a currency of their own.
        cost: reported_cost(report).filter(|_| server == Some(CompatibleServer::OpenRouter)),
        provider_metadata: Some(Box::new(Map::from_iter([(NAMESPACE.to_owned(), raw)]))),
    })
}

fn reported_cost(report: &Map<String, Value>) -> Option<f64> {
    let cost = report.get("cost")?.as_f64()?;
    (cost.is_finite() && cost >= 0.0).then_some(cost)
}

/// Returns the output tokens. Most servers include reasoning in the completion. If the total shows
/// that a server counts it separately, it is added.
fn output(prompt: Option<u64>, completion: u64, reasoning: Option<u64>, total: Option<u64>) -> u64 {
    let with_reasoning = completion.saturating_add(reasoning.unwrap_or(0));
    let apart = total == Some(prompt.unwrap_or(0).saturating_add(with_reasoning));
    if apart { with_reasoning } else { completion }
}

fn member(object: Option<&Value>, key: &str) -> Option<u64> {
    count(object?.get(key))
}

#[cfg(test)]
mod tests {
    use opencode_llm::canonical::usage::TokenCounts;
    use serde_json::json;

    use super::*;

    #[test]
    fn all_dialects_give_the_same_counts() {
        let counts = |input, output, reasoning, cache_read, cache_write| TokenCounts {
            input,
            output,
            reasoning,
            cache_read,
            cache_write,
        };
        let rows = [
            (
                json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}),
                counts(100, 10, 0, 0, 0),
            ),
            (
                json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
                    "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                    "completion_tokens_details": {"reasoning_tokens": 4}}),
                counts(10, 6, 4, 60, 30),
            ),
            (
                json!({"prompt_tokens": 100, "completion_tokens": 10, "prompt_cache_hit_tokens": 60}),
                counts(40, 10, 0, 60, 0),
            ),
            (
                json!({"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 60}),
                counts(40, 10, 0, 60, 0),
            ),
            (
                json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 117,
                    "completion_tokens_details": {"reasoning_tokens": 7}}),
                counts(100, 10, 7, 0, 0),
            ),
            (
                json!({"prompt_tokens": 100.0, "completion_tokens": null, "total_tokens": -1,
                    "prompt_tokens_details": null, "completion_tokens_details": {"reasoning_tokens": "x"}}),
                counts(100, 0, 0, 0, 0),
            ),
            (
                json!({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}}),
                counts(0, 0, 0, 60, 0),
            ),
        ];
        for (raw, expected) in rows {
            let usage = parse(&raw.to_string(), None).unwrap();
            assert_eq!(usage.counts(), expected, "{raw}");
            assert_eq!(usage.provider_metadata.unwrap()["openai"], raw);
        }
    }

    #[test]
    fn only_an_object_is_a_usage_report() {
        for raw in ["null", "5", "[]", "\"x\""] {
            assert_eq!(parse(raw, None), None);
        }
    }

    #[test]
    fn openrouter_reports_a_cost() {
        let raw = r#"{"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.25}"#;
        let cost = |raw: &str, server| parse(raw, server).unwrap().cost;
        assert_eq!(cost(raw, Some(CompatibleServer::OpenRouter)), Some(0.25));
        assert_eq!(cost(raw, None), None);
        let wrong = r#"{"prompt_tokens": 1, "cost": -1}"#;
        assert_eq!(cost(wrong, Some(CompatibleServer::OpenRouter)), None);
    }
}
