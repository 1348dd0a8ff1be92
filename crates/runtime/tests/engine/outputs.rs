//! Managed Tool Output Files: each directory has its own limits, and old files are removed.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use opencode_runtime::CreateSession;
use opencode_schema::clock::Clock;
use opencode_schema::id::SessionID;
use opencode_schema::message::ToolContent;
use opencode_testkit::{Fixture, Reply, built_in_tools, compact};
use opencode_tools::ToolOutput;
use serde_json::{Value, json};

const HOUR: i64 = 60 * 60 * 1000;
const WEEK: i64 = 7 * 24 * HOUR;

fn directory(f: &Fixture) -> PathBuf {
    f.project.root().join("data/tool-output")
}

/// A session in the directory `small`.
fn small(f: &Fixture) -> CreateSession {
    let mut request = f.new_session();
    request.location.directory = f.project.path("small").to_str().unwrap().to_owned();
    request
}

/// Twelve lines.
fn lines() -> String {
    let lines: Vec<_> = (1..=12).map(|line| line.to_string()).collect();
    lines.join("\n")
}

async fn call(f: &Fixture, session: &SessionID) -> Value {
    f.model.reply(Reply::calls("c0", "lines", json!({})));
    f.model.reply(Reply::says("Done."));
    f.ask(session, "Go").await;
    let settled = f.payloads(session, "tool.success").await;
    let last = settled.into_iter().next_back().unwrap();
    json!([last["content"][0]["text"], last["outputPaths"]])
}

#[tokio::test]
async fn each_directory_has_its_own_limits() {
    let f = Fixture::open().await;
    f.tool("lines", |_, _| async {
        Ok(ToolOutput::default().with_content(vec![ToolContent::Text { text: lines() }]))
    });
    f.project.write(
        "small/opencode.json",
        r#"{"tool_output": {"max_lines": 6}}"#,
    );
    let session = f.session().await;
    assert_eq!(call(&f, &session).await, json!([lines(), []]));
    let session = f.create(small(&f)).await.id;
    let settled = call(&f, &session).await;
    let kept = fs::read_dir(directory(&f))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let path = kept.to_str().unwrap();
    let preview = format!("1\n\n... output truncated; full content saved to {path} ...\n\n12");
    assert_eq!(settled, json!([preview, [path]]));
    assert_eq!(fs::read_to_string(&kept).unwrap(), lines());
}

/// The hint depends only on the agent, so that the requests of one agent have the same beginning.
#[tokio::test]
async fn the_model_receives_the_path_of_the_complete_output() {
    let f = Fixture::open().await;
    f.tool("lines", |_, _| async {
        Ok(ToolOutput::default().with_content(vec![ToolContent::Text { text: lines() }]))
    });
    let config = json!({
        "tool_output": {"max_lines": 6},
        "agents": {"alone": {"permissions": [
            {"action": "*", "resource": "*", "effect": "allow"},
            {"action": "task", "resource": "*", "effect": "deny"},
        ]}},
    });
    f.project.write("opencode.json", &config.to_string());
    let session = f.session().await;
    let stored = call(&f, &session).await[0].to_string();
    assert!(!stored.contains("The output above was cut"), "{stored}");
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "And?").await;
    f.switch_agent(&session, "alone").await;
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "And?").await;
    let sent: Vec<_> = f.model.requests().iter().map(compact::messages).collect();
    let [_, first, second, alone] = &sent[..] else {
        panic!("{} requests", sent.len())
    };
    assert_eq!(first[..], second[..first.len()]);
    let told = |sent: &[String], hint: &str| sent.iter().any(|message| message.contains(hint));
    let [task, search] = [
        "give a subagent the path with `task`",
        "cut. Do not read the whole file, ",
    ];
    assert_eq!((told(first, task), told(first, search)), (true, false));
    assert_eq!((told(alone, task), told(alone, search)), (false, true));
}

#[tokio::test]
async fn each_directory_has_its_own_limits_of_images() {
    let f = Fixture::open().await;
    f.register(built_in_tools());
    let config = r#"{"attachments": {"image": {"auto_resize": false, "max_width": 1}}}"#;
    f.project.write("small/opencode.json", config);
    // The image is two pixels wide.
    let image = b"GIF89a\x02\0\x01\0\x80\0\0\0\0\0\xff\xff\xff\
        !\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x01D\0;";
    fs::write(f.project.path("small/a.gif"), image).unwrap();
    let session = f.create(small(&f)).await.id;
    let read = Reply::calls("c0", "read", json!({"path": "a.gif"}));
    f.model.reply(read);
    f.model.reply(Reply::says("Done."));
    f.ask(&session, "Go").await;
    let failed = f.payloads(&session, "tool.failed").await;
    let message =
        "Image a.gif is 2x1 with base64 size 56, exceeding configured limits 1x2000/5242880 bytes";
    let messages: Vec<_> = failed
        .iter()
        .map(|event| &event["error"]["message"])
        .collect();
    assert_eq!(messages, [message]);
}

/// A file with this age in milliseconds.
fn file(f: &Fixture, name: &str, age: i64) -> PathBuf {
    fs::create_dir_all(directory(f)).unwrap();
    let path = directory(f).join(name);
    let written = Duration::from_millis((f.clock.now() - age).try_into().unwrap());
    let file = File::create(&path).unwrap();
    file.set_modified(UNIX_EPOCH + written).unwrap();
    path
}

async fn until(f: &Fixture, what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    f.within(what, wait).await;
}

#[tokio::test]
async fn old_files_are_deleted_when_a_host_opens_and_hourly() {
    let mut f = Fixture::open().await;
    let old = file(&f, "tool_old", WEEK + 1000);
    let soon = file(&f, "tool_soon", WEEK - HOUR / 2);
    let young = file(&f, "tool_young", WEEK - 2 * HOUR);
    f.reopen().await;
    until(&f, "the first sweep", || !old.exists()).await;
    assert!(soon.exists() && young.exists());
    until(&f, "both sweeps wait", || f.clock.waiting() == 2).await;
    f.clock.advance(HOUR);
    until(&f, "the next sweep", || !soon.exists()).await;
    f.close().await;
    assert!(young.exists());
}
