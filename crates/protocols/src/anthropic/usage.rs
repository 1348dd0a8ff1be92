//! Token counts.

use opencode_llm::canonical::json::count;
use opencode_llm::canonical::request::JsonMap;
use opencode_llm::canonical::usage::Usage;
use serde_json::Value;
use serde_json::value::RawValue;

use super::metadata;
use crate::loose::object;

/// The counts that this crate uses.
const COUNTS: [&str; 4] = [
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
];

/// The counts of one reply. They arrive in two reports; values of the later one win.
#[derive(Default)]
pub(super) struct Counts(JsonMap);

impl Counts {
    /// Adds the counts of a report.
    pub(super) fn take(&mut self, report: Option<&RawValue>) {
        let report = report.and_then(|report| serde_json::from_str(report.get()).ok());
        let report: Option<Value> = report.and_then(object);
        let Some(Value::Object(report)) = report else {
            return;
        };
        // A value that is no count must not replace one.
        let reported = report.into_iter().filter(|(name, value)| {
            !value.is_null() && (!COUNTS.contains(&&**name) || count(Some(value)).is_some())
        });
        self.0.extend(reported);
    }

    /// Returns the usage. The server counts cached input separately from other input.
    pub(super) fn usage(self) -> Option<Usage> {
        let report = self.0;
        if report.is_empty() {
            return None;
        }
        let number = |name: &str| count(report.get(name));
        let plain = number("input_tokens");
        let read = number("cache_read_input_tokens");
        let write = number("cache_creation_input_tokens");
        let parts = [plain, read, write];
        let input = parts.iter().any(Option::is_some).then(|| {
            parts
                .iter()
                .flatten()
                .fold(0, |sum: u64, part| sum.saturating_add(*part))
        });
        let details = report.get("output_tokens_details");
        Some(Usage {
            input_tokens: input,
            output_tokens: number("output_tokens"),
            non_cached_input_tokens: plain,
            cache_read_input_tokens: read,
            cache_write_input_tokens: write,
            reasoning_tokens: count(details.and_then(|details| details.get("thinking_tokens"))),
            total_tokens: None,
            cost: None,
            provider_metadata: metadata(report),
        })
    }
}
