//! Dies once at every fail point. The points of a stage share a few files, so most processes find
//! the state that an earlier process left.

use std::path::Path;

use opencode_tests::life::{End, Life};
use opencode_tests::plan::Plan;
use opencode_tests::point;

use super::{PROGRAM, folder, kept};

/// Number of generations per file.
const GENERATIONS: usize = 7;

/// Dies once at each of these points.
async fn die_at(seed: u64, points: impl Iterator<Item = String>) {
    let points: Vec<_> = points.collect();
    for points in points.chunks(GENERATIONS) {
        let folder = folder();
        let mut life = Life::new(folder.path(), Path::new(PROGRAM)).unwrap();
        let mut generation = 0;
        for point in points {
            // A host resumes only interrupted sessions. The first request of a process always
            // belongs to a prompt. If the process dies there, the prompt has no answer.
            let before = point.ends_with(":retried").then_some(point::SENDING);
            for point in before.into_iter().chain([point.as_str()]) {
                let plan = Plan::at(seed + u64::from(generation), generation, point, 1);
                let plan = Plan {
                    settles: plan.settles && point != point::SENDING,
                    ..plan
                };
                let (end, findings) = life.generation(&plan).await.unwrap();
                let died = life.ledger.died.as_ref().map(|(died, _)| died.as_str());
                if end != End::Killed || died != Some(point) || !findings.is_empty() {
                    panic!("{point}: {end:?} at {died:?} {findings:#?}{}", kept(folder));
                }
                generation += 1;
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
async fn a_commit_has_happened_and_is_not_announced() {
    die_at(4000, point::of_stage("after-commit")).await;
}

#[tokio::test]
async fn a_commit_has_happened_and_is_announced() {
    die_at(5000, point::of_stage("told")).await;
}
