//! Tests with unusual and malicious files and directories.

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::unix::{ffi::OsStrExt, fs::symlink},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use opencode_tools::Settlement;
use serde_json::json;

use crate::project::{Project, taken};

#[tokio::test]
async fn names_with_invalid_utf8_are_found_with_replacements() {
    let project = Project::new();
    let name = OsStr::from_bytes(b"odd\xff\n");
    fs::write(project.location().join(name), "needle\n").unwrap();
    let (found, shown) = taken(project.call("glob", json!({"pattern": "odd*"})).await);
    assert_eq!(found, [json!({"path": "odd\u{fffd}\n", "type": "file"})]);
    assert_eq!(shown, format!("\"{}/odd\u{fffd}\\n\"", project.text("loc")));
    let found = project.grep_files(json!({"pattern": "needle"})).await;
    assert_eq!(found, ["odd\u{fffd}\n"]);
}

#[tokio::test]
async fn special_files_and_circular_links_block_no_search() {
    let project = Project::with(&["deep/a"]);
    project.fifo("fifo");
    symlink("..", project.location().join("deep/up")).unwrap();
    symlink("/dev/zero", project.location().join("zero")).unwrap();
    symlink("/proc/self", project.location().join("self")).unwrap();
    assert_eq!(project.glob(json!({"pattern": "**"})).await, ["deep/a"]);
    assert_eq!(project.grep_files(json!({"pattern": ""})).await, ["deep/a"]);
}

#[tokio::test]
async fn an_endless_ignore_file_hides_its_directory_and_blocks_no_search() {
    let project = Project::with(&["free/a", "held/a", "zero/a", "huge/a"]);
    project.fifo("held/.gitignore");
    symlink("/dev/zero", project.location().join("zero/.ignore")).unwrap();
    let huge = File::create(project.location().join("huge/.rgignore")).unwrap();
    huge.set_len(1 << 30).unwrap();
    assert_eq!(project.glob(json!({"pattern": "a"})).await, ["free/a"]);
    assert_eq!(
        project.grep_files(json!({"pattern": "a"})).await,
        ["free/a"]
    );
}

#[tokio::test]
async fn a_file_of_a_gigabyte_without_a_line_end_is_searched_in_bounded_memory() {
    let project = Project::with(&["small"]);
    let path = project.location().join("huge");
    let file = File::create(&path).unwrap();
    file.set_len(1 << 30).unwrap();
    // A NUL byte means that the file is not text, so the search ends at the first byte.
    assert_eq!(
        project.grep_files(json!({"pattern": "small"})).await,
        ["small"]
    );
    fs::write(&path, "x".repeat(40 << 20)).unwrap();
    let (found, text) = taken(project.call("grep", json!({"pattern": "small|x$"})).await);
    assert_eq!(found.len(), 1);
    assert!(
        text.ends_with("others.)"),
        "a line that is too long is not hidden: {text}"
    );
}

#[tokio::test]
async fn a_directory_of_a_hundred_thousand_entries_is_searched() {
    let project = Project::new();
    let many = project.location().join("many");
    fs::create_dir(&many).unwrap();
    for number in 0..100_000 {
        // Links are created much faster than files, but a file can have only a limited number.
        let path = many.join(format!("{number:05}"));
        match number % 10_000 {
            0 => fs::write(path, "").unwrap(),
            place => fs::hard_link(many.join(format!("{:05}", number - place)), path).unwrap(),
        }
    }
    let found = project.glob(json!({"pattern": "*", "limit": 2})).await;
    assert_eq!(found, ["many/00000", "many/00001"]);
    assert_eq!(project.glob(json!({"pattern": "9999*"})).await.len(), 10);
    project.write("many/x", "needle\n");
    let found = project.grep_files(json!({"pattern": "needle"})).await;
    assert_eq!(found, ["many/x"]);
}

#[tokio::test]
async fn a_search_can_be_interrupted() {
    let project = Project::new();
    let content = "x\n".repeat(1 << 20);
    for number in 0..100 {
        project.write(&format!("{number:03}"), &content);
    }
    for (name, input) in [
        ("grep", json!({"pattern": "needle"})),
        ("grep", json!({"pattern": "needle", "path": "050"})),
        ("glob", json!({"pattern": "*"})),
    ] {
        let mut settled = Vec::new();
        // A call may end before it is interrupted. Then the test tries again.
        while settled.last() != Some(&Settlement::Interrupted) {
            assert!(settled.len() < 20, "{name}: {settled:?}");
            let context = project.context();
            let cancel = context.cancel.clone();
            let call = project.call_in(name, input.clone(), context);
            let interrupt = async { cancel.cancel() };
            settled.push(tokio::join!(call, interrupt).0);
        }
    }
}

#[tokio::test]
async fn links_that_are_created_during_a_search_are_not_followed() {
    let project = Project::new();
    for number in 0..20 {
        project.write(&format!("{number}/door/secret"), "mine\n");
    }
    let outside = project.root.join("outside");
    fs::write(outside.join("secret"), "stolen\n").unwrap();
    fs::write(outside.join("other"), "stolen\n").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let (location, lure) = (project.location(), project.root.join("lure"));
    symlink(outside, &lure).unwrap();
    let away = project.root.join("away");
    let swapping = std::thread::spawn(move || {
        for number in (0..20).cycle() {
            if stopped.load(Ordering::Relaxed) {
                break;
            }
            let door = location.join(format!("{number}/door"));
            fs::rename(&door, &away).unwrap();
            fs::rename(&lure, &door).unwrap();
            fs::rename(&door, &lure).unwrap();
            fs::rename(&away, &door).unwrap();
        }
    });
    for _ in 0..100 {
        for (_, _, text) in project.grep(json!({"pattern": "mine|stolen"})).await {
            assert_eq!(text, "mine\n");
        }
        for path in project.glob(json!({"pattern": "*"})).await {
            assert!(path.ends_with("/door/secret"), "{path}");
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}
