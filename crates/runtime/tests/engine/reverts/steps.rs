//! The information about files that steps record.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use opencode_testkit::{Fixture, Gate, Reply, output};
use serde_json::{Value, json};

use super::{World, changing};

impl World {
    /// The snapshots and changed files of every step. Equal snapshots have equal numbers.
    async fn steps(&self) -> Vec<(Option<usize>, Option<usize>, Option<Value>)> {
        let messages = self.f.messages(&self.session).await;
        let mut seen: Vec<Value> = Vec::new();
        let mut number = |tree: &Value| {
            let tree = (!tree.is_null()).then(|| tree.clone())?;
            let at = seen.iter().position(|it| *it == tree);
            Some(at.unwrap_or_else(|| {
                assert_eq!(tree.as_str().map(str::len), Some(40), "{tree}");
                seen.push(tree);
                seen.len() - 1
            }))
        };
        let mut steps = Vec::new();
        for message in messages {
            let message = json!(message);
            if message["type"] == "assistant" {
                let snapshot = &message["snapshot"];
                let (start, end) = (number(&snapshot["start"]), number(&snapshot["end"]));
                steps.push((start, end, snapshot.get("files").cloned()));
            }
        }
        steps
    }
}

/// Blocks captures until it is dropped: they wait to open their lock, which is a FIFO without a reader.
pub(super) struct HeldCaptures(PathBuf);

impl Drop for HeldCaptures {
    fn drop(&mut self) {
        let reader = fs::File::options().read(true).write(true).open(&self.0);
        // The next capture finds no lock and creates one.
        fs::remove_file(&self.0).unwrap();
        drop(reader);
    }
}

impl World {
    pub(super) fn hold_captures(&self) -> HeldCaptures {
        let stores = self.f.project.root().join("data/embedded/snapshot");
        let mut found = std::collections::BTreeMap::new();
        super::collect(&stores, &stores, &mut found);
        let lock = found.keys().find(|it| it.ends_with("/lock")).unwrap();
        let lock = stores.join(lock);
        fs::remove_file(&lock).unwrap();
        let made = Command::new("mkfifo").arg(&lock).status();
        assert!(made.unwrap().success());
        HeldCaptures(lock)
    }

    /// Waits until this number of timers wait.
    pub(super) async fn timed(&self, count: usize) {
        while self.f.clock.waiting() != count {
            tokio::task::yield_now().await;
        }
    }
}

fn none() -> Option<Value> {
    Some(json!([]))
}

#[tokio::test]
async fn a_step_records_the_files_before_and_its_changes() {
    let world = World::open().await;
    let both = [("a.txt", Some("two\n")), ("deep/b.txt", Some("b\n"))];
    world.turn("write", &both).await;
    world.turn("nothing", &[]).await;
    world
        .turn("back", &[("a.txt", Some("one\n")), ("deep/b.txt", None)])
        .await;
    let back = Some(json!(["a.txt", "deep/b.txt"]));
    assert_eq!(
        world.steps().await,
        [
            (Some(0), Some(1), back.clone()),
            (Some(1), Some(1), none()),
            (Some(1), Some(1), none()),
            (Some(1), Some(1), none()),
            // Equal files give equal snapshots.
            (Some(1), Some(0), back),
            (Some(0), Some(0), none()),
        ]
    );
}

#[tokio::test]
async fn changes_between_turns_belong_to_no_step_and_changes_during_calls_to_the_step() {
    let world = World::open().await;
    let gate = Gate::new();
    world.f.held_tool("wait", &gate);
    world.f.model.reply(Reply::says("Hello."));
    world.f.ask(&world.session, "hello").await;
    world.f.project.write("mine.txt", "mine\n");
    world.f.model.reply(Reply::calls("w", "wait", json!({})));
    world.f.model.reply(Reply::says("Done."));
    world.f.prompt(&world.session, "wait").await;
    world.f.reached(&gate).await;
    world.f.project.write("beside.txt", "b\n");
    gate.release();
    world.f.wait(&world.session).await;
    assert_eq!(
        world.steps().await,
        [
            (Some(0), Some(0), none()),
            (Some(1), Some(2), Some(json!(["beside.txt"]))),
            (Some(2), Some(2), none()),
        ]
    );
}

#[tokio::test]
async fn a_failed_step_records_only_the_files_before() {
    let world = World::open().await;
    let broken = opencode_llm::LlmError::invalid_request("no");
    world.f.model.reply(Reply::new().text("So").fail(broken));
    world.f.ask(&world.session, "fail").await;
    assert_eq!(world.steps().await, [(Some(0), None, None)]);
}

#[tokio::test]
async fn an_interrupted_step_with_a_complete_answer_records_the_changes_of_its_calls() {
    let world = World::open().await;
    let gate = Gate::new();
    world.f.held_tool("wait", &gate);
    world.f.model.reply(
        Reply::new()
            .call("c", "change", json!({"a.txt": "two\n"}))
            .call("w", "wait", json!({}))
            .tool_calls(),
    );
    world.f.prompt(&world.session, "both").await;
    world.f.recorded(&world.session, "tool.success c {}").await;
    world.f.reached(&gate).await;
    world.f.interrupt(&world.session).await;
    assert_eq!(
        world.steps().await,
        [(Some(0), Some(1), Some(json!(["a.txt"])))]
    );
    assert_eq!(
        world.f.events(&world.session).await[10..],
        [
            "tool.failed w Tool execution interrupted",
            "step.ended tool-calls"
        ]
    );
}

#[tokio::test]
async fn an_interruption_does_not_wait_for_a_long_capture() {
    let world = World::open().await;
    world.turn("change", &[("a.txt", Some("two\n"))]).await;
    world.f.within("both sweeps wait", world.timed(2)).await;
    let gate = Gate::new();
    world.f.held_tool("wait", &gate);
    world.f.model.reply(Reply::calls("w", "wait", json!({})));
    world.f.prompt(&world.session, "wait").await;
    world.f.reached(&gate).await;
    let held = world.hold_captures();
    gate.release();
    let settled = "tool.success w {}";
    world.f.recorded(&world.session, settled).await;
    let time_passes = async {
        // One more timer for the capture, and one for its remaining time after the interruption.
        world.timed(4).await;
        world.f.clock.advance(500);
    };
    let interrupted = world.f.interrupt(&world.session);
    world
        .f
        .within("time_passes", async {
            tokio::join!(interrupted, time_passes)
        })
        .await;
    drop(held);
    assert_eq!(world.steps().await[2], (Some(1), None, None));
    let events = world.f.events(&world.session).await;
    assert_eq!(
        events[events.len() - 2..],
        ["step.ended tool-calls", "interrupted"]
    );
}

#[tokio::test]
async fn a_request_that_waits_for_a_capture_is_not_sent_after_an_interruption() {
    let world = World::open().await;
    world.turn("change", &[("a.txt", Some("two\n"))]).await;
    world.f.within("both sweeps wait", world.timed(2)).await;
    let held = world.hold_captures();
    world.f.prompt(&world.session, "wait").await;
    world.f.within("the capture", world.timed(3)).await;
    world.f.interrupt(&world.session).await;
    drop(held);
    world.turn("again", &[]).await;
    let messages = json!(world.f.messages(&world.session).await);
    let reports = messages.as_array().unwrap().iter();
    let reports: Vec<_> = reports
        .filter_map(|message| message.pointer("/metadata/prefix"))
        .collect();
    let [.., before, after, _] = &reports[..] else {
        panic!("there are two turns of two steps")
    };
    assert_eq!(after["reused"], before["bytes"]);
    assert_eq!(after.get("reason"), None);
}

#[tokio::test]
async fn without_a_repository_or_snapshots_steps_record_no_files() {
    let disabled = |f: &Fixture| {
        f.project.write("opencode.json", r#"{"snapshots": false}"#);
        f.project.git();
    };
    for world in [
        World::with(|_| {}, |_| {}, "").await,
        World::with(|_| {}, disabled, "").await,
    ] {
        world.turn("change", &[("a.txt", Some("two\n"))]).await;
        assert_eq!(
            world.steps().await,
            [(None, None, None), (None, None, None)]
        );
        // The folder of the snapshots is not created either.
        let folder = world.f.project.root().join("data/embedded");
        assert!(!folder.exists());
    }
}

#[tokio::test]
async fn ignored_and_large_files_are_skipped() {
    const LIMIT: usize = 2 * 1024 * 1024;
    let world = World::with(
        |_| {},
        |f| {
            f.project.write(".gitignore", "*.log\n");
            f.project.git();
        },
        "",
    )
    .await;
    let (fits, large) = ("x".repeat(LIMIT), "x".repeat(LIMIT + 1));
    let changes = [
        ("a.log", Some("ignored\n")),
        ("fits.txt", Some(&*fits)),
        ("large.txt", Some(&*large)),
    ];
    let first = world.turn("write", &changes).await;
    assert_eq!(
        world.steps().await[0],
        (Some(0), Some(1), Some(json!(["fits.txt"])))
    );
    let staged = world.stage(&first).await;
    assert_eq!(super::changed(&staged), ["deleted fits.txt +0 -1"]);
    let names: Vec<_> = world.files().into_keys().collect();
    assert_eq!(names, [".gitignore", "a.log", "a.txt", "large.txt"]);
    world.clear().await;
    assert_eq!(world.files()["fits.txt"].len(), LIMIT);
}

#[tokio::test]
async fn a_step_with_very_many_changed_files_does_not_list_them() {
    let world = World::open().await;
    let (beside, root) = (world.f.project.root().to_owned(), world.f.project.path(""));
    let made = beside.clone();
    world.f.tool("many", move |input, _| {
        let folder = input["count"].to_string();
        fs::rename(made.join(&folder), root.join(&folder)).unwrap();
        async { output(json!({})) }
    });
    for count in [10_000, 10_001] {
        // The files are made before the step begins.
        let folder = beside.join(count.to_string());
        fs::create_dir(&folder).unwrap();
        (0..count).for_each(|at| fs::write(folder.join(at.to_string()), "").unwrap());
        world
            .f
            .model
            .reply(Reply::calls("m", "many", json!({"count": count})));
        world.f.model.reply(Reply::says("Done."));
        world.f.ask(&world.session, "many").await;
    }
    let steps = world.steps().await;
    let listed = |at: usize| {
        let (_, end, files) = &steps[at];
        (
            *end,
            files.as_ref().map(|files| files.as_array().unwrap().len()),
        )
    };
    assert_eq!(
        (listed(0), listed(2)),
        ((Some(1), Some(10_000)), (None, None))
    );
    // The next step compares with the present files.
    assert_eq!(listed(3).1, Some(0));
}

#[tokio::test]
async fn an_unusable_store_affects_only_the_snapshot_of_a_step() {
    let world = World::open().await;
    let folder = world.f.project.root().join("data/embedded");
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    fs::write(&folder, "in the way").unwrap();
    let first = world.turn("change", &[("a.txt", Some("two\n"))]).await;
    assert_eq!(
        world.steps().await,
        [(None, None, None), (None, None, None)]
    );
    // Messages can still be reverted.
    world.stage(&first).await;
    world.commit().await;
    assert_eq!(world.story().await, ["user: change"]);
}

#[tokio::test]
async fn two_sessions_in_one_worktree_record_in_parallel() {
    let world = World::open().await;
    let other = world.f.session().await;
    let gate = Gate::new();
    let held = gate.clone();
    let root = world.f.project.path("");
    world.f.tool("late", move |input, _| {
        let (held, root) = (held.clone(), root.clone());
        async move {
            held.pass().await;
            super::apply(&root, &input);
            output(json!({}))
        }
    });
    world
        .f
        .model
        .reply(Reply::calls("l", "late", json!({"late.txt": "l\n"})));
    world.f.prompt(&world.session, "late").await;
    world.f.reached(&gate).await;
    world
        .f
        .model
        .reply(changing("c", &[("b.txt", Some("b\n"))]));
    world.f.model.reply(Reply::says("Done."));
    world.f.ask(&other, "now").await;
    world.f.model.reply(Reply::says("Done."));
    gate.release();
    world.f.wait(&world.session).await;
    let first = world.steps().await;
    // Changes by the other session during its call count as its own.
    assert_eq!(first[0].2, Some(json!(["b.txt", "late.txt"])));
    let world = World {
        session: other,
        ..world
    };
    assert_eq!(world.steps().await[0].2, Some(json!(["b.txt"])));
}

#[tokio::test]
async fn files_of_the_host_in_the_worktree_are_not_captured() {
    let folder = std::sync::OnceLock::new();
    let change = move |options: &mut opencode_runtime::RuntimeOptions| {
        let directory = folder.get_or_init(|| options.directory.clone());
        let database = std::path::Path::new(directory).join("sessions.db");
        options.database = opencode_runtime::DatabasePath::File(database);
    };
    let world = World::with(change, |f| f.project.git(), "").await;
    let first = world.turn("change", &[("a.txt", Some("two\n"))]).await;
    assert_eq!(world.steps().await[0].2, Some(json!(["a.txt"])));
    let staged = world.stage(&first).await;
    assert_eq!(super::changed(&staged), ["modified a.txt +1 -1"]);
    assert_eq!(world.staged().await, Some(staged));
}
