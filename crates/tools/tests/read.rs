//! The `read` tool on real files, friendly and hostile.

#![cfg(unix)]

mod common;

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use common::{Recorder, call, context, failed, registry, success, text};
use opencode_schema::message::{ErrorKind, ToolContent};
use opencode_tools::{
    Contributions, Materialized, PermissionError, Registration, Settlement, built_in_tools,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A Location beside a directory it has no authority over.
struct Project {
    _temp: TempDir,
    root: PathBuf,
    turn: Materialized,
    _registration: Registration,
}

impl Project {
    fn new() -> Self {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let root = fs::canonicalize(temp.path()).expect("it exists");
        fs::create_dir_all(root.join("loc")).expect("it is writable");
        fs::create_dir_all(root.join("outside")).expect("it is writable");
        let registry = registry(&Contributions::default(), &root);
        let registration = registry.location().register(built_in_tools());
        Self {
            turn: registry.materialize(|_| true),
            _registration: registration.expect("all names are good"),
            _temp: temp,
            root,
        }
    }

    fn location(&self) -> PathBuf {
        self.root.join("loc")
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.location().join(name);
        fs::write(&path, content).expect("it is writable");
        path
    }

    async fn read(&self, input: Value) -> Settlement {
        let context = context(&self.location());
        self.turn.settle(call("read", input), context).await
    }

    async fn read_path(&self, path: &str) -> Settlement {
        self.read(json!({"path": path})).await
    }

    /// Like `read_path`, with everything that was asked on the way.
    async fn read_asking(&self, path: &str, permissions: &Arc<Recorder>) -> Settlement {
        let mut context = context(&self.location());
        context.permissions = Arc::clone(permissions) as _;
        self.turn
            .settle(call("read", json!({"path": path})), context)
            .await
    }
}

fn unreadable(path: &str) -> Settlement {
    failed(format!("Unable to read {path}"))
}

fn whole(path: &Path, content: &str, encoding: &str, mime: &str) -> Value {
    json!({
        "uri": format!("file://{}", path.display()),
        "name": path.file_name().and_then(OsStr::to_str),
        "content": content,
        "encoding": encoding,
        "mime": mime,
    })
}

/// The settled page of a read, which must have succeeded.
fn page(settlement: Settlement) -> Value {
    let Settlement::Success { structured, .. } = settlement else {
        panic!("{settlement:?}");
    };
    structured.into()
}

#[tokio::test]
async fn small_texts_are_returned_whole() {
    let project = Project::new();
    let many_lines = "x\n".repeat(3000);
    let limit = "x".repeat(51_200);
    for (name, bytes, content, mime) in [
        (
            "hello.txt",
            &b"hello world\n"[..],
            "hello world\n",
            "text/plain",
        ),
        ("empty.md", b"", "", "text/markdown"),
        ("crlf.ts", b"a\r\nb\r\n", "a\r\nb\r\n", "video/mp2t"),
        ("bom.json", b"\xef\xbb\xbf{}", "{}", "application/json"),
        (
            "Makefile",
            "größe\t\x0c".as_bytes(),
            "größe\t\x0c",
            "application/octet-stream",
        ),
        (
            "many",
            many_lines.as_bytes(),
            &many_lines,
            "application/octet-stream",
        ),
        (
            "limit",
            limit.as_bytes(),
            &limit,
            "application/octet-stream",
        ),
    ] {
        let path = project.write(name, bytes);
        let structured = page(project.read_path(name).await);
        let expected = whole(&path, content, "utf8", mime);
        assert_eq!(structured.to_string(), expected.to_string(), "{name}");
    }
}

#[tokio::test]
async fn paths_inside_are_the_same_file_however_they_are_written() {
    let project = Project::new();
    fs::create_dir(project.location().join("sub")).unwrap();
    let path = project.write("sub/a b#.txt", "text");
    symlink("sub/a b#.txt", project.location().join("link.txt")).unwrap();
    let mut expected = whole(&path, "text", "utf8", "text/plain");
    let uri = format!("file://{}/sub/a%20b%23.txt", project.location().display());
    expected["uri"] = uri.into();
    let absolute = path.to_str().unwrap();
    for given in [
        "sub/a b#.txt",
        "./sub/./a b#.txt",
        "sub/../sub/a b#.txt",
        "missing/../sub/a b#.txt",
        "../loc/sub/a b#.txt",
        "link.txt",
        absolute,
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        let settled = project.read_asking(given, &permissions).await;
        assert_eq!(settled, success(expected.clone(), vec![]), "{given}");
        let asked = (
            "read".to_owned(),
            vec!["sub/a b#.txt".to_owned()],
            vec!["*".to_owned()],
        );
        assert_eq!(permissions.asked(), [asked], "{given}");
    }
}

#[tokio::test]
async fn binary_content_goes_to_programs_and_its_size_to_the_model() {
    let project = Project::new();
    let ratio = [[1; 31].as_slice(), &[b'a'; 69]].concat();
    for (name, bytes, mime) in [
        ("nul", &b"text\0text"[..], "application/octet-stream"),
        ("nul.txt", b"text\0text", "text/plain"),
        ("controls", &ratio, "application/octet-stream"),
        ("text.zip", b"no zip at all", "application/zip"),
        ("TEXT.EXE", b"text", "application/octet-stream"),
        ("paper.txt", b"%PDF-1.7", "text/plain"),
        ("paper.pdf", b"%PDF-1.7", "application/pdf"),
        ("invalid", b"\xff\xfe\0a", "application/octet-stream"),
        ("limit.bin", &[b'x'; 51_200], "application/octet-stream"),
    ] {
        let path = project.write(name, bytes);
        let structured = whole(&path, &STANDARD.encode(bytes), "base64", mime);
        let size = bytes.len();
        let told = text(&format!(
            "Binary file read successfully: {mime}, {size} bytes"
        ));
        let expected = success(structured, vec![told]);
        assert_eq!(project.read_path(name).await, expected, "{name}");
        if name == "nul" {
            let paged = project.read(json!({"path": name, "limit": 1})).await;
            assert_eq!(paged, expected, "a page of it");
        }
    }
    let almost = [[1; 30].as_slice(), &[b'a'; 70]].concat();
    project.write("almost", &almost);
    let structured = page(project.read_path("almost").await);
    assert_eq!(structured["encoding"], "utf8");
}

#[tokio::test]
async fn large_binaries_are_refused_by_name() {
    let project = Project::new();
    for (name, bytes) in [
        ("large.bin", vec![b'x'; 51_201]),
        ("large.txt", vec![0; 51_201]),
        ("large.pdf", [b"%PDF".as_slice(), &[b'x'; 51_200]].concat()),
        ("late", [vec![b'x'; 100_000], vec![0]].concat()),
    ] {
        project.write(name, bytes);
        let expected = failed(format!("Cannot read binary file: {name}"));
        assert_eq!(project.read_path(name).await, expected);
    }
}

#[tokio::test]
async fn images_are_shown_whatever_they_are_called() {
    let project = Project::new();
    for (name, bytes, mime) in [
        ("a.png", &b"\x89PNG\r\n\x1a\n\0\0"[..], "image/png"),
        ("b.txt", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("c.bin", b"GIF89a", "image/gif"),
        ("d", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ] {
        let path = project.write(name, bytes);
        let encoded = STANDARD.encode(bytes);
        let given = format!("./{name}");
        let shown = ToolContent::File {
            uri: format!("data:{mime};base64,{encoded}"),
            mime: mime.to_owned(),
            name: Some(given.clone()),
        };
        let structured = whole(&path, &encoded, "base64", mime);
        let expected = success(structured, vec![text("Image read successfully"), shown]);
        assert_eq!(project.read_path(&given).await, expected);
    }
    let path = project.write("huge.png", "\u{89}PNG");
    fs::write(&path, b"\x89PNG\r\n\x1a\n").unwrap();
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_len(20_971_521).unwrap();
    let refused = failed("Media exceeds 20971520 byte ingestion limit: huge.png");
    assert_eq!(project.read_path("huge.png").await, refused);
    file.set_len(20_971_520).unwrap();
    let shown = page(project.read_path("huge.png").await);
    assert_eq!(shown["content"].as_str().map(str::len), Some(27_962_028));
}

#[tokio::test]
async fn pages_are_cut_at_lines() {
    let project = Project::new();
    project.write("three.txt", "a\r\nb\nc\r\n");
    project.write("open.txt", "a\nb");
    project.write("empty.txt", "");
    project.write("bom.txt", "\u{feff}a\nb\n");
    project.write("blank.txt", "\n\n");
    let paged = |content: &str, offset: u64, next: Option<u64>| {
        let mut page = json!({
            "type": "text-page",
            "content": content,
            "mime": "text/plain",
            "offset": offset,
            "truncated": next.is_some(),
        });
        if let Some(next) = next {
            page["next"] = next.into();
        }
        page
    };
    for (name, offset, limit, content, next) in [
        ("three.txt", 1, Some(2), "a\nb", Some(3)),
        ("three.txt", 1, Some(3), "a\nb\nc", None),
        ("three.txt", 1, None, "a\nb\nc", None),
        ("three.txt", 3, Some(1), "c", None),
        ("three.txt", 2, Some(1), "b", Some(3)),
        ("open.txt", 2, None, "b", None),
        ("open.txt", 1, Some(1), "a", Some(2)),
        ("empty.txt", 1, None, "", None),
        ("bom.txt", 1, Some(1), "a", Some(2)),
        ("blank.txt", 1, Some(1), "", Some(2)),
        ("blank.txt", 2, None, "", None),
    ] {
        let mut input = json!({"path": name, "offset": offset});
        if let Some(limit) = limit {
            input["limit"] = limit.into();
        }
        let structured = page(project.read(input).await);
        let expected = paged(content, offset, next);
        assert_eq!(
            structured.to_string(),
            expected.to_string(),
            "{name} {offset} {limit:?}"
        );
    }
    for (name, offset) in [
        ("three.txt", 4),
        ("open.txt", 3),
        ("empty.txt", 2),
        ("blank.txt", 3),
        ("open.txt", 9_007_199_254_740_991_u64),
    ] {
        let settled = project.read(json!({"path": name, "offset": offset})).await;
        assert_eq!(settled, unreadable(name), "{name} {offset}");
    }
}

#[tokio::test]
async fn pages_end_at_two_thousand_lines() {
    let project = Project::new();
    let lines = |count: usize| "0123456789abcdef0123456789\n".repeat(count);
    for (count, next) in [(1999, None), (2000, None), (2001, Some(2001))] {
        project.write("lines.txt", lines(count).replace("f0123456789", ""));
        let structured = page(
            project
                .read(json!({"path": "lines.txt", "offset": 1}))
                .await,
        );
        let content = structured["content"].as_str().unwrap();
        assert_eq!(content.lines().count(), count.min(2000));
        assert_eq!(
            structured.get("next").and_then(Value::as_u64),
            next,
            "{count} lines"
        );
    }
}

#[tokio::test]
async fn pages_end_at_fifty_kilobytes() {
    let project = Project::new();
    // 51 lines of 1000 bytes and their newlines are 51050 bytes joined.
    for (last, lines, next) in [(149, 52, None), (150, 51, Some(52))] {
        let full = format!("{}\n", "x".repeat(1000)).repeat(51);
        project.write("bytes.txt", format!("{full}{}", "y".repeat(last)));
        let structured = page(
            project
                .read(json!({"path": "bytes.txt", "limit": 2000}))
                .await,
        );
        let content = structured["content"].as_str().unwrap();
        assert_eq!(content.lines().count(), lines);
        assert!(content.len() <= 51_200);
        assert_eq!(structured.get("next").and_then(Value::as_u64), next);
        if let Some(next) = next {
            let input = json!({"path": "bytes.txt", "offset": next});
            assert_eq!(page(project.read(input).await)["content"], "y".repeat(last));
        }
    }
}

#[tokio::test]
async fn long_lines_are_cut_at_two_thousand_utf16_units() {
    let project = Project::new();
    let cut = "... (line truncated to 2000 chars)";
    let smile = "\u{1f600}";
    for (line, shown) in [
        ("x".repeat(2000), "x".repeat(2000)),
        (format!("{}\r", "x".repeat(2000)), "x".repeat(2000)),
        ("x".repeat(2001), format!("{}{cut}", "x".repeat(2000))),
        ("é".repeat(2000), "é".repeat(2000)),
        ("日".repeat(2001), format!("{}{cut}", "日".repeat(2000))),
        (smile.repeat(1000), smile.repeat(1000)),
        (smile.repeat(1001), format!("{}{cut}", smile.repeat(1000))),
        (
            format!("x{}", smile.repeat(1000)),
            format!("x{}{cut}", smile.repeat(999)),
        ),
        (
            format!("x{}", smile.repeat(9000)),
            format!("x{}{cut}", smile.repeat(999)),
        ),
        ("x".repeat(500_000), format!("{}{cut}", "x".repeat(2000))),
    ] {
        project.write("long.txt", format!("{line}\nend"));
        let structured = page(project.read(json!({"path": "long.txt", "offset": 1})).await);
        assert_eq!(
            structured["content"],
            format!("{shown}\nend"),
            "{} bytes",
            line.len()
        );
    }
}

#[tokio::test]
async fn text_that_is_not_utf8_is_refused() {
    let project = Project::new();
    let invalid = b"caf\xe9\nfine\n";
    project.write("small.txt", invalid);
    assert_eq!(
        project.read_path("small.txt").await,
        unreadable("small.txt")
    );
    let first = project.read(json!({"path": "small.txt", "limit": 1})).await;
    assert_eq!(first, unreadable("small.txt"));
    let second = project
        .read(json!({"path": "small.txt", "offset": 2}))
        .await;
    assert_eq!(page(second)["content"], "fine");
    project.write("cut.txt", b"ends in a half character \xc3");
    let cut = project.read(json!({"path": "cut.txt", "limit": 1})).await;
    assert_eq!(cut, unreadable("cut.txt"));
}

#[tokio::test]
async fn a_sparse_file_of_many_gigabytes_costs_only_its_page() {
    let project = Project::new();
    let path = project.write("sparse.txt", "a\nb\nc\n");
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_len(1 << 40).unwrap();
    let structured = page(
        project
            .read(json!({"path": "sparse.txt", "limit": 3}))
            .await,
    );
    assert_eq!(structured["content"], "a\nb\nc");
    assert_eq!(structured["next"], 4);
    let refused = failed("Cannot read binary file: sparse.txt");
    assert_eq!(
        project
            .read(json!({"path": "sparse.txt", "offset": 4}))
            .await,
        refused
    );
}

#[tokio::test]
async fn escapes_are_refused_without_a_question() {
    let project = Project::new();
    let location = project.location();
    let outside = project.root.join("outside");
    fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(outside.join("secret.txt"), location.join("file-link")).unwrap();
    symlink(&outside, location.join("directory-link")).unwrap();
    symlink(outside.join("missing"), location.join("dangling")).unwrap();
    symlink("loop-b", location.join("loop-a")).unwrap();
    symlink("loop-a", location.join("loop-b")).unwrap();
    project.write("plain.txt", "text");
    let inside = |name: &str| location.join(name).to_str().unwrap().to_owned();
    let long_name = "n".repeat(300);
    let deep = "d/".repeat(100_000);
    for path in [
        "..",
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "../../../../../../../../etc/passwd",
        "../loc-not",
        "file-link",
        "directory-link",
        "directory-link/secret.txt",
        "directory-link/../plain.txt/../../outside/secret.txt",
        "dangling",
        "dangling/child",
        "loop-a",
        "loop-a/child",
        &inside("file-link"),
        &inside("directory-link/secret.txt"),
        "plain.txt/child",
        "plain.txt/child/grandchild",
        "nul\0byte",
        "/nul\0byte",
        &long_name,
        &deep,
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        let settled = project.read_asking(path, &permissions).await;
        let Settlement::Failed { message, kind } = settled else {
            panic!("{path:?} was read: {settled:?}");
        };
        assert_eq!(kind, ErrorKind::Tool);
        // The longest path makes a message that is bounded like any other.
        let expected = format!("Unable to read {path}");
        assert!(
            message == expected || path == deep && message.len() == 51_200,
            "{message}"
        );
        assert_eq!(permissions.asked(), [], "{path:?}");
    }
}

#[tokio::test]
async fn missing_targets_fail_before_the_read_question_but_after_the_external_one() {
    let project = Project::new();
    let outside = project.root.join("outside").to_str().unwrap().to_owned();
    for (path, asked) in [
        ("missing.txt".to_owned(), vec![]),
        ("missing/deeper.txt".to_owned(), vec![]),
        (format!("{outside}/missing"), vec!["external_directory"]),
        (
            format!("{outside}/missing/deeper"),
            vec!["external_directory"],
        ),
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        assert_eq!(
            project.read_asking(&path, &permissions).await,
            unreadable(&path)
        );
        let actions: Vec<_> = permissions
            .asked()
            .into_iter()
            .map(|(action, ..)| action)
            .collect();
        assert_eq!(actions, asked, "{path}");
    }
}

#[tokio::test]
async fn outside_files_need_their_directory_first() {
    let project = Project::new();
    let outside = project.root.join("outside");
    let odd = outside.join("odd*");
    fs::create_dir(&odd).unwrap();
    fs::write(outside.join("a.txt"), "a").unwrap();
    fs::write(odd.join("b.txt"), "b").unwrap();
    symlink(outside.join("a.txt"), project.root.join("link")).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let pattern = format!("{}/*", text(&outside));
    for (given, resource, directory, save) in [
        (
            text(&outside.join("a.txt")),
            text(&outside.join("a.txt")),
            pattern.clone(),
            true,
        ),
        (
            text(&project.root.join("link")),
            text(&outside.join("a.txt")),
            pattern.clone(),
            true,
        ),
        (text(&outside), text(&outside), pattern.clone(), true),
        (
            text(&odd.join("b.txt")),
            text(&odd.join("b.txt")),
            format!("{}/*", text(&odd)),
            false,
        ),
    ] {
        let permissions = Recorder::new(|_| Ok(()));
        let settled = project.read_asking(&given, &permissions).await;
        assert!(
            matches!(settled, Settlement::Success { .. }),
            "{given}: {settled:?}"
        );
        let saved = if save {
            vec![directory.clone()]
        } else {
            vec![]
        };
        assert_eq!(
            permissions.asked(),
            [
                ("external_directory".to_owned(), vec![directory], saved),
                ("read".to_owned(), vec![resource], vec!["*".to_owned()]),
            ],
        );
    }
}

#[tokio::test]
async fn refusals_stop_the_read() {
    let project = Project::new();
    project.write("a.txt", "a");
    let outside = project.root.join("outside/b.txt");
    fs::write(&outside, "b").unwrap();
    let outside = outside.to_str().unwrap().to_owned();
    for (path, refused_action) in [
        ("a.txt".to_owned(), "read"),
        (outside.clone(), "read"),
        (outside, "external_directory"),
    ] {
        let corrected = PermissionError::Corrected {
            feedback: "not this one".to_owned(),
        };
        let message = format!("Unable to read {path}");
        let kind = ErrorKind::Permission;
        for (error, expected) in [
            (PermissionError::Declined, Settlement::Declined),
            (
                PermissionError::Blocked,
                Settlement::Failed {
                    message: message.clone(),
                    kind,
                },
            ),
            (
                corrected,
                Settlement::Failed {
                    message: format!("{message}: not this one"),
                    kind,
                },
            ),
        ] {
            let permissions = Recorder::new(move |request| {
                if request.action == refused_action {
                    Err(error.clone())
                } else {
                    Ok(())
                }
            });
            assert_eq!(project.read_asking(&path, &permissions).await, expected);
            let last = permissions.asked().pop().map(|(action, ..)| action);
            assert_eq!(last.as_deref(), Some(refused_action));
        }
    }
}

#[tokio::test]
async fn a_link_put_in_place_during_the_question_is_not_followed() {
    let project = Project::new();
    fs::create_dir(project.location().join("sub")).unwrap();
    project.write("sub/a.txt", "mine");
    let outside = project.root.join("outside");
    fs::write(outside.join("a.txt"), "secret").unwrap();
    let sub = project.location().join("sub");
    let permissions = Recorder::new(move |_| {
        fs::rename(&sub, sub.with_file_name("moved")).unwrap();
        symlink(&outside, &sub).unwrap();
        Ok(())
    });
    let settled = project.read_asking("sub/a.txt", &permissions).await;
    assert_eq!(settled, unreadable("sub/a.txt"));
}

#[tokio::test]
async fn what_is_neither_file_nor_directory_is_not_opened() {
    let project = Project::new();
    let fifo = project.location().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let _socket = UnixListener::bind(project.location().join("socket")).unwrap();
    symlink("fifo", project.location().join("fifo-link")).unwrap();
    for path in ["fifo", "fifo-link", "socket", "/dev/zero", "/dev/stdin"] {
        assert_eq!(project.read_path(path).await, unreadable(path));
    }
    let permissions = Recorder::new(|_| Ok(()));
    assert_eq!(
        project.read_asking("fifo", &permissions).await,
        unreadable("fifo")
    );
    assert_eq!(permissions.asked(), []);
}

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
async fn a_large_directory_is_paged_and_its_preview_bounded() {
    let project = Project::new();
    for index in 0..2001 {
        project.write(&format!("{index:04}"), "");
    }
    let settled = project.read_path(".").await;
    let Settlement::Success {
        structured,
        content,
        output_paths,
    } = settled
    else {
        panic!("{settled:?}");
    };
    assert_eq!(structured["entries"].as_array().map(Vec::len), Some(2000));
    assert_eq!(structured["next"], 2001);
    assert_eq!((content.len(), output_paths.len()), (1, 1));
    let kept = fs::read_to_string(&output_paths[0]).unwrap();
    assert_eq!(kept, serde_json::to_string_pretty(&structured).unwrap());
}

#[tokio::test]
async fn a_missing_location_reads_nothing() {
    let project = Project::new();
    fs::remove_dir(project.location()).unwrap();
    for path in ["", "a.txt", "/etc/hosts"] {
        assert_eq!(project.read_path(path).await, unreadable(path));
    }
}
