//! Tests for the results of reading a file: whole texts, pages, binaries and images.

use std::{fs, os::unix::fs::symlink};

use crate::common::{Recorder, failed, success, text};
use crate::project::{Project, page, unreadable, whole};
use base64::{Engine, engine::general_purpose::STANDARD};
use opencode_schema::message::ToolContent;
use opencode_tools::Settlement;
use serde_json::{Value, json};

/// An image of one pixel.
const PIXEL: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

#[tokio::test]
async fn small_texts_are_returned_completely() {
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
async fn different_spellings_of_a_path_are_the_same_file() {
    let project = Project::new();
    fs::create_dir(project.location().join("sub")).unwrap();
    let path = project.write("sub/a b#.txt", "text");
    symlink("sub/a b#.txt", project.location().join("link.txt")).unwrap();
    let mut expected = whole(&path, "text", "utf8", "text/plain");
    let uri = format!("file://{}/sub/a%20b%23.txt", project.location().display());
    expected["uri"] = uri.into();
    let mut expected = success(expected, vec![]);
    if let Settlement::Success { explored, .. } = &mut expected {
        explored.push("sub".to_owned());
    }
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
        assert_eq!(settled, expected, "{given}");
        let asked = (
            "read".to_owned(),
            vec!["sub/a b#.txt".to_owned()],
            vec!["*".to_owned()],
        );
        assert_eq!(permissions.asked(), [asked], "{given}");
    }
}

#[tokio::test]
async fn binary_content_is_returned_to_programs_and_its_size_to_the_model() {
    let project = Project::new();
    let ratio = [[1; 31].as_slice(), &[b'a'; 69]].concat();
    for (name, bytes, mime) in [
        ("nul", &b"text\0text"[..], "application/octet-stream"),
        ("nul.txt", b"text\0text", "text/plain"),
        ("controls", &ratio, "application/octet-stream"),
        ("archive.zip", b"PK\x03\x04 rest", "application/zip"),
        ("paper.txt", b"%PDF-1.7", "text/plain"),
        ("paper.pdf", b"%PDF-1.7", "application/pdf"),
        ("limit.bin", &[1; 51_200], "application/octet-stream"),
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
        ("large.bin", vec![1; 51_201]),
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
async fn images_are_shown_for_any_file_name() {
    let project = Project::new();
    let name = "photo.txt";
    let bytes = STANDARD.decode(PIXEL).unwrap();
    let path = project.write(name, &bytes);
    let given = format!("./{name}");
    let shown = ToolContent::File {
        uri: format!("data:image/gif;base64,{PIXEL}"),
        mime: "image/gif".to_owned(),
        name: Some(given.clone()),
    };
    let structured = whole(&path, PIXEL, "base64", "image/gif");
    let expected = success(structured, vec![text("Image read successfully"), shown]);
    assert_eq!(project.read_path(&given).await, expected);
}

#[tokio::test]
async fn images_over_twenty_mebibytes_are_not_read() {
    let project = Project::new();
    let path = project.write("huge.gif", STANDARD.decode(PIXEL).unwrap());
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_len(20_971_521).unwrap();
    let refused = failed("Media exceeds 20971520 byte ingestion limit: huge.gif");
    assert_eq!(project.read_path("huge.gif").await, refused);
    // Just within the limit for reading. Its only pixel is enough to show it.
    file.set_len(20_971_520).unwrap();
    let shown = page(project.read_path("huge.gif").await);
    assert_eq!(shown["mime"], "image/png");
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
        let reason = unreadable(&settled, name);
        let start = format!("the offset {offset} is behind the end, it has ");
        assert!(reason.starts_with(&start), "{name} {offset}: {reason}");
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
    // 51 lines of 1000 bytes, joined by newlines, have 51050 bytes.
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

/// Returns the bytes of a text in UTF-16.
fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[tokio::test]
async fn the_bytes_decide_what_is_text_and_in_which_encoding() {
    let project = Project::new();
    let text = "first line\r\nsecond caf\u{e9}\r\n";
    let latin = b"first line\r\nsecond caf\xe9\r\n";
    let western = Some("windows-1252");
    for (name, bytes, charset) in [
        ("utf8.dat", text.as_bytes().to_vec(), None),
        ("mesh.obj", text.as_bytes().to_vec(), None),
        ("note.exe", text.as_bytes().to_vec(), None),
        ("utf8.ts", ["\u{feff}", text].concat().into_bytes(), None),
        (
            "wide.txt",
            wide(&["\u{feff}", text].concat(), u16::to_le_bytes),
            None,
        ),
        (
            "p.ps1",
            wide(&["\u{feff}", text].concat(), u16::to_be_bytes),
            None,
        ),
        ("unmarked.bin", wide(text, u16::to_le_bytes), None),
        ("unmarked.so", wide(text, u16::to_be_bytes), None),
        ("latin.txt", latin.to_vec(), western),
        ("latin", latin.to_vec(), western),
    ] {
        project.write(name, &bytes);
        let whole = page(project.read_path(name).await);
        assert_eq!(whole["content"], text, "{name}");
        assert_eq!(whole["encoding"], "utf8", "{name}");
        assert_eq!(
            whole.get("charset").and_then(Value::as_str),
            charset,
            "{name}"
        );
        for (offset, content) in [(1, "first line"), (2, "second caf\u{e9}")] {
            let input = json!({"path": name, "offset": offset, "limit": 1});
            let read = page(project.read(input).await);
            assert_eq!(read["content"], content, "{name}");
            assert_eq!(
                read.get("charset").and_then(Value::as_str),
                charset,
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn a_large_text_of_any_encoding_is_read_by_pages() {
    let project = Project::new();
    let lines = "0123456789 caf\u{e9}\n".repeat(20_000);
    let (latin, _, _) = encoding_rs::WINDOWS_1252.encode(&lines);
    let late = [
        "x\n".repeat(100_000).into_bytes(),
        b"caf\xe9 noir\n".to_vec(),
    ]
    .concat();
    for (bytes, offset, expected) in [
        (lines.clone().into_bytes(), 20_000, "0123456789 caf\u{e9}"),
        (latin.into_owned(), 20_000, "0123456789 caf\u{e9}"),
        (
            wide(&["\u{feff}", &lines].concat(), u16::to_le_bytes),
            20_000,
            "0123456789 caf\u{e9}",
        ),
        (late, 100_001, "caf\u{e9} noir"),
    ] {
        project.write("large.txt", bytes);
        let input = json!({"path": "large.txt", "offset": offset});
        assert_eq!(page(project.read(input).await)["content"], expected);
    }
}

#[tokio::test]
async fn text_in_no_certain_encoding_is_refused_with_the_reason() {
    let project = Project::new();
    let late = [
        "x\n".repeat(100_000).into_bytes(),
        b"\xc4\xe3\xba\xc3\n".to_vec(),
    ]
    .concat();
    for (name, bytes, reason) in [
        ("gbk.txt", b"\xc4\xe3\xba\xc3\n".to_vec(), "valid in GBK"),
        (
            "cut.txt",
            b"ends in a half character \xc3".to_vec(),
            "not certain",
        ),
        ("wide.txt", b"\xff\xfe\0\0a\0\0\0".to_vec(), "UTF-32"),
        ("late.txt", late, "valid in GBK"),
    ] {
        project.write(name, bytes);
        let offset = if name == "late.txt" { 100_001 } else { 1 };
        let settled = project.read(json!({"path": name, "offset": offset})).await;
        let Settlement::Failed { message, .. } = settled else {
            panic!("{settled:?}");
        };
        assert!(
            message.starts_with(&format!("Unable to read {name}: it is text in")),
            "{message}"
        );
        assert!(message.contains(reason), "{message}");
    }
    let first = page(project.read(json!({"path": "late.txt", "limit": 1})).await);
    assert_eq!(first["content"], "x");
}

#[tokio::test]
async fn damaged_characters_of_utf8_are_replaced() {
    let project = Project::new();
    project.write(
        "damaged.txt",
        "\u{e9}t\u{e9} \u{e0} \u{f6}\n"
            .as_bytes()
            .iter()
            .chain(b"a\xffb\n")
            .copied()
            .collect::<Vec<_>>(),
    );
    let read = page(project.read_path("damaged.txt").await);
    assert_eq!(read["content"], "\u{e9}t\u{e9} \u{e0} \u{f6}\na\u{fffd}b\n");
}

#[tokio::test]
async fn reading_a_page_of_a_sparse_file_of_many_gigabytes_takes_bounded_memory() {
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
