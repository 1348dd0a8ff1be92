//! The lists of servers: tools, prompts, resources, instructions and their changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencode_mcp::{
    CallError, Change, PromptArgument, PromptMessage, ResourceContent, ResourceData, ServerPrompt,
    ServerResource, ServerResourceTemplate, State,
};
use opencode_schema::message::ToolContent;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, call, local};
use crate::script::tool;

fn names(bench: &Bench) -> Vec<String> {
    bench
        .servers
        .tools()
        .iter()
        .map(|tool| tool.name.clone())
        .collect()
}

#[tokio::test]
async fn tools_of_all_pages_are_sorted_by_server() {
    let bench = Bench::local(json!({})).await;
    let pages = json!({
        "": {"tools": [tool("z"), tool("a")], "nextCursor": "2"},
        "2": {"tools": [tool("m")]},
    });
    bench.configure([
        ("b server", local(&json!({ "pages": pages }))),
        ("a", local(&json!({"tools": [tool("x.y")]}))),
    ]);
    bench.start().await;
    assert_eq!(
        names(&bench),
        ["a_x_y", "b_server_z", "b_server_a", "b_server_m"]
    );
    let tool = bench.tool("a_x_y");
    assert_eq!((tool.server.as_str(), tool.tool.as_str()), ("a", "x.y"));
    assert_eq!(tool.description, "A tool");
    let schema = json!({"type": "object"});
    assert_eq!(tool.input_schema, schema);
    bench.servers.close().await;
}

#[tokio::test]
async fn the_first_of_equal_names_is_used() {
    let bench = Bench::local(json!({})).await;
    bench.configure([
        ("a", local(&json!({"tools": [tool("x.y"), tool("x y")]}))),
        ("a_x", local(&json!({"tools": [tool("y"), tool("z")]}))),
    ]);
    bench.start().await;
    assert_eq!(names(&bench), ["a_x_y", "a_x_z"]);
    assert_eq!(bench.tool("a_x_y").tool, "x.y");
    let problems = bench.servers.problems();
    let problems: Vec<_> = problems
        .iter()
        .map(|it| (it.server.as_str(), it.message.as_str()))
        .collect();
    assert_eq!(
        problems,
        [
            (
                "a",
                "the tool \"x y\" is left out, because another tool has the name \"a_x_y\""
            ),
            (
                "a_x",
                "the tool \"y\" is left out, because another tool has the name \"a_x_y\""
            ),
        ]
    );
    bench.servers.close().await;
}

fn changed(list: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed")})
}

fn done() -> Value {
    json!({"jsonrpc": "2.0", "id": "$id", "result": {"content": []}})
}

#[tokio::test]
async fn announced_changes_are_read_again() {
    let capabilities = json!({"tools": {}, "prompts": {}, "resources": {}});
    let bench = Bench::local(json!({
        "tools": [tool("become"), tool("old")], "prompts": [{"name": "p"}], "capabilities": capabilities,
    }))
    .await;
    let kept = bench.tool("s_become");
    let before = bench.changes.borrow().len();
    let script = json!({"tools": [tool("become"), tool("new")], "prompts": [{"name": "q"}]});
    let lines = [
        changed("tools"),
        changed("tools"),
        changed("prompts"),
        changed("resources"),
        done(),
    ];
    call(&kept, json!({"script": script, "lines": lines}))
        .await
        .unwrap();
    let wanted = [Change::Tools, Change::Prompts, Change::Resources];
    bench
        .until(|_| {
            let changes = bench.changes.borrow()[before..].to_vec();
            wanted
                .iter()
                .all(|change| changes.contains(&("s".to_owned(), *change)))
        })
        .await;
    assert_eq!(names(&bench), ["s_become", "s_new"]);
    assert!(Arc::ptr_eq(&kept, &bench.tool("s_become")));
    let prompts = bench.servers.prompts();
    assert_eq!(
        prompts
            .iter()
            .map(|it| it.name.as_str())
            .collect::<Vec<_>>(),
        ["s:q"]
    );
    bench.servers.close().await;
}

#[tokio::test]
async fn prompts_are_commands() {
    let bench = Bench::local(json!({
        "capabilities": {"prompts": {}},
        "prompts": [
            {"name": "do it", "description": "Does it", "arguments": [
                {"name": "a", "description": "First", "required": true}, {"name": "b"}]},
            {"name": ""}, 5, {"name": "bad", "arguments": [5]},
        ],
        "prompts/get": {"messages": [
            {"role": "user", "content": {"type": "text", "text": "Hello"}},
            {"role": "assistant", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}},
        ]},
    }))
    .await;
    assert!(bench.servers.tools().is_empty());
    let prompts = bench.servers.prompts();
    let argument = |name: &str, description: Option<&str>, required| PromptArgument {
        name: name.to_owned(),
        description: description.map(str::to_owned),
        required,
    };
    assert_eq!(prompts.len(), 1);
    assert_eq!(
        *prompts[0],
        ServerPrompt {
            server: "s".to_owned(),
            prompt: "do it".to_owned(),
            name: "s:do_it".to_owned(),
            description: Some("Does it".to_owned()),
            arguments: vec![
                argument("a", Some("First"), true),
                argument("b", None, false)
            ],
        }
    );
    let cancel = CancellationToken::new();
    let arguments = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
    let messages = bench
        .servers
        .get_prompt("s", "do it", &arguments, &cancel)
        .await
        .unwrap();
    let message = |role: &str, content| PromptMessage {
        role: role.to_owned(),
        content,
    };
    assert_eq!(
        messages,
        [
            message(
                "user",
                ToolContent::Text {
                    text: "Hello".to_owned()
                }
            ),
            message(
                "assistant",
                ToolContent::File {
                    uri: "data:image/png;base64,AA==".to_owned(),
                    mime: "image/png".to_owned(),
                    name: None,
                }
            ),
        ]
    );
    bench.servers.close().await;
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let bench = Bench::local(json!({
        "capabilities": {"resources": {}},
        "resources": [
            {"uri": "x://1", "name": "one", "description": "First", "mimeType": "text/plain"},
            {"uri": "x://2"}, {"uri": ""}, {"name": "no address"},
        ],
        "resourceTemplates": [{"uriTemplate": "x://{id}", "name": "any"}],
        "resources/read": {"contents": [
            {"uri": "x://1", "text": "Hello"},
            {"blob": "AA==", "mimeType": "image/png"},
        ]},
    }))
    .await;
    let servers = &bench.servers;
    let cancel = CancellationToken::new();
    assert!(servers.has_resources());
    let resource =
        |uri: &str, name: &str, description: Option<&str>, mime: Option<&str>| ServerResource {
            server: "s".to_owned(),
            uri: uri.to_owned(),
            name: name.to_owned(),
            description: description.map(str::to_owned),
            mime: mime.map(str::to_owned),
        };
    assert_eq!(
        servers.resources(&cancel).await,
        [
            resource("x://1", "one", Some("First"), Some("text/plain")),
            resource("x://2", "x://2", None, None),
        ]
    );
    assert_eq!(
        servers.resource_templates(&cancel).await,
        [ServerResourceTemplate {
            server: "s".to_owned(),
            uri_template: "x://{id}".to_owned(),
            name: "any".to_owned(),
            description: None,
            mime: None,
        }]
    );
    let content = |uri: &str, mime: &str, data| ResourceContent {
        uri: uri.to_owned(),
        mime: mime.to_owned(),
        data,
    };
    assert_eq!(
        servers.read_resource("s", "x://1", &cancel).await.unwrap(),
        [
            content(
                "x://1",
                "text/plain",
                ResourceData::Text("Hello".to_owned())
            ),
            content("x://1", "image/png", ResourceData::Blob("AA==".to_owned())),
        ]
    );
    let unknown = servers
        .read_resource("t", "x://1", &cancel)
        .await
        .unwrap_err();
    assert_eq!(
        unknown,
        CallError::Failed("There is no server \"t\". The servers are: s.".to_owned())
    );
    bench.servers.close().await;
    assert!(!bench.servers.has_resources());
    assert!(bench.servers.resources(&cancel).await.is_empty());
}

#[tokio::test]
async fn instructions_are_those_of_connected_servers() {
    let bench = Bench::local(json!({})).await;
    bench.configure([
        ("a", local(&json!({"instructions": " Be kind. \n"}))),
        ("b", local(&json!({"instructions": "  "}))),
        ("c", local(&json!({"instructions": "x".repeat(100_000)}))),
        ("d", local(&json!({"exit": 1, "instructions": "never"}))),
    ]);
    bench.start().await;
    let instructions = bench.servers.instructions();
    assert_eq!(instructions.keys().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(instructions["a"], "Be kind.");
    assert_eq!(instructions["c"].chars().count(), 64 * 1024 + 1);
    assert!(matches!(bench.state("d"), State::Failed(_)));
    bench.servers.close().await;
}
