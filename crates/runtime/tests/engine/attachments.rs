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
        (uri(&f, "binary.dat"), "not UTF-8 text"),
        (uri(&f, "folder"), "no such file"),
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
    f.project.write("long.txt", &"x".repeat(200_000));
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
