//! Commits of reverts: by request, and by the next drain.

use opencode_schema::prompt::Delivery;
use opencode_testkit::{Reply, compact};

use super::{World, is};

#[tokio::test]
async fn a_commit_keeps_the_boundary_and_does_not_change_files() {
    let world = World::open().await;
    world.turn("one", &[("a.txt", Some("two\n"))]).await;
    let second = world.turn("two", &[("b.txt", Some("b\n"))]).await;
    world.commit().await;
    assert_eq!(world.story().await.len(), 6);
    world.stage(&second).await;
    // Another writer restores the file before the commit. The commit does not change files.
    world.f.project.write("b.txt", "b\n");
    world.commit().await;
    assert_eq!(world.files(), is(&[("a.txt", "two\n"), ("b.txt", "b\n")]));
    assert_eq!(world.staged().await, None);
    let kept = [
        "user: one",
        "assistant: tool c",
        "assistant: Done.",
        "user: two",
    ];
    assert_eq!(world.story().await, kept);
    // A second commit records nothing.
    world.commit().await;
    let events = world.f.events(&world.session).await;
    let committed = events.iter().filter(|it| *it == "revert.committed");
    assert_eq!(committed.count(), 1);
}

#[tokio::test]
async fn the_next_drain_commits_before_it_promotes_and_requests_omit_reverted_messages() {
    let world = World::open().await;
    world.turn("one", &[("a.txt", Some("two\n"))]).await;
    let second = world.turn("two", &[("b.txt", Some("b\n"))]).await;
    let before = world.f.events(&world.session).await.len();
    world.stage(&second).await;
    world.f.model.reply(Reply::says("Hello."));
    world.f.ask(&world.session, "three").await;
    assert_eq!(
        world.f.events_after(&world.session, before).await,
        [
            "revert.staged",
            "prompt.admitted three",
            "revert.committed",
            "prompted three",
            "step.started",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ]
    );
    let request = world.f.model.last_request();
    assert_eq!(
        compact::messages(&request),
        [
            "user: one",
            "assistant: c change{\"a.txt\":\"two\\n\"}",
            "tool: c = {}",
            "assistant: Done.",
            "user: two",
            "user: three",
        ]
    );
    assert_eq!(world.files(), is(&[("a.txt", "two\n")]));
}

#[tokio::test]
async fn an_admission_does_not_commit_and_its_input_outlives_the_commit() {
    let world = World::open().await;
    let first = world.turn("one", &[("a.txt", Some("two\n"))]).await;
    world.stage(&first).await;
    world
        .f
        .leave(&world.session, "later", Delivery::Steer)
        .await;
    assert!(world.staged().await.is_some());
    world.clear().await;
    assert_eq!(world.files(), is(&[("a.txt", "two\n")]));
    world.stage(&first).await;
    world.commit().await;
    assert_eq!(world.f.inbox(&world.session).await, ["later"]);
    world.f.model.reply(Reply::says("Hello."));
    world.f.ask(&world.session, "now").await;
    assert_eq!(
        world.story().await,
        ["user: one", "user: later", "user: now", "assistant: Hello."]
    );
}

#[tokio::test]
async fn context_that_a_committed_revert_removed_is_reported_again() {
    let world = World::open().await;
    world.f.project.write("AGENTS.md", "Be brief.");
    world.turn("one", &[]).await;
    let second = world.turn("two", &[]).await;
    world.f.project.write("AGENTS.md", "Be kind.");
    world.turn("three", &[]).await;
    let kinds = world.story().await;
    assert!(
        kinds.iter().any(|it| it.starts_with("system: ")),
        "{kinds:?}"
    );
    world.stage(&second).await;
    world.commit().await;
    world.f.model.reply(Reply::says("Hello."));
    world.f.ask(&world.session, "four").await;
    let request = world.f.model.last_request();
    let system = &request.system.last().unwrap().text;
    assert!(
        system.contains("Be kind.") && !system.contains("Be brief."),
        "{system}"
    );
    let kept = [
        "user: one",
        "assistant: tool c",
        "assistant: Done.",
        "user: two",
    ];
    let now = [&kept[..], &["user: four", "assistant: Hello."]].concat();
    assert_eq!(world.story().await, now);
}

#[tokio::test]
async fn a_revert_is_not_an_interruption_and_a_run_continues_from_the_boundary() {
    let world = World::open().await;
    let first = world.turn("one", &[("a.txt", Some("two\n"))]).await;
    world.stage(&first).await;
    world.commit().await;
    assert_eq!(world.f.interrupted().await, []);
    world.f.model.reply(Reply::says("Again."));
    world.f.run(&world.session).await;
    assert_eq!(world.story().await, ["user: one", "assistant: Again."]);
}
