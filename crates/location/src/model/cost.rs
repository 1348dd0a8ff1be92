//! The cost of a Provider Turn.

use std::sync::Arc;

use opencode_schema::session::Tokens;

/// Prices per million tokens, in the currency of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CostRow {
    /// Context size in tokens above which this row applies. Absent in the basic row.
    pub tier: Option<u64>,
    /// Input that was not served from a cache.
    pub input: f64,
    /// Output, visible or reasoning.
    pub output: f64,
    /// Input read from the cache of the provider.
    pub cache_read: f64,
    /// Input written to the cache of the provider.
    pub cache_write: f64,
}

/// The price list of a model. Empty if the prices are unknown; every cost is then 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost(Arc<[CostRow]>);

impl Cost {
    /// Creates a price list with these rows.
    pub fn new(rows: impl Into<Arc<[CostRow]>>) -> Self {
        Self(rows.into())
    }

    /// The rows, in the order of the catalogue.
    pub fn rows(&self) -> &[CostRow] {
        &self.0
    }

    /// Cost of these tokens, in the unit of the currency.
    ///
    /// ```
    /// # use opencode_location::catalogue::{Cost, CostRow};
    /// # use opencode_schema::session::Tokens;
    /// let cost = Cost::new([CostRow { input: 3.0, output: 15.0, ..CostRow::default() }]);
    /// let tokens = Tokens { input: 1000, output: 100, ..Tokens::default() };
    /// assert_eq!(cost.of(&tokens), 0.0045);
    /// ```
    pub fn of(&self, tokens: &Tokens) -> f64 {
        let Some(row) = self.row(tokens) else {
            return 0.0;
        };
        let sum = [
            (tokens.input, row.input),
            (tokens.output, row.output),
            (tokens.reasoning, row.output),
            (tokens.cache.read, row.cache_read),
            (tokens.cache.write, row.cache_write),
        ]
        .into_iter()
        .map(|(count, price)| u128::from(count).saturating_mul(units(price)))
        .fold(0, u128::saturating_add);
        sum as f64 / (UNITS * TOKENS_PER_PRICE)
    }

    /// The row of the largest tier that the context exceeds, or else the basic row.
    fn row(&self, tokens: &Tokens) -> Option<&CostRow> {
        let context = tokens
            .input
            .saturating_add(tokens.cache.read)
            .saturating_add(tokens.cache.write);
        self.0
            .iter()
            .filter(|row| row.tier.is_some_and(|size| size < context))
            .max_by_key(|row| row.tier)
            .or_else(|| self.0.iter().find(|row| row.tier.is_none()))
    }
}

/// Prices apply to one million tokens.
const TOKENS_PER_PRICE: f64 = 1e6;

/// Prices are summed as whole hundred-millionths. The result is then the exact decimal number, without
/// binary rounding errors.
const UNITS: f64 = 1e8;

/// A price in units. Negative values and NaN count as 0; the conversion saturates.
fn units(price: f64) -> u128 {
    (price * UNITS).round() as u128
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencode_schema::session::CacheTokens;

    fn tokens(input: u64, output: u64, reasoning: u64, read: u64, write: u64) -> Tokens {
        Tokens {
            input,
            output,
            reasoning,
            cache: CacheTokens { read, write },
        }
    }

    const BASIC: CostRow = CostRow {
        tier: None,
        input: 3.0,
        output: 15.0,
        cache_read: 0.3,
        cache_write: 3.75,
    };

    fn tier(size: u64, input: f64) -> CostRow {
        CostRow {
            tier: Some(size),
            input,
            ..CostRow::default()
        }
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let cost = Cost::new([BASIC]);
        for (counts, expected) in [
            (tokens(100, 25, 0, 60, 40), 0.000843),
            (tokens(100, 20, 5, 60, 40), 0.000843),
            (tokens(0, 0, 0, 0, 0), 0.0),
            (tokens(1, 0, 0, 0, 0), 0.000003),
            (tokens(0, 0, 0, 1, 0), 0.0000003),
            (tokens(1_000_000, 1_000_000, 0, 0, 0), 18.0),
            (tokens(123_456, 7_890, 1_234, 55_555, 44_444), 0.6905595),
        ] {
            assert_eq!(cost.of(&counts), expected, "{counts:?}");
        }
    }

    #[test]
    fn decimal_prices_give_decimal_costs() {
        let row = |input| {
            Cost::new([CostRow {
                input,
                ..CostRow::default()
            }])
        };
        assert_eq!(row(0.1).of(&tokens(3_000_000, 0, 0, 0, 0)), 0.3);
        assert_eq!(row(0.14).of(&tokens(7, 0, 0, 0, 0)), 0.000_000_98);
        assert_eq!(row(1.1).of(&tokens(1_100_000, 0, 0, 0, 0)), 1.21);
    }

    #[test]
    fn the_largest_passed_tier_decides() {
        let cost = Cost::new([tier(200_000, 6.0), BASIC, tier(500_000, 12.0)]);
        for (context, price) in [
            (1, 3.0),
            (200_000, 3.0),
            (200_001, 6.0),
            (500_000, 6.0),
            (500_001, 12.0),
        ] {
            let row = cost.row(&tokens(context, 0, 0, 0, 0)).unwrap();
            assert_eq!(row.input, price, "{context}");
        }
        let read = cost.row(&tokens(100_000, 0, 0, 100_000, 1)).unwrap();
        assert_eq!(read.input, 6.0, "cached input is part of the context");
    }

    #[test]
    fn a_model_without_prices_costs_nothing() {
        assert_eq!(Cost::default().of(&tokens(1, 1, 1, 1, 1)), 0.0);
        let only_tier = Cost::new([tier(10, 6.0)]);
        assert_eq!(only_tier.of(&tokens(10, 0, 0, 0, 0)), 0.0);
    }

    #[test]
    fn invalid_prices_and_huge_counts_give_finite_costs() {
        for price in [-1.0, f64::NAN, f64::NEG_INFINITY] {
            let row = CostRow {
                input: price,
                ..BASIC
            };
            assert_eq!(Cost::new([row]).of(&tokens(5, 0, 0, 0, 0)), 0.0);
        }
        let row = CostRow {
            input: f64::MAX,
            ..BASIC
        };
        assert!(
            Cost::new([row])
                .of(&tokens(u64::MAX, u64::MAX, 0, u64::MAX, 0))
                .is_finite()
        );
    }
}
