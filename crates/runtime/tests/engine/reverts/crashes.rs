//! A process that dies during a revert: the stored events determine the content of the files.

use std::sync::Arc;

use opencode_runtime::{Moment, RuntimeOptions, StageRevert};
use opencode_schema::id::MessageID;
use opencode_testkit::{Blockade, Reply, test_hook};

use super::{World, is};
use crate::holds;

/// A world that died after a revert to the first prompt was recorded, before any file changed.
struct Died {
    world: World,
    first: MessageID,
    blockade: Blockade,
}

impl Died {
    async fn while_staging() -> Self {
        let blockade = Blockade::new();
        let held = blockade.clone();
        let disturb = test_hook(move |moment| {
            if let Moment::Committed(entries) = moment
                && holds(entries, "session.next.revert.staged")
            {
                held.pass();
            }
            Ok(())
        });
        let change =
            move |options: &mut RuntimeOptions| options.test_hook = Some(Arc::clone(&disturb));
        let mut world = World::with(change, |f| f.project.git(), "").await;
        let changes = [("a.txt", Some("two\n")), ("b.txt", Some("b\n"))];
        let first = world.turn("change", &changes).await;
        let runtime = world.f.runtime().clone();
        let request = StageRevert {
            session_id: world.session.clone(),
            message_id: first.clone(),
            part_id: None,
            exact: true,
            files: true,
        };
        let staging = tokio::spawn(async move { runtime.stage_revert(request).await });
        world.f.blocked(&blockade).await;
        world.f.change(|_| {});
        world.f.kill().await;
        staging.abort();
        assert_eq!(world.files(), is(&[("a.txt", "two\n"), ("b.txt", "b\n")]));
        assert!(world.staged().await.is_some());
        Self {
            world,
            first,
            blockade,
        }
    }
}

impl Drop for Died {
    fn drop(&mut self) {
        // The blocked thread of the killed process must end. Its effects are not checked.
        self.blockade.release();
    }
}

#[tokio::test]
async fn staging_again_completes_the_staged_revert_of_a_dead_process() {
    let died = Died::while_staging().await;
    let (world, first) = (&died.world, &died.first);
    let staged = world.stage(first).await;
    assert_eq!(staged.conflicts, None);
    assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
    world.clear().await;
    assert_eq!(world.files(), is(&[("a.txt", "two\n"), ("b.txt", "b\n")]));
}

#[tokio::test]
async fn clearing_removes_the_staged_revert_of_a_dead_process() {
    let died = Died::while_staging().await;
    let world = &died.world;
    // The dead process had done half of the work.
    world.f.project.write("a.txt", "one\n");
    world.clear().await;
    assert_eq!(world.files(), is(&[("a.txt", "two\n"), ("b.txt", "b\n")]));
    assert_eq!(world.staged().await, None);
}

#[tokio::test]
async fn the_next_drain_commits_the_staged_revert_of_a_dead_process() {
    let died = Died::while_staging().await;
    let world = &died.world;
    // The change of another writer stays.
    world.f.project.write("a.txt", "mine\n");
    world.f.model.reply(Reply::says("Hello."));
    world.f.ask(&world.session, "next").await;
    assert_eq!(world.files(), is(&[("a.txt", "mine\n")]));
    assert_eq!(
        world.story().await,
        ["user: change", "user: next", "assistant: Hello."]
    );
}
