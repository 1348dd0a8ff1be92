//! Log entries about missing snapshots, without which steps continue.

use std::fs;

use opencode_log::{Entry, Level};
use opencode_testkit::{RecordedLog, Reply};

use super::World;

/// Asserts that an entry is a warning about the session and its Location.
#[track_caller]
fn is_warning(entry: &Entry, world: &World) {
    assert_eq!(entry.level, Level::Warn);
    assert_eq!(entry.target, "opencode::runtime");
    let session = entry.session_id.as_deref();
    assert_eq!(session, Some(world.session.as_str()), "{entry:?}");
    let location = entry.location.as_ref();
    let directory = location.map(|location| location.directory.clone());
    assert_eq!(directory, Some(world.f.project.directory()), "{entry:?}");
}

#[tokio::test]
async fn a_failed_snapshot_is_a_warning_with_the_reason() {
    let mut log = RecordedLog::begin();
    let world = World::open().await;
    fs::write(world.f.project.root().join("data/embedded"), "in the way").unwrap();
    world.turn("change", &[("a.txt", Some("two\n"))]).await;
    let entry = log.find("a step goes on without a snapshot").await;
    is_warning(&entry, &world);
    assert!(entry.fields["error"].is_string(), "{entry:?}");
}

#[tokio::test]
async fn a_snapshot_that_takes_too_long_is_a_warning() {
    let mut log = RecordedLog::begin();
    let world = World::open().await;
    world.turn("change", &[("a.txt", Some("two\n"))]).await;
    world.f.within("both sweeps wait", world.timed(2)).await;
    let held = world.hold_captures();
    let time_passes = async {
        world.timed(3).await;
        world.f.clock.advance(10_000);
    };
    world.f.model.reply(Reply::says("Done."));
    let turn = world.f.ask(&world.session, "again");
    world
        .f
        .within("time_passes", async { tokio::join!(turn, time_passes) })
        .await;
    drop(held);
    let entry = log
        .find("a step does not wait for its snapshot any longer")
        .await;
    is_warning(&entry, &world);
}

#[tokio::test]
async fn a_failed_sweep_is_a_warning() {
    let mut log = RecordedLog::begin();
    let world = World::open().await;
    let embedded = world.f.project.root().join("data/embedded");
    fs::create_dir_all(&embedded).unwrap();
    fs::write(embedded.join("snapshot"), "in the way").unwrap();
    world.f.within("both sweeps wait", world.timed(2)).await;
    world.f.clock.advance(60_000);
    let entry = log.find("the snapshots are not swept").await;
    assert_eq!(
        (entry.level, &*entry.target),
        (Level::Warn, "opencode::runtime")
    );
    assert!(entry.fields["error"].is_string(), "{entry:?}");
}
