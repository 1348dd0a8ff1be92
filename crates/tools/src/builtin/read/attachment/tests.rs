use std::{fs, os::unix::fs::symlink, path::PathBuf, process::Command};

use opencode_location::directory::{TargetKind, resolve};

use super::*;

/// A real PNG of one pixel.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 0x0a, b'I', b'D', b'A', b'T',
    0x78, 0x9c, 0x63, 0x60, 0, 0, 0, 2, 0, 1, 0x48, 0xaf, 0xa4, 0x71, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xae, 0x42, 0x60, 0x82,
];

struct Folder {
    _temp: tempfile::TempDir,
    root: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        Self { _temp: temp, root }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.root.join(name), content).unwrap();
    }

    /// Returns the content in a short form for comparisons.
    async fn read(&self, name: &str, lines: Option<Lines>) -> String {
        let request = AttachmentRequest {
            target: resolve(&self.root, name, TargetKind::Directory).unwrap(),
            lines,
            image_limits: ImageLimits::default(),
            cancel: CancellationToken::new(),
        };
        match read_attachment(request).await {
            Ok(Attachment::Text { text, next: None }) => format!("text {text}"),
            Ok(Attachment::Text {
                text,
                next: Some(next),
            }) => format!("text {text} next {next}"),
            Ok(Attachment::Directory { names, omitted }) => format!("names {names}-{omitted}"),
            Ok(Attachment::Media(Media { mime, bytes })) => format!("{mime} {}", bytes.len()),
            Err(error) => error.to_string(),
        }
    }
}

#[tokio::test]
async fn each_kind_of_file_has_its_outcome() {
    let folder = Folder::new();
    folder.write("empty", "");
    folder.write("utf8.txt", "caf\u{e9}\n");
    folder.write("bom.txt", b"\xef\xbb\xbfhi");
    folder.write("utf16le.txt", b"\xff\xfeh\0\xe9\0");
    folder.write("utf16be.txt", b"\xfe\xff\0h\0\xe9");
    folder.write("latin1.txt", b"caf\xe9");
    folder.write("utf16nul.txt", b"\xff\xfeh\0\0\0");
    folder.write("program.bin", b"\x7fELF\0\0");
    folder.write("archive.zip", b"PK\x03\x04\0");
    folder.write("text.zip", "not an archive");
    folder.write("dot.png", PNG);
    folder.write("image.txt", PNG);
    folder.write("broken.png", &PNG[..20]);
    folder.write("paper.pdf", "%PDF-1.7\n");
    folder.write("sound.wav", b"RIFF\0\0\0\0WAVEfmt ");
    folder.write("song.mp3", b"ID3\x04");
    folder.write("picture.svg", "<svg/>");
    fs::create_dir(folder.root.join("inner")).unwrap();
    folder.write("inner/b", "");
    fs::create_dir(folder.root.join("inner/z")).unwrap();
    let made = Command::new("mkfifo")
        .arg(folder.root.join("fifo"))
        .status();
    assert!(made.unwrap().success());
    symlink("utf8.txt", folder.root.join("link")).unwrap();
    let sparse = File::create(folder.root.join("sparse")).unwrap();
    sparse.set_len(2 * 1024 * 1024 * 1024).unwrap();
    let huge = File::create(folder.root.join("huge.pdf")).unwrap();
    huge.set_len(2 * 1024 * 1024 * 1024).unwrap();
    std::os::unix::fs::FileExt::write_at(&huge, b"%PDF-1.7", 0).unwrap();
    const MISSING: &str = "there is no such file that the session can read";
    let binary = |mime: &str, bytes: u64| {
        format!(
            "it is a binary file of the type {mime} with {bytes} bytes, and neither text nor an image, a PDF or a sound"
        )
    };
    for (name, outcome) in [
        ("empty", "text ".to_owned()),
        ("utf8.txt", "text caf\u{e9}\n".to_owned()),
        ("bom.txt", "text hi".to_owned()),
        ("utf16le.txt", "text h\u{e9}".to_owned()),
        ("utf16be.txt", "text h\u{e9}".to_owned()),
        ("latin1.txt", "text caf\u{e9}".to_owned()),
        ("utf16nul.txt", binary("text/plain", 6)),
        ("program.bin", binary("application/octet-stream", 6)),
        ("archive.zip", binary("application/zip", 5)),
        ("text.zip", "text not an archive".to_owned()),
        ("dot.png", format!("image/png {}", PNG.len())),
        ("image.txt", format!("image/png {}", PNG.len())),
        ("broken.png", "its image cannot be decoded".to_owned()),
        ("paper.pdf", "application/pdf 9".to_owned()),
        ("sound.wav", "audio/wav 16".to_owned()),
        ("song.mp3", "audio/mpeg 4".to_owned()),
        ("picture.svg", "text <svg/>".to_owned()),
        ("inner", "names z/\nb\n-0".to_owned()),
        ("fifo", MISSING.to_owned()),
        ("missing", MISSING.to_owned()),
        ("link", "text caf\u{e9}\n".to_owned()),
        ("sparse", binary("application/octet-stream", 2 << 30)),
        (
            "huge.pdf",
            "it is of the type application/pdf and has more than 20971520 bytes".to_owned(),
        ),
    ] {
        assert_eq!(folder.read(name, None).await, outcome, "{name}");
    }
}

#[tokio::test]
async fn lines_are_selected_and_bounded() {
    let folder = Folder::new();
    folder.write("a.txt", "one\ntwo\nthree\nfour\n");
    let lines = |one, other| Some(Lines::new(one, other));
    for (lines, expected) in [
        (lines(2, 3), "text two\nthree"),
        (lines(3, 2), "text two\nthree"),
        (lines(0, 1), "text one"),
        (lines(4, 9_000), "text four"),
        (lines(4, u64::MAX), "text four"),
        (
            lines(5, 6),
            "it has no line 5, or that line is not in its first 64 MiB",
        ),
        (
            lines(u64::MAX, u64::MAX),
            "it has no line 18446744073709551615, or that line is not in its first 64 MiB",
        ),
    ] {
        assert_eq!(folder.read("a.txt", lines).await, expected, "{lines:?}");
    }
    folder.write("utf16.txt", b"\xff\xfea\0\n\0b\0\n\0");
    assert_eq!(folder.read("utf16.txt", lines(2, 2)).await, "text b");
    folder.write("long.txt", "x\n".repeat(3_000));
    let long = folder.read("long.txt", None).await;
    assert!(long.ends_with("next 2001"), "{}", &long[long.len() - 20..]);
    folder.write("wide.txt", "y".repeat(200_000));
    assert!(folder.read("wide.txt", None).await.len() < 3_000);
}
