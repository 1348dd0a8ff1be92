//! Token counts.

use crate::canonical::event::ProviderMetadata;

/// Token counts as reported by a provider. Input includes the cached part and output includes reasoning,
/// regardless of the convention of the provider. A count that the provider did not report is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// All input tokens.
    pub input_tokens: Option<u64>,
    /// All output tokens.
    pub output_tokens: Option<u64>,
    /// Input that was neither read from nor written to a cache.
    pub non_cached_input_tokens: Option<u64>,
    /// Input read from a cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Input written to a cache.
    pub cache_write_input_tokens: Option<u64>,
    /// Output spent on reasoning.
    pub reasoning_tokens: Option<u64>,
    /// All tokens, as the provider adds them up.
    pub total_tokens: Option<u64>,
    /// Cost of the request in US dollars, if the provider reports it.
    pub cost: Option<f64>,
    /// The raw report, under the namespace of the adapter.
    pub provider_metadata: Option<ProviderMetadata>,
}

/// The five disjoint counts that are stored with a step. Their sum is the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Input outside any cache.
    pub input: u64,
    /// Visible output.
    pub output: u64,
    /// Reasoning.
    pub reasoning: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// Input written to a cache.
    pub cache_write: u64,
}

impl Usage {
    /// Returns the disjoint counts. Negative results of inconsistent reports become zero.
    #[must_use]
    pub fn counts(&self) -> TokenCounts {
        let cache_read = self.cache_read_input_tokens.unwrap_or(0);
        let cache_write = self.cache_write_input_tokens.unwrap_or(0);
        let reasoning = self.reasoning_tokens.unwrap_or(0);
        let input = self.non_cached_input_tokens.unwrap_or_else(|| {
            let cached = cache_read.saturating_add(cache_write);
            self.input_tokens.unwrap_or(0).saturating_sub(cached)
        });
        TokenCounts {
            input,
            output: self.output_tokens.unwrap_or(0).saturating_sub(reasoning),
            reasoning,
            cache_read,
            cache_write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_disjoint_and_never_negative() {
        let full = Usage {
            input_tokens: Some(100),
            output_tokens: Some(30),
            cache_read_input_tokens: Some(60),
            cache_write_input_tokens: Some(10),
            reasoning_tokens: Some(12),
            ..Usage::default()
        };
        assert_eq!(
            full.counts(),
            TokenCounts {
                input: 30,
                output: 18,
                reasoning: 12,
                cache_read: 60,
                cache_write: 10
            }
        );
        let absurd = Usage {
            input_tokens: Some(5),
            cache_read_input_tokens: Some(u64::MAX),
            cache_write_input_tokens: Some(9),
            reasoning_tokens: Some(4),
            ..Usage::default()
        };
        assert_eq!(absurd.counts().input, 0);
        assert_eq!(absurd.counts().output, 0);
        assert_eq!(Usage::default().counts(), TokenCounts::default());
    }
}
