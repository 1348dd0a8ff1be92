//! The plan of one generation, which is one process of the load: its work and its death.

use serde::{Deserialize, Serialize};

use crate::point;
use crate::random::Random;

/// The plan of one generation on a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Determines all choices of the load.
    pub seed: u64,
    /// Number of earlier generations of the file.
    pub generation: u32,
    /// True if the host resumes the sessions that an earlier process left interrupted.
    pub resume: bool,
    /// The end of the generation.
    pub death: Death,
    /// True if the check works on the file itself, so that the next generation finds all work
    /// settled. Otherwise the check works on a copy, and the next generation finds the open work of
    /// this one.
    pub settles: bool,
}

/// The end of a generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Death {
    /// It kills itself at a fail point.
    Point {
        /// The fail point.
        point: String,
        /// The pass at which it dies, counted from 1.
        nth: u32,
    },
    /// It is killed from outside at an arbitrary instant.
    Instant {
        /// Number of lines before the kill.
        lines: u32,
        /// Delay after those lines in microseconds.
        micros: u64,
    },
    /// It is not killed.
    None,
}

impl Plan {
    /// The plan of a generation that dies at a fail point.
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

    /// True if the process must die while the host resumes interrupted sessions. Callers that start
    /// earlier would prevent that.
    #[must_use]
    pub fn dies_recovering(&self) -> bool {
        matches!(&self.death, Death::Point { point, .. } if point.ends_with(":retried"))
    }

    /// A random plan for a generation. Two thirds die at an arbitrary instant, the others at a
    /// random fail point.
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

/// A random pass that every load reaches.
fn nth(point: &str, random: &mut Random) -> u32 {
    match point {
        "checkpoint" => 1,
        point if point.ends_with(":retried") => 1,
        _ => 1 + random.below(3) as u32,
    }
}
