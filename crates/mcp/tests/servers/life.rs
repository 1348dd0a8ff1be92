//! The life of servers: lazy start, changes of the configuration, reconnections and the close.

use std::sync::Arc;

use opencode_mcp::{CallError, Change, NoTokens, State};
use serde_json::json;

use crate::bench::{Bench, DEADLINE, call, local};
use crate::script::tool;

#[tokio::test]
async fn nothing_starts_before_it_is_needed() {
    let bench = Bench::new(Arc::new(NoTokens));
    let log = bench.path("log");
    let mut disabled = local(&json!({ "log": log }));
    disabled.enabled = false;
    bench.configure([("a", local(&json!({ "log": log }))), ("b", disabled)]);
    bench.servers.settled(DEADLINE).await;
    assert_eq!(bench.state("a"), State::NotStarted);
    assert_eq!(bench.state("b"), State::Disabled);
    assert!(!log.exists());
    assert!(bench.changes.borrow().is_empty());
    bench.start().await;
    assert_eq!(bench.state("a"), State::Connected);
    assert_eq!(bench.state("b"), State::Disabled);
    assert!(!bench.servers.reconnect("b"));
    assert!(!bench.servers.reconnect("c"));
    bench.servers.close().await;
}

#[tokio::test]
async fn only_changed_servers_start_again() {
    let bench = Bench::new(Arc::new(NoTokens));
    let (one, two) = (
        json!({"tools": [tool("one")]}),
        json!({"tools": [tool("two")]}),
    );
    bench.configure([("a", local(&one)), ("b", local(&one)), ("c", local(&one))]);
    bench.start().await;
    let (a, b) = (bench.tool("a_one"), bench.tool("b_one"));
    bench.configure([("a", local(&one)), ("b", local(&two)), ("d", local(&one))]);
    bench.servers.settled(DEADLINE).await;
    assert!(Arc::ptr_eq(&a, &bench.tool("a_one")));
    assert_eq!(bench.tool("b_two").tool, "two");
    // A new server waits for the next start.
    assert_eq!(bench.state("d"), State::NotStarted);
    let names: Vec<_> = bench
        .servers
        .status()
        .into_iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(names, ["a", "b", "d"]);
    let gone = CallError::Failed("The server \"b\" is not connected.".to_owned());
    assert_eq!(call(&b, json!({})).await, Err(gone));
    bench.servers.close().await;
}

#[tokio::test]
async fn a_failed_server_connects_again_on_demand() {
    let bench = Bench::new(Arc::new(NoTokens));
    let missing = bench.path("missing");
    let program = std::env::current_exe().unwrap();
    let script = json!({"tools": [tool("echo")]});
    let command = [
        missing.to_str().unwrap(),
        "--exact",
        crate::script::TEST,
        "--nocapture",
    ];
    bench.configure([("s", crate::bench::command_of(&command, &script))]);
    bench.start().await;
    assert!(matches!(bench.state("s"), State::Failed(_)));
    std::fs::hard_link(&program, &missing)
        .or_else(|_| std::fs::copy(&program, &missing).map(drop))
        .unwrap();
    assert!(bench.servers.reconnect("s"));
    assert_eq!(bench.state("s"), State::Connecting);
    bench.servers.settled(DEADLINE).await;
    assert_eq!(bench.state("s"), State::Connected);
    // A connected server connects again, too.
    let echo = bench.tool("s_echo");
    assert!(bench.servers.reconnect("s"));
    assert!(bench.servers.tools().is_empty());
    bench.servers.settled(DEADLINE).await;
    call(&echo, json!({})).await.unwrap();
    bench.servers.close().await;
}

#[tokio::test]
async fn each_change_is_announced_after_it_happened() {
    let bench = Bench::local(json!({ "tools": [tool("echo")] })).await;
    bench.servers.close().await;
    let Bench {
        servers, changes, ..
    } = bench;
    drop(servers);
    let change = |change| ("s".to_owned(), change);
    assert_eq!(
        *changes.borrow(),
        [
            // It connects, is connected, and is stopped.
            change(Change::Status),
            change(Change::Status),
            change(Change::Tools),
            change(Change::Status),
            change(Change::Tools),
        ]
    );
}

#[tokio::test]
async fn a_closed_set_starts_nothing() {
    let bench = Bench::local(json!({ "tools": [tool("hang")] })).await;
    let hanging = bench.tool("s_hang");
    let running = tokio::spawn(async move {
        hanging
            .call(json!({}), crate::bench::context("ses_1"))
            .await
    });
    bench.servers.close().await;
    let error = crate::bench::within(running).await.unwrap().unwrap_err();
    let texts = ["Connection closed", "The server \"s\" is not connected."];
    assert!(texts.contains(&error.to_string().as_str()), "{error}");
    bench.configure([("s", local(&json!({}))), ("t", local(&json!({})))]);
    bench.servers.start();
    assert!(!bench.servers.reconnect("s"));
    for name in ["s", "t"] {
        assert_eq!(bench.state(name), State::NotStarted);
    }
}
