//! Every fail point once. The points of a stage share a few files, so that most processes find what
//! an earlier one left.

use std::path::Path;

use opencode_tests::life::{End, Life};
use opencode_tests::plan::Plan;
use opencode_tests::point;

use super::{PROGRAM, folder, kept};

/// Generations of one file.
const GENERATIONS: usize = 7;

/// Dies once at each of these points.
async fn die_at(seed: u64, points: impl Iterator<Item = String>) {
    let points: Vec<_> = points.collect();
    for (file, points) in points.chunks(GENERATIONS).enumerate() {
        let folder = folder();
        let mut life = Life::new(folder.path(), Path::new(PROGRAM)).unwrap();
        for (generation, point) in points.iter().enumerate() {
            // Only what was left in the middle is gone on with.
            let next = points.get(generation + 1);
            let leaves = next.is_some_and(|next| next.ends_with(":retried"));
            let seed = seed + file as u64 * 100 + generation as u64;
            let plan = Plan::at(seed, generation as u32, point, 1);
            let plan = Plan {
                settles: plan.settles && !leaves,
                ..plan
            };
            let (end, findings) = life.generation(&plan).await.unwrap();
            let session = life.ledger.died.as_ref().map(|(died, _)| died.as_str());
            if end != End::Killed || session != Some(point) || !findings.is_empty() {
                panic!(
                    "{point}: {end:?} at {session:?} {findings:#?}{}",
                    kept(folder)
                );
            }
        }
    }
}

#[tokio::test]
async fn single_points() {
    die_at(1000, point::SINGLE.iter().map(ToString::to_string)).await;
}

#[tokio::test]
async fn an_entry_is_written_and_not_committed() {
    die_at(2000, point::of_stage("appended")).await;
}

#[tokio::test]
async fn a_commit_is_about_to_happen() {
    die_at(3000, point::of_stage("before-commit")).await;
}

#[tokio::test]
async fn a_commit_has_happened_and_nobody_knows() {
    die_at(4000, point::of_stage("after-commit")).await;
}

#[tokio::test]
async fn a_commit_has_happened_and_everybody_knows() {
    die_at(5000, point::of_stage("told")).await;
}
