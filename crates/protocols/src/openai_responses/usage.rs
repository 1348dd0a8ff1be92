//! Token counts.

use opencode_llm::canonical::json::{self, count};
use opencode_llm::canonical::usage::Usage;
use serde_json::Value;

use super::NAMESPACE;

/// Parses a usage object. Input includes cached input, and output includes reasoning.
pub(super) fn parse(report: Value) -> Option<Usage> {
    let members = json::report(&report)?;
    let within = |object: &str, name: &str| count(members.get(object)?.get(name));
    let input = count(members.get("input_tokens"));
    let read = within("input_tokens_details", "cached_tokens");
    let write = within("input_tokens_details", "cache_write_tokens");
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    Some(Usage {
        input_tokens: input,
        output_tokens: count(members.get("output_tokens")),
        non_cached_input_tokens: input.map(|all| all.saturating_sub(cached)),
        cache_read_input_tokens: read,
        cache_write_input_tokens: write,
        reasoning_tokens: within("output_tokens_details", "reasoning_tokens"),
        total_tokens: count(members.get("total_tokens")),
        cost: None,
        provider_metadata: Some(Box::new(
            [(NAMESPACE.to_owned(), report)].into_iter().collect(),
        )),
    })
}
