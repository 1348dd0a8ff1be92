//! Instruction files.

use super::*;

/// A source of files: the path of its file, and the title that the model is told.
struct Case {
    config: Value,
    nested: &'static [&'static str],
    file: &'static str,
    title: &'static str,
}

fn cases() -> [Case; 3] {
    [
        Case {
            config: json!({}),
            nested: &[],
            file: "AGENTS.md",
            title: "General instructions",
        },
        Case {
            config: json!({ "instructions": ["~/../project/rules.md"] }),
            nested: &[],
            file: "rules.md",
            title: "Configured instructions",
        },
        Case {
            config: json!({}),
            nested: &["src"],
            file: "src/AGENTS.md",
            title: "Instructions for a directory and what lies below it",
        },
    ]
}

async fn world(case: &Case) -> World {
    let mut world = World::new(case.config.clone()).await;
    world.nested = case
        .nested
        .iter()
        .map(|it| world.project.path(it))
        .collect();
    world
}

#[tokio::test]
async fn files_are_added_changed_removed_and_restored() {
    for case in cases() {
        let mut world = world(&case).await;
        let (file, title) = (case.file, case.title);
        let state = |content: &str| format!("{title} (~/project/{file}):\n{content}");
        let replaced =
            format!("{title}: what follows replaces everything told under this title before.\n\n");
        assert_eq!(world.update().await, always(""));
        world.write(file, "one\n");
        assert_eq!(world.update().await, state("one\n"));
        assert_eq!(world.update().await, "");
        world.write(file, "two\n");
        assert_eq!(world.update().await, replaced + &state("two\n"));
        world.remove(file);
        let gone = format!("{title}: nothing told under this title before applies any more.");
        assert_eq!(world.update().await, gone);
        assert_eq!(world.update().await, "");
        world.write(file, "two\n");
        assert_eq!(world.update().await, state("two\n"));
    }
}

#[tokio::test]
async fn unreadable_files_block_the_first_epoch_and_change_nothing_later() {
    for case in cases() {
        let mut world = world(&case).await;
        let (file, title) = (case.file, case.title);
        world.write(file, b"caf\xe9");
        let unreadable =
            format!("the instructions in ~/project/{file} cannot be read: it is not UTF-8 text");
        let update = world.update().await;
        assert!(update.starts_with("blocked: the System Context is not available yet: core/"));
        assert!(update.ends_with(&unreadable), "{update}");
        world.write(file, "rules");
        let stated = always(&format!("{title} (~/project/{file}):\nrules\n\n"));
        assert_eq!(world.update().await, stated);
        world.write(file, vec![b'a'; 10_000_000]);
        assert_eq!(world.update().await, "");
        let blocked = world.replaced().await;
        assert!(
            blocked.starts_with("blocked: core/instructions"),
            "{blocked}"
        );
        world.write(file, "rules");
        assert_eq!(world.update().await, "");
        assert_eq!(world.replaced().await, stated);
    }
}

/// The changed source states all its files. The other sources state nothing.
#[tokio::test]
async fn a_change_is_reported_only_by_its_own_source() {
    let config = json!({ "instructions": ["~/../project/rules.md"] });
    let mut world = World::new(config).await;
    world.nested = vec![world.project.path("src"), world.project.path("docs")];
    world.write("AGENTS.md", "general");
    world.write("rules.md", "configured");
    world.write("src/AGENTS.md", "of the sources");
    world.update().await;
    world.write("docs/AGENTS.md", "of the documents");
    assert_eq!(
        world.update().await,
        "Instructions for a directory and what lies below it: what follows replaces everything told under this title before.\n\nInstructions for a directory and what lies below it (~/project/src/AGENTS.md):\nof the sources\n\nInstructions for a directory and what lies below it (~/project/docs/AGENTS.md):\nof the documents"
    );
}

/// A file moves from one source to an earlier one. The earlier source states it, the other drops it.
#[tokio::test]
async fn a_file_that_a_second_source_begins_to_cover_is_reported_once() {
    let mut world = World::new(json!({})).await;
    world.nested = vec![world.project.path("src")];
    world.write("src/AGENTS.md", "rules");
    world.update().await;
    world
        .configure(json!({ "instructions": ["~/../project/src/AGENTS.md"] }))
        .await;
    assert_eq!(
        world.update().await,
        "Configured instructions (~/project/src/AGENTS.md):\nrules\n\nInstructions for a directory and what lies below it: nothing told under this title before applies any more."
    );
}
