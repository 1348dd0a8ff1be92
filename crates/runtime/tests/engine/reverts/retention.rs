//! Unused snapshots are removed; those of a staged revert stay.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{World, collect, is};

const HOUR: i64 = 60 * 60 * 1000;

/// Every object file of the snapshots.
fn objects(world: &World) -> Vec<PathBuf> {
    let root = world.f.project.root().join("data/embedded/snapshot");
    let mut found = BTreeMap::new();
    collect(&root, &root, &mut found);
    let objects = found.into_keys().filter(|it| it.contains("/objects/"));
    objects.map(|it| root.join(it)).collect()
}

fn make_old(object: &Path) {
    let old = SystemTime::now() - Duration::from_secs(8 * 24 * 60 * 60);
    let file = File::open(object).unwrap();
    file.set_modified(old).unwrap();
}

#[tokio::test]
async fn unused_snapshots_are_deleted_after_a_week_and_staged_ones_are_kept() {
    let world = World::open().await;
    let first = world.turn("one", &[("a.txt", Some("two\n"))]).await;
    // The snapshots of another session, which no staged revert uses.
    let other = world.f.session().await;
    let changes = [("c.txt", Some("gone soon\n"))];
    world.turn_of(&other, "add", &changes).await;
    world.turn_of(&other, "remove", &[("c.txt", None)]).await;
    world.stage(&first).await;
    let before = objects(&world);
    before.iter().for_each(|it| make_old(it));
    let swept = async {
        while objects(&world) == before {
            world.f.clock.advance(HOUR);
            tokio::task::yield_now().await;
            world.f.idle().await;
        }
    };
    world.f.within("objects go", swept).await;
    let after = objects(&world);
    assert!(after.len() < before.len() && !after.is_empty(), "{after:?}");
    world.clear().await;
    assert_eq!(world.files(), is(&[("a.txt", "two\n")]));
    world.stage(&first).await;
    assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
}

#[tokio::test]
async fn the_repository_of_the_user_is_unchanged() {
    let world = World::open().await;
    let git = || {
        let mut found = BTreeMap::new();
        let root = world.f.project.path(".git");
        collect(&root, &root, &mut found);
        found
    };
    let before = git();
    assert!(before.contains_key("index") && before.contains_key("HEAD"));
    let first = world.turn("one", &[("a.txt", Some("two\n"))]).await;
    world
        .turn("two", &[("b.txt", Some("b\n")), ("a.txt", None)])
        .await;
    world.stage(&first).await;
    world.clear().await;
    world.stage(&first).await;
    world.commit().await;
    assert_eq!(git(), before);
}
