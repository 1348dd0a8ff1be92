//! What one generation, that is one process of the load, is to do and how it is to die.

use serde::{Deserialize, Serialize};

use crate::point;
use crate::random::Random;

/// One generation on a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Decides everything that the load does.
    pub seed: u64,
    /// How many generations the file has seen before.
    pub generation: u32,
    /// Whether the host goes on by itself with what a former process left.
    pub resume: bool,
    /// Its end.
    pub death: Death,
    /// Whether the check works on the file itself, so that the next generation finds everything
    /// settled. Otherwise it works on a copy, and the next one finds what this one left.
    pub settles: bool,
}

/// How a generation ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Death {
    /// It kills itself at a fail point.
    Point {
        /// Which.
        point: String,
        /// The how many-eth time it is passed, from 1.
        nth: u32,
    },
    /// It is killed from outside at an instant that has no name.
    Instant {
        /// After so many lines.
        lines: u32,
        /// And so many microseconds.
        micros: u64,
    },
    /// It is left to come to its end.
    None,
}

impl Plan {
    /// The plan of a generation that dies at a point.
    #[must_use]
    pub fn at(seed: u64, generation: u32, point: &str, nth: u32) -> Self {
        let point = point.to_owned();
        Self {
            seed,
            generation,
            resume: point.ends_with(":retried"),
            death: Death::Point { point, nth },
            settles: generation % 2 == 1,
        }
    }

    /// Whether it dies while the host goes on with what a former process left, which callers that
    /// are quicker would keep it from.
    #[must_use]
    pub fn dies_recovering(&self) -> bool {
        matches!(&self.death, Death::Point { point, .. } if point.ends_with(":retried"))
    }

    /// The plan that a seed has for a generation: most of them die at any instant, the others at any
    /// point.
    #[must_use]
    pub fn any(seed: u64, generation: u32) -> Self {
        let mut random = Random::part(seed, u64::from(generation));
        let seed = random.number();
        if random.below(3) > 0 {
            // Some die while they open the file.
            let most = if random.below(8) == 0 { 1 } else { 200 };
            return Self {
                seed,
                generation,
                resume: random.below(4) == 0,
                death: Death::Instant {
                    lines: 1 + random.below(most) as u32,
                    micros: random.below(4000) as u64,
                },
                settles: random.below(2) == 0,
            };
        }
        let points: Vec<_> = point::all().collect();
        let point = random.choose(&points);
        Self::at(seed, generation, point, nth(point, &mut random))
    }
}

/// Any time at which every load passes a point.
fn nth(point: &str, random: &mut Random) -> u32 {
    match point {
        "checkpoint" => 1,
        point if point.ends_with(":retried") => 1,
        _ => 1 + random.below(3) as u32,
    }
}
