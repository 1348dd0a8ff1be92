//! A revert and all other work of a session exclude each other.

use futures::future::join_all;
use opencode_runtime::RuntimeError;
use opencode_testkit::{Gate, Reply};

use super::{World, is};

fn is_busy<T>(answer: &Result<T, RuntimeError>) -> bool {
    matches!(answer, Err(RuntimeError::SessionBusy(_)))
}

#[tokio::test]
async fn a_running_session_is_not_reverted() {
    let world = World::open().await;
    let first = world.turn("change", &[("a.txt", Some("two\n"))]).await;
    let gate = Gate::new();
    world
        .f
        .model
        .reply(Reply::new().hold(&gate).text("Done.").stop());
    world.f.prompt(&world.session, "more").await;
    world.f.reached(&gate).await;
    let (before, events) = (world.files(), world.f.events(&world.session).await);
    let runtime = world.f.runtime();
    assert!(is_busy(&world.try_stage(&first, None, true).await));
    assert!(is_busy(&runtime.clear_revert(&world.session).await));
    assert!(is_busy(&runtime.commit_revert(&world.session).await));
    assert_eq!(
        (world.files(), world.f.events(&world.session).await),
        (before, events)
    );
    gate.release();
    world.f.wait(&world.session).await;
    world.stage(&first).await;
    assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
}

#[tokio::test]
async fn one_of_several_concurrent_reverts_succeeds_and_the_others_are_refused() {
    let world = World::open().await;
    let first = world.turn("change", &[("a.txt", Some("two\n"))]).await;
    let all = join_all((0..5).map(|_| world.try_stage(&first, None, true))).await;
    let staged: Vec<_> = all.iter().filter(|it| it.is_ok()).collect();
    assert_eq!(
        (staged.len(), all.iter().filter(|it| is_busy(it)).count()),
        (1, 4)
    );
    assert_eq!(world.f.runtime().active(), []);
}

#[tokio::test]
async fn a_prompt_during_a_revert_waits_for_it() {
    let world = World::open().await;
    let first = world.turn("change", &[("a.txt", Some("two\n"))]).await;
    world.f.model.reply(Reply::says("Hello."));
    // The revert has begun when the prompt arrives.
    let (staged, _) = tokio::join!(
        world.try_stage(&first, None, true),
        world.f.prompt(&world.session, "next")
    );
    staged.unwrap();
    world.f.wait(&world.session).await;
    assert_eq!(
        world.story().await,
        ["user: change", "user: next", "assistant: Hello."]
    );
    assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
}
