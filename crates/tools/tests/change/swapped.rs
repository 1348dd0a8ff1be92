//! Tests with links that replace a checked path at any moment.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::common::Recorder;
use crate::project::{Project, changes, patch, text_of};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

#[tokio::test]
async fn a_link_that_is_created_during_the_permission_request_is_not_followed() {
    for swap_directory in [false, true] {
        for (tool, input, _) in changes("sub/a.txt") {
            let project = Project::new();
            project.put("sub/a.txt", "old\n");
            fs::write(project.outside("a.txt"), "old\n").unwrap();
            let (sub, outside) = (project.location().join("sub"), project.outside(""));
            let permissions = Recorder::new(move |_| {
                if swap_directory {
                    fs::rename(&sub, sub.with_file_name("moved")).unwrap();
                    symlink(&outside, &sub).unwrap();
                } else {
                    fs::remove_file(sub.join("a.txt")).unwrap();
                    symlink(outside.join("a.txt"), sub.join("a.txt")).unwrap();
                }
                Ok(())
            });
            let settled = text_of(project.ask(tool, input, &permissions).await);
            settled.unwrap_err();
            assert_eq!(fs::read_dir(project.outside("")).unwrap().count(), 1);
            assert_eq!(
                fs::read(project.outside("a.txt")).unwrap(),
                b"old\n",
                "{tool}"
            );
        }
    }
}

#[tokio::test]
async fn a_link_that_appears_and_disappears_leads_to_no_outside_write() {
    let project = Project::new();
    project.put("sub/a.txt", "old\n");
    fs::write(project.outside("a.txt"), "old\n").unwrap();
    let (sub, outside) = (project.location().join("sub"), project.outside(""));
    let stop = Arc::new(AtomicBool::new(false));
    let swapping = tokio::task::spawn_blocking({
        let stop = Arc::clone(&stop);
        move || {
            let door = sub.with_file_name("door");
            symlink(&outside, &door).unwrap();
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &sub, CWD, &door, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    let mut done = 0;
    for round in 0..200 {
        let new = format!("sub/{round}.txt");
        for (tool, input) in [
            ("write", json!({"path": "sub/a.txt", "content": "old\n"})),
            ("write", json!({"path": new, "content": "new\n"})),
            (
                "edit",
                json!({"path": "sub/a.txt", "oldString": "old", "newString": "old "}),
            ),
            (
                "apply_patch",
                patch("*** Update File: sub/a.txt\n@@\n+more\n"),
            ),
        ] {
            done += usize::from(text_of(project.run(tool, input).await).is_ok());
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapping.await.unwrap();
    let names: Vec<_> = fs::read_dir(project.outside("")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(fs::read(project.outside("a.txt")).unwrap(), b"old\n");
    assert!(done > 0, "no change met a moment without the link");
}
