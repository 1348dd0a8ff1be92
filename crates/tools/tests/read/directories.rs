//! Tests for the results of listing a directory.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    process::Command,
};

use crate::common::Recorder;
use crate::project::{Project, page, unreadable};
use opencode_tools::Settlement;
use serde_json::json;

#[tokio::test]
async fn directories_list_their_children() {
    let project = Project::new();
    let location = project.location();
    let outside = project.root.join("outside");
    for directory in ["sub", "Zdir", "adir", ".git"] {
        fs::create_dir(location.join(directory)).unwrap();
    }
    for file in ["b.txt", "a9.txt", "a10.txt", "A.txt", ".hid"] {
        project.write(file, "");
    }
    symlink("b.txt", location.join("link")).unwrap();
    symlink("sub", location.join("sublink")).unwrap();
    symlink("missing", location.join("broken")).unwrap();
    symlink(&outside, location.join("out")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(location.join("fifo"))
            .status()
            .unwrap()
            .success()
    );
    let _odd = fs::write(location.join(OsStr::from_bytes(b"z\xff")), "");
    let directory = |name: &str| json!({"path": name, "type": "directory"});
    let file = |name: &str| json!({"path": name, "type": "file"});
    let entries = [
        directory(".git/"),
        directory("adir/"),
        directory("sub/"),
        directory("sublink/"),
        directory("Zdir/"),
        file(".hid"),
        file("A.txt"),
        file("a10.txt"),
        file("a9.txt"),
        file("b.txt"),
        file("link"),
        file("z\u{fffd}"),
    ];
    for path in ["", ".", "sub/..", location.to_str().unwrap()] {
        let permissions = Recorder::new(|_| Ok(()));
        let structured = page(project.read_asking(path, &permissions).await);
        let expected = json!({"entries": entries, "truncated": false});
        assert_eq!(structured.to_string(), expected.to_string());
        let asked = (
            "read".to_owned(),
            vec![".".to_owned()],
            vec!["*".to_owned()],
        );
        assert_eq!(permissions.asked(), [asked]);
    }
    for (offset, limit, expected) in [
        (
            1,
            2,
            json!({"entries": entries[..2], "truncated": true, "next": 3}),
        ),
        (
            5,
            3,
            json!({"entries": entries[4..7], "truncated": true, "next": 8}),
        ),
        (11, 2, json!({"entries": entries[10..], "truncated": false})),
        (13, 2, json!({"entries": [], "truncated": false})),
        (
            9_007_199_254_740_991_u64,
            2,
            json!({"entries": [], "truncated": false}),
        ),
    ] {
        let input = json!({"path": "", "offset": offset, "limit": limit});
        let structured = page(project.read(input).await);
        assert_eq!(structured.to_string(), expected.to_string());
    }
}

#[tokio::test]
async fn a_large_directory_has_pages_and_a_bounded_preview() {
    let project = Project::new();
    for index in 0..2001 {
        project.write(&format!("{index:04}"), "");
    }
    let settled = project.read_path(".").await;
    let Settlement::Success {
        structured,
        content,
        output_paths,
        explored,
    } = settled
    else {
        panic!("{settled:?}");
    };
    assert_eq!(structured["entries"].as_array().map(Vec::len), Some(2000));
    assert_eq!(structured["next"], 2001);
    assert_eq!((content.len(), output_paths.len()), (1, 1));
    assert_eq!(explored, [""; 0]);
    let kept = fs::read_to_string(&output_paths[0]).unwrap();
    assert_eq!(kept, serde_json::to_string_pretty(&structured).unwrap());
}

#[tokio::test]
async fn a_missing_location_reads_nothing() {
    let project = Project::new();
    fs::remove_dir(project.location()).unwrap();
    for path in ["", "a.txt", "/etc/hosts"] {
        let settled = project.read_path(path).await;
        assert_eq!(
            unreadable(&settled, path),
            "the working directory does not exist"
        );
    }
}
