//! Kills from outside at arbitrary instants.

use std::path::Path;

use opencode_tests::life::Life;
use opencode_tests::plan::{Death, Plan};
use opencode_tests::random::Random;

use super::{PROGRAM, folder, kept};

/// Number of files. Each file gets several processes.
const FILES: u64 = 4;
const GENERATIONS: u32 = 5;

#[tokio::test]
async fn any_instant() {
    let mut random = Random::new(6000);
    for _ in 0..FILES {
        let folder = folder();
        let mut life = Life::new(folder.path(), Path::new(PROGRAM)).unwrap();
        for generation in 0..GENERATIONS {
            // The first process dies while it creates the file.
            let most = if generation == 0 { 1 } else { 200 };
            let plan = Plan {
                seed: random.number(),
                generation,
                resume: generation % 2 == 1,
                settles: generation % 3 == 1,
                death: Death::Instant {
                    lines: 1 + random.below(most) as u32,
                    micros: random.below(4000) as u64,
                },
            };
            let (_, findings) = life.generation(&plan).await.unwrap();
            assert!(findings.is_empty(), "{findings:#?}{}", kept(folder));
        }
    }
}
