//! Boundaries within a message.

use opencode_schema::id::MessageID;
use opencode_testkit::{Fixture, Reply, compact};
use serde_json::json;

use super::{World, changed, is};

/// A step with text, changes of two files and more text, and then a second prompt.
async fn story() -> (World, MessageID) {
    let world = World::open().await;
    world.f.model.reply(
        Reply::new()
            .text("First.")
            .call("c1", "change", json!({"a.txt": "two\n"}))
            .text("Then.")
            .call("c2", "change", json!({"b.txt": "b\n"}))
            .tool_calls(),
    );
    world.f.model.reply(Reply::says("Done."));
    world.f.ask(&world.session, "go").await;
    world.turn("more", &[("d.txt", Some("d\n"))]).await;
    let messages = world.f.messages(&world.session).await;
    let step = json!(messages[1]);
    let id = MessageID::parse(step["id"].as_str().unwrap()).unwrap();
    (world, id)
}

#[tokio::test]
async fn a_boundary_within_a_message_keeps_the_parts_before_it_and_reverts_its_whole_step() {
    for (part, kept) in [
        ("c2", "assistant: First. | tool c1 | Then."),
        ("text-1", "assistant: First. | tool c1"),
        ("c1", "assistant: First."),
        ("text-0", "assistant: "),
    ] {
        let (world, step) = story().await;
        let before = world.files();
        let staged = world.try_stage(&step, Some(part), true).await.unwrap();
        assert_eq!(staged.part_id.as_deref(), Some(part));
        assert_eq!(
            changed(&staged),
            [
                "modified a.txt +1 -1",
                "deleted b.txt +0 -1",
                "deleted d.txt +0 -1"
            ]
        );
        assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
        world.clear().await;
        assert_eq!(world.files(), before);
        world.try_stage(&step, Some(part), true).await.unwrap();
        world.commit().await;
        assert_eq!(world.story().await, ["user: go", kept]);
        // The next turn reads the remaining messages.
        world.f.model.reply(Reply::says("Again."));
        world.f.ask(&world.session, "next").await;
        let said = compact::messages(&world.f.model.last_request());
        assert_eq!(
            (said.first(), said.last()),
            (Some(&"user: go".into()), Some(&"user: next".into()))
        );
        assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
        // The same log gives the same rows.
        let lines = world.f.export(&world.session).await;
        let other = Fixture::open().await;
        other.import(&lines).await.unwrap();
        let messages = world.f.messages(&world.session).await;
        assert_eq!(other.messages(&world.session).await, messages);
        assert_eq!(other.export(&world.session).await, lines);
    }
}

#[tokio::test]
async fn staging_the_whole_message_again_removes_the_part() {
    let (world, step) = story().await;
    world.try_stage(&step, Some("c2"), true).await.unwrap();
    let staged = world.stage(&step).await;
    assert_eq!(
        (staged.part_id.clone(), changed(&staged)),
        (None, vec!["deleted d.txt +0 -1".into()])
    );
    world.commit().await;
    let kept = "assistant: First. | tool c1 | Then. | tool c2";
    assert_eq!(world.story().await, ["user: go", kept]);
}

#[tokio::test]
async fn an_answer_means_its_prompt_unless_an_earlier_part_stays() {
    let (world, step) = story().await;
    let messages = world.f.messages(&world.session).await;
    let ids: Vec<_> = messages.iter().map(|it| json!(it)["id"].clone()).collect();
    let id = |at: usize| MessageID::parse(ids[at].as_str().unwrap()).unwrap();
    let (go, more) = (id(0), id(3));
    assert_eq!(id(1), step);
    for (boundary, part, expected) in [
        (&step, None, (&go, None)),
        // Nothing is before this part.
        (&step, Some("text-0"), (&go, None)),
        (&step, Some("c1"), (&step, Some("c1"))),
        (&step, Some("c2"), (&step, Some("c2"))),
        // The second step of the prompt.
        (&id(2), None, (&go, None)),
        (&go, None, (&go, None)),
        (&more, None, (&more, None)),
        (&id(4), None, (&more, None)),
    ] {
        let staged = world.stage_prompt_of(boundary, part).await;
        let found = (&staged.message_id, staged.part_id.as_deref());
        assert_eq!(found, expected, "{boundary} {part:?}");
    }
    world.stage_prompt_of(&id(2), None).await;
    assert_eq!(world.files(), is(&[("a.txt", "one\n")]));
    world.commit().await;
    assert_eq!(world.story().await, ["user: go"]);
}
