//! Tests for the files and messages of `write`.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
};

use crate::common::{success, text};
use crate::project::{Project, text_of};
use serde_json::json;

#[tokio::test]
async fn a_file_is_created_with_its_directories_and_then_replaced() {
    let project = Project::new();
    let path = "new/deep/file.txt";
    for (content, existed, done) in [("a\r\nb\n", false, "Created"), ("", true, "Wrote")] {
        let input = json!({"path": path, "content": content});
        let settled = project.run("write", input).await;
        let structured = json!({
            "operation": "write",
            "target": project.location().join(path),
            "resource": path,
            "existed": existed,
        });
        let message = format!("{done} file successfully: {path}");
        assert_eq!(settled, success(structured, vec![text(&message)]));
        let files = [("loc/new/deep/file.txt".to_owned(), content.into())];
        assert_eq!(project.files(), files.into());
    }
}

#[tokio::test]
async fn one_byte_order_mark_is_written_if_the_file_or_the_text_has_one() {
    let project = Project::new();
    for (before, content, after) in [
        (None, "a", "a"),
        (None, "\u{feff}a", "\u{feff}a"),
        (Some("b"), "a", "a"),
        (Some("b"), "\u{feff}a", "\u{feff}a"),
        (Some("\u{feff}b"), "a", "\u{feff}a"),
        (Some("\u{feff}b"), "\u{feff}a", "\u{feff}a"),
        (Some("\u{feff}"), "", "\u{feff}"),
        (None, "\u{feff}\u{feff}a", "\u{feff}a"),
        (Some("\u{feff}b"), "\u{feff}\u{feff}a", "\u{feff}a"),
    ] {
        let path = project.location().join("a.txt");
        let _ = fs::remove_file(&path);
        if let Some(before) = before {
            project.put("a.txt", before);
        }
        let input = json!({"path": "a.txt", "content": content});
        text_of(project.run("write", input).await).unwrap();
        assert_eq!(
            project.get("a.txt"),
            after.as_bytes(),
            "{before:?} {content:?}"
        );
    }
}

#[tokio::test]
async fn mode_and_owner_are_kept_and_any_content_can_be_replaced() {
    let project = Project::new();
    let path = project.put("run.sh", b"\xff\0");
    for mode in [0o755, 0o600, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let before = fs::metadata(&path).unwrap();
        text_of(
            project
                .run("write", json!({"path": "run.sh", "content": "new"}))
                .await,
        )
        .unwrap();
        let after = fs::metadata(&path).unwrap();
        let owner = |metadata: &fs::Metadata| (metadata.mode(), metadata.uid(), metadata.gid());
        assert_eq!(owner(&after), owner(&before));
    }
    assert_eq!(project.get("run.sh"), b"new");
}

#[tokio::test]
async fn a_new_file_has_the_default_mode_of_the_process() {
    let project = Project::new();
    let usual = project.put("usual.txt", "");
    text_of(
        project
            .run("write", json!({"path": "new.txt", "content": ""}))
            .await,
    )
    .unwrap();
    let mode = |path| fs::metadata(path).unwrap().mode();
    assert_eq!(mode(project.location().join("new.txt")), mode(usual));
}

#[tokio::test]
async fn a_link_inside_the_location_is_written_through() {
    let project = Project::new();
    project.put("real.txt", "old");
    symlink("real.txt", project.location().join("link")).unwrap();
    let settled = project
        .run("write", json!({"path": "link", "content": "new"}))
        .await;
    assert_eq!(
        text_of(settled),
        Ok("Wrote file successfully: real.txt".to_owned())
    );
    let files = [("loc/link", "real.txt"), ("loc/real.txt", "new")];
    let files = files.map(|(name, content)| (name.to_owned(), content.into()));
    assert_eq!(project.files(), files.into());
}

#[tokio::test]
async fn a_reader_finds_the_old_content_or_the_new_one() {
    let project = Project::new();
    let contents = ["a".repeat(200_000), "b".repeat(100_000)];
    let path = project.put("big.txt", &contents[0]);
    let seen = tokio::task::spawn_blocking({
        let (path, contents) = (path.clone(), contents.clone());
        move || (0..300).all(|_| contents.contains(&fs::read_to_string(&path).unwrap()))
    });
    for content in contents.iter().cycle().take(100) {
        let input = json!({"path": "big.txt", "content": content});
        text_of(project.run("write", input).await).unwrap();
    }
    assert!(seen.await.unwrap(), "a reader saw half a file");
    assert_eq!(project.files().len(), 1, "something stayed behind");
}

#[tokio::test]
async fn a_name_may_contain_any_character_and_have_the_maximum_length() {
    let project = Project::new();
    let long = "n".repeat(255);
    for name in [
        "line\nbreak",
        "-rf",
        "a b'\"$(x)",
        "\u{1F600}",
        ".git/config",
        &long,
    ] {
        let settled = project
            .run("write", json!({"path": name, "content": "x"}))
            .await;
        assert_eq!(
            text_of(settled),
            Ok(format!("Created file successfully: {name}"))
        );
        assert_eq!(project.get(name), b"x");
    }
}

/// Written as UTF-8, the lines that stay would have other bytes.
#[tokio::test]
async fn a_text_in_an_encoding_that_is_not_certain_stays() {
    for (before, reason) in [
        (
            &b"\xc4\xe3\xba\xc3\r\n"[..],
            "it is text in an encoding that is not certain",
        ),
        (b"\xff\xfe\0\0a\0\0\0", "it is text in UTF-32"),
    ] {
        let project = Project::new();
        project.put("old.txt", before);
        let input = json!({"path": "old.txt", "content": "hello\n"});
        let error = text_of(project.run("write", input).await).unwrap_err();
        let expected = format!("Unable to write old.txt: {reason}");
        assert!(error.starts_with(&expected), "{error}");
        assert_eq!(project.get("old.txt"), before);
    }
}
