//! The usage of a model: tokens by kind, and their cost.

use std::sync::Arc;

use opencode_llm::Usage;
use opencode_location::catalogue::Cost;
use opencode_schema::Record;
use opencode_schema::session::{CacheTokens, RequestUsage, Tokens};
use opencode_store::USAGE;

use super::Budgets;

/// Returns the tokens that a provider reported. Without a report, all counts are zero.
pub(crate) fn tokens_of(usage: Option<&Usage>) -> Tokens {
    let counts = usage.map(Usage::counts).unwrap_or_default();
    Tokens {
        input: counts.input,
        output: counts.output,
        reasoning: counts.reasoning,
        cache: CacheTokens {
            read: counts.cache_read,
            write: counts.cache_write,
        },
    }
}

/// Counts the requests for a summary or a title. Each also counts towards the budget of the host.
pub(crate) struct UsageMeter {
    budgets: Arc<Budgets>,
    cost: Cost,
    total: Option<RequestUsage>,
}

impl UsageMeter {
    pub(crate) const fn new(budgets: Arc<Budgets>, cost: Cost) -> Self {
        Self {
            budgets,
            cost,
            total: None,
        }
    }

    /// Adds the usage of a request, if the provider reported it.
    pub(crate) fn add(&mut self, usage: Option<&Usage>) {
        let Some(reported) = usage else {
            return;
        };
        let tokens = tokens_of(usage);
        let cost = reported.cost.unwrap_or_else(|| self.cost.of(&tokens));
        self.budgets.add_usage(&tokens, cost);
        let total = self.total.get_or_insert_default();
        total.cost += cost;
        let sums = [
            (&mut total.tokens.input, tokens.input),
            (&mut total.tokens.output, tokens.output),
            (&mut total.tokens.reasoning, tokens.reasoning),
            (&mut total.tokens.cache.read, tokens.cache.read),
            (&mut total.tokens.cache.write, tokens.cache.write),
        ];
        for (sum, count) in sums {
            *sum = sum.saturating_add(count);
        }
    }

    /// The metadata of the event with the result of the requests. `None` if the provider reported no usage.
    pub(crate) fn metadata(&self) -> Option<Record> {
        let usage = serde_json::to_value(self.total?).ok()?;
        Some(Record::from_iter([(USAGE.to_owned(), usage)]))
    }
}
