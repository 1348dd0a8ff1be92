//! The text of attached files: the form that the model reads, and the stored form.

use opencode_runtime::PromptRequest;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{PromptInput, PromptInputFileAttachment};
use opencode_testkit::{Fixture, Reply, compact, prompt_request};
use serde_json::json;

fn file(uri: &str) -> PromptInputFileAttachment {
    PromptInputFileAttachment {
        uri: uri.to_owned(),
        name: None,
        description: None,
        source: None,
    }
}

fn request(session: &SessionID, uris: &[&str]) -> PromptRequest {
    PromptRequest {
        prompt: PromptInput {
            text: "Look".to_owned(),
            files: Some(uris.iter().map(|uri| file(uri)).collect()),
            agents: None,
        },
        ..prompt_request(session, "Look")
    }
}

fn uri(f: &Fixture, path: &str) -> String {
    format!("file://{}", f.project.path(path).display())
}

/// The message before a prompt with these attached files.
async fn read(f: &Fixture, uris: &[&str]) -> String {
    let session = f.session().await;
    f.model.reply(Reply::says("Yes."));
    f.admit(request(&session, uris)).await;
    f.wait(&session).await;
    let messages = compact::messages(&f.model.last_request());
    assert_eq!(messages.len(), 2, "{messages:?}");
    messages[0].clone()
}

#[tokio::test]
async fn the_text_of_a_file_is_stored_with_its_prompt() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    f.project.write("notes.rs", "fn one() {}\n");
    let uri = uri(&f, "notes.rs");
    f.model.otherwise(|_| Reply::says("Yes."));
    let uris = [uri.as_str(), "data:text/plain;base64,aGk="];
    let request = PromptRequest {
        id: Some(MessageID::parse("msg_attaching").unwrap()),
        ..request(&session, &uris)
    };
    let receipt = f.admit(request.clone()).await;
    f.wait(&session).await;
    let events = f.events(&session).await;
    let position = |name: &str| events.iter().position(|event| event.starts_with(name));
    assert_eq!(
        (position("synthetic"), position("prompted")),
        (Some(1), Some(2))
    );
    let first = f.model.last_request();
    let text = format!("{:?}", first.messages[0]);
    for piece in ["notes.rs", "fn one() {}", "hi"] {
        assert!(text.contains(piece), "{piece}: {text}");
    }
    assert!(
        !format!("{first:?}").contains("cannot be read"),
        "{first:?}"
    );
    // The file changes, the process ends, and the same bytes are sent again.
    f.project.write("notes.rs", "fn two() {}\n");
    f.reopen().await;
    let again = f.admit(request).await;
    assert_eq!(again.admitted_seq, receipt.admitted_seq);
    assert_eq!(again.prompt, receipt.prompt);
    f.ask(&session, "More").await;
    let second = f.model.last_request();
    assert_eq!(second.messages[..2], first.messages[..2]);
    // An import into another store gives the same messages.
    let lines = f.export(&session).await;
    let other = Fixture::open().await;
    other.import(&lines).await.unwrap();
    assert_eq!(other.messages(&session).await, f.messages(&session).await);
}

#[tokio::test]
async fn unreadable_attachments_are_reported_without_a_permission_request() {
    let f = Fixture::open().await;
    f.project.write(".env", "KEY=1");
    f.project.write("secret.txt", "hidden");
    f.project.write("binary.dat", "a\0b");
    f.project.write("folder/inside.txt", "");
    let config =
        json!({"permission": {"read": {"*": "allow", "*.env": "ask", "secret.txt": "deny"}}});
    f.project.write("opencode.json", &config.to_string());
    let outside = f.project.root().join("outside.txt");
    std::fs::write(&outside, "far").unwrap();
    let outside = format!("file://{}", outside.display());
    for (uri, reason) in [
        (uri(&f, ".env"), "permission rules"),
        (uri(&f, "secret.txt"), "permission rules"),
        (outside, "permission rules"),
        (
            uri(&f, "binary.dat"),
            "a binary file of the type application/octet-stream with 3 bytes",
        ),
        (uri(&f, "folder"), "inside.txt"),
        (uri(&f, "missing.txt"), "no such file"),
        ("data:text/plain;base64,!".to_owned(), "cannot be decoded"),
    ] {
        let told = read(&f, &[&uri]).await;
        assert!(told.contains(reason), "{uri}: {told}");
        for content in ["KEY=1", "hidden", "far\n"] {
            assert!(!told.contains(content), "{uri}: {told}");
        }
    }
}

#[tokio::test]
async fn texts_are_bounded_individually_and_in_total() {
    let f = Fixture::open().await;
    f.project
        .write("long.txt", &format!("{}\n", "x".repeat(99)).repeat(2_000));
    let uri = uri(&f, "long.txt");
    let told = read(&f, &[&uri]).await;
    assert!(
        told.len() < 60_000 && told.contains("[cut here"),
        "{}",
        told.len()
    );
    let told = read(&f, &vec![uri.as_str(); 100]).await;
    assert!(told.len() < 2_100_000, "{}", told.len());
    assert!(told.contains("were not read"));
}

const JPEG: &str = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBD/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z";

/// A damaged or mislabelled image would make the provider refuse every later request.
#[tokio::test]
async fn media_in_data_uris_are_checked_at_the_promotion() {
    let mut f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    let given = format!("data:image/png;base64,{JPEG}");
    let broken = "data:image/png;base64,dGhpcyBpcyBubyBpbWFnZQ==";
    let good = format!("data:image/jpeg;base64,{JPEG}");
    let uris = [given.as_str(), broken, &good];
    let request = PromptRequest {
        id: Some(MessageID::parse("msg_pictures").unwrap()),
        ..request(&session, &uris)
    };
    let receipt = f.admit(request.clone()).await;
    f.wait(&session).await;
    let first = f.model.last_request();
    let sent = format!("{:?}", first.messages);
    assert_eq!(sent.matches(&good).count(), 2, "{sent}");
    assert!(!sent.contains(&given) && !sent.contains(broken), "{sent}");
    let told = "The attachment \\\"attachment\\\" (image/png) was not read: it cannot be decoded";
    assert!(sent.contains(told), "{sent}");
    // The admission keeps what the caller gave, so that a retry is exact.
    f.reopen().await;
    let again = f.admit(request).await;
    assert_eq!(again.admitted_seq, receipt.admitted_seq);
    assert_eq!(again.prompt, receipt.prompt);
    let files = again.prompt.files.unwrap();
    assert!(files.iter().map(|file| file.uri.as_str()).eq(uris));
    f.ask(&session, "More").await;
    let second = f.model.last_request();
    assert_eq!(second.messages[..first.messages.len()], first.messages[..]);
    let lines = f.export(&session).await;
    let other = Fixture::open().await;
    other.import(&lines).await.unwrap();
    assert_eq!(other.messages(&session).await, f.messages(&session).await);
}

/// The messages before a prompt with this text, joined.
async fn read_mentions(f: &Fixture, text: &str) -> String {
    let session = f.session().await;
    f.model.reply(Reply::says("Yes."));
    f.prompt(&session, text).await;
    f.wait(&session).await;
    let mut messages = compact::messages(&f.model.last_request());
    assert_eq!(messages.pop().unwrap(), format!("user: {text}"));
    messages.join("\n")
}

#[tokio::test]
async fn mentions_in_the_text_are_read_at_the_promotion() {
    let f = Fixture::open().await;
    f.project.write("src/a.rs", "one\ntwo\nthree\n");
    f.project.write("src/b c.rs", "spaced\n");
    f.project.write(".env", "KEY=1");
    f.project.write("docs/guide.md", "the guide\n");
    let reference = |path: &str| json!({"path": path, "description": "Our rules"});
    let config = json!({"references": {"rules": reference("./docs"), "gone": reference("./gone")}});
    f.project.write("opencode.json", &config.to_string());
    std::fs::write(f.project.root().join("far.txt"), "far away").unwrap();
    std::os::unix::fs::symlink(f.project.root().join("far.txt"), f.project.path("out")).unwrap();
    let far = f.project.root().join("far.txt").display().to_string();
    for (text, pieces, absent) in [
        (
            "Fix @src/a.rs please",
            vec!["name=\"src/a.rs\"", "one\ntwo\nthree"],
            "",
        ),
        (
            "Fix @src/a.rs#L2-3.",
            vec!["lines=\"2-3\"", "two\nthree"],
            "one",
        ),
        ("Fix @\"src/b c.rs\"", vec!["spaced"], ""),
        ("List @src", vec!["x-directory", "a.rs\nb c.rs"], "one"),
        (
            "Read @.env",
            vec!["\".env\" was not read: the permission rules"],
            "KEY=1",
        ),
        (
            &format!("Read @{far}"),
            vec!["the permission rules"],
            "far away",
        ),
        (
            "Read @out",
            vec!["a symbolic link leads out of the Location or to nothing"],
            "far away",
        ),
        (
            "Read @../far.txt",
            vec!["its relative path leaves the Location"],
            "far away",
        ),
        (
            "Ask @explore",
            vec!["mentions the agent \"explore\". Give it the work"],
            "",
        ),
        (
            "Obey @reference:rules",
            vec!["reference \"rules\"", "/docs", "Our rules"],
            "guide",
        ),
        ("Obey @reference:rules/guide.md", vec!["the guide"], ""),
        (
            "Obey @reference:rules/../.env",
            vec!["relative path leaves"],
            "KEY=1",
        ),
        (
            "Obey @reference:rules//etc/hosts",
            vec!["leads out of the reference"],
            "localhost",
        ),
        (
            "Obey @reference:gone",
            vec!["its directory", "does not exist"],
            "",
        ),
    ] {
        let told = read_mentions(&f, text).await;
        for piece in pieces {
            assert!(told.contains(piece), "{text}: {told}");
        }
        assert!(
            absent.is_empty() || !told.contains(absent),
            "{text}: {told}"
        );
    }
    for text in [
        "Mail me@src/a.rs or @missing.rs",
        "@Injectable() class",
        "`@src/a.rs` and \\@src/a.rs",
        "@build the thing",
        "@reference:none and @mcp:none/x",
        "@a\0b",
    ] {
        assert_eq!(read_mentions(&f, text).await, "", "{text}");
    }
}

#[tokio::test]
async fn a_mention_repeats_no_listed_file_and_literal_text_has_none() {
    let f = Fixture::open().await;
    f.project.write("a.txt", "content");
    f.model.otherwise(|_| Reply::says("Yes."));
    let listed = |source| PromptInputFileAttachment {
        source,
        ..file(&uri(&f, "a.txt"))
    };
    let range = opencode_schema::prompt::PromptSource {
        start: 5.0,
        end: 11.0,
        text: "@a.txt".to_owned(),
    };
    for files in [vec![listed(None)], vec![listed(Some(range))]] {
        let session = f.session().await;
        let mut request = prompt_request(&session, "Look @a.txt @a.txt @./a.txt");
        request.prompt.files = Some(files);
        f.admit(request).await;
        f.wait(&session).await;
        let messages = compact::messages(&f.model.last_request());
        assert_eq!(messages[0].matches("content").count(), 1, "{messages:?}");
    }
    let session = f.session().await;
    let literal = PromptRequest {
        mentions: false,
        ..prompt_request(&session, "Look @a.txt")
    };
    let admitted = f.admit(literal).await;
    assert_eq!(admitted.prompt.mentions, Some(false));
    f.wait(&session).await;
    let messages = compact::messages(&f.model.last_request());
    assert_eq!(messages, ["user: Look @a.txt"]);
}

#[tokio::test]
async fn a_retry_is_exact_although_a_mentioned_file_appeared() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    let request = PromptRequest {
        id: Some(MessageID::parse("msg_mentioning").unwrap()),
        ..prompt_request(&session, "Look @late.txt")
    };
    let receipt = f.admit(request.clone()).await;
    f.wait(&session).await;
    let before = f.events(&session).await;
    f.project.write("late.txt", "late");
    let again = f.admit(request).await;
    assert_eq!(again.prompt, receipt.prompt);
    f.wait(&session).await;
    assert_eq!(f.events(&session).await, before);
}

#[tokio::test]
async fn media_of_files_is_stored_once_and_sent_as_media() {
    let mut f = Fixture::open().await;
    let png = png();
    std::fs::write(f.project.path("dot.png"), &png).unwrap();
    f.project.write("paper.pdf", "%PDF-1.7\n");
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    f.admit(request(&session, &[&uri(&f, "dot.png")])).await;
    f.wait(&session).await;
    f.ask(&session, "See @paper.pdf").await;
    let first = f.model.last_request();
    let sent = format!("{first:?}");
    for piece in ["image/png", "application/pdf", "JVBERi0xLjcK"] {
        assert!(sent.contains(piece), "{piece}: {sent}");
    }
    assert!(!sent.contains("file://"), "{sent}");
    std::fs::remove_file(f.project.path("dot.png")).unwrap();
    f.project.write("paper.pdf", "%PDF-2.0\n");
    f.reopen().await;
    f.ask(&session, "More").await;
    let count = first.messages.len();
    assert_eq!(f.model.last_request().messages[..count], first.messages[..]);
    let lines = f.export(&session).await;
    let other = Fixture::open().await;
    other.import(&lines).await.unwrap();
    assert_eq!(other.messages(&session).await, f.messages(&session).await);
}

/// A PNG of one pixel.
fn png() -> Vec<u8> {
    use base64::Engine;
    let text = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .unwrap()
}

#[tokio::test]
async fn odd_uris_and_mentions_never_fail_a_turn() {
    let f = Fixture::open().await;
    for uri in [
        "file:",
        "file:///",
        "file:///%00",
        "file://host/share/x",
        "file:///%ff%fe",
        "file:///etc/passwd#L1-0",
        "file:///etc/passwd?start=99999999999999999999",
        "reference:",
        "reference:none/../../etc/passwd",
        "reference:/etc/passwd",
        "mcp://",
        "mcp://none/demo%3A%2F%2Fx",
        "data:",
        "data:text/plain;base64,%%%",
        "data:text/plain;charset=utf-16le,a",
        "data:image/png;base64,AAAA",
        "https://example.test/a.png",
        "",
    ] {
        let session = f.session().await;
        f.model.reply(Reply::says("Yes."));
        f.admit(request(&session, &[uri])).await;
        f.wait(&session).await;
        let events = f.events(&session).await;
        assert!(
            events.last().unwrap().starts_with("step.ended"),
            "{uri}: {events:?}"
        );
    }
    let long = format!("@{} @\"{}", "a/".repeat(3_000), "b".repeat(9_000));
    for text in [
        "@/proc/self/mem @/dev/zero @/dev/tty",
        "@\u{202e}txt.exe @\u{0} @~ @. @.. @/ @//",
        "@mcp:x/y @reference:x/y @reference:../x",
        &long,
    ] {
        let session = f.session().await;
        f.model.reply(Reply::says("Yes."));
        f.prompt(&session, text).await;
        f.wait(&session).await;
        let events = f.events(&session).await;
        assert!(
            events.last().unwrap().starts_with("step.ended"),
            "{text}: {events:?}"
        );
    }
}
