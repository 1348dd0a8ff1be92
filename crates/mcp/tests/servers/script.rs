//! A local server: this program, started again with a script in a variable. It handles one message after the other.

use std::io::{self, BufRead, Write as _};

use opencode_mcp::State;
use serde_json::{Value, json};

use crate::bench::{Bench, call};

/// The variable with the script.
pub(crate) const SCRIPT: &str = "OPENCODE_TEST_SCRIPT";

/// The test that becomes the server.
pub(crate) const TEST: &str = "script::a_local_server_answers";

/// Is a local server if the variable is set. The test framework prints lines before, which are no messages.
#[tokio::test]
async fn a_local_server_answers() {
    if let Ok(script) = std::env::var(SCRIPT) {
        serve(serde_json::from_str(&script).unwrap());
        return;
    }
    let bench = Bench::local(json!({ "tools": [tool("echo")] })).await;
    assert_eq!(bench.state("s"), State::Connected);
    let output = call(&bench.tool("s_echo"), json!({"a": 1})).await.unwrap();
    assert_eq!(output.structured, Some(json!({"a": 1})));
    bench.servers.close().await;
}

/// Returns the definition of a tool.
pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": "A tool", "inputSchema": {"type": "object"}})
}

/// Prints a line. A string is printed as it is.
fn print(line: &Value) {
    let mut out = io::stdout().lock();
    let text = match line {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .unwrap_or_else(|_| std::process::exit(0));
}

fn serve(mut script: Value) {
    for line in script["before"].as_array().into_iter().flatten() {
        print(line);
    }
    if let Some(code) = script["exit"].as_i64() {
        std::process::exit(i32::try_from(code).unwrap());
    }
    let mut input = io::stdin().lock();
    let mut line = String::new();
    while input.read_line(&mut line).unwrap() > 0 {
        let message: Value = serde_json::from_str(&line).unwrap();
        line.clear();
        if let Some(file) = script["log"].as_str() {
            let mut log = std::fs::File::options()
                .append(true)
                .create(true)
                .open(file)
                .unwrap();
            writeln!(log, "{message}").unwrap();
        }
        handle(&mut script, &message, &mut input);
    }
    if script["stays"] == true {
        loop {
            std::thread::park();
        }
    }
}

fn handle(script: &mut Value, message: &Value, input: &mut impl BufRead) {
    let id = &message["id"];
    let answer = |result: Value| print(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    match message["method"].as_str().unwrap_or("") {
        "initialize" => match &script["initialize"] {
            Value::Null => answer(json!({
                "protocolVersion": script["version"].as_str().unwrap_or("2025-11-25"),
                "capabilities": script.get("capabilities").cloned()
                    .unwrap_or(json!({"tools": {"listChanged": true}})),
                "serverInfo": {"name": "scripted", "version": "1"},
                "instructions": script["instructions"],
            })),
            lines => print_all(lines, id),
        },
        "tools/list" => {
            if let Some(lines) = script.get("tools/list") {
                return print_all(lines, id);
            }
            answer(page(script, "tools", message));
        }
        "tools/call" => tool_call(script, message, input),
        method @ ("prompts/list" | "resources/list" | "resources/templates/list") => {
            let key = match method {
                "prompts/list" => "prompts",
                "resources/list" => "resources",
                _ => "resourceTemplates",
            };
            answer(page(script, key, message));
        }
        method @ ("prompts/get" | "resources/read") => answer(script[method].clone()),
        _ => {}
    }
}

/// Returns a page of a list. `pages` has several pages by their cursors; the key alone has one page.
fn page(script: &Value, key: &'static str, message: &Value) -> Value {
    let cursor = message["params"]["cursor"].as_str().unwrap_or("");
    if script["endless"] == true {
        let next = cursor.parse::<u64>().unwrap_or(0) + 1;
        return json!({ key: [], "nextCursor": next.to_string() });
    }
    match script.get("pages") {
        Some(pages) => pages[cursor].clone(),
        None => json!({ key: script.get(key).map_or(json!([]), generated) }),
    }
}

/// Returns a list. A number in place of a list is a list of that many tools. A number in place of an input
/// schema is a schema of that many bytes. Variables could not hold them.
fn generated(list: &Value) -> Value {
    if let Some(count) = list.as_u64() {
        return (0..count)
            .map(|number| tool(&format!("t{number}")))
            .collect();
    }
    let mut list = list.clone();
    for item in list.as_array_mut().into_iter().flatten() {
        let size = item.get("inputSchema").and_then(Value::as_u64);
        if let Some(size) = size {
            item["inputSchema"] =
                json!({"description": "x".repeat(usize::try_from(size).unwrap())});
        }
    }
    list
}

/// Prints lines. In a message, `$id` is the id of the request.
fn print_all(lines: &Value, id: &Value) {
    for line in lines.as_array().unwrap() {
        match line.as_str() {
            Some("$exit") => std::process::exit(3),
            Some("$huge") => print_huge(),
            Some(text) if text.starts_with("$stderr ") => flood_stderr(),
            Some(text) if text.starts_with("$flood ") => {
                for _ in 0..10_000 {
                    print(&Value::from(&text["$flood ".len()..]));
                }
            }
            Some(text) => print(&Value::from(text.replace("\"$id\"", &id.to_string()))),
            None => {
                let text = line.to_string().replace("\"$id\"", &id.to_string());
                print(&Value::from(text));
            }
        }
    }
}

/// Prints a line without an end.
fn print_huge() {
    let mut out = io::stdout().lock();
    let chunk = vec![b'x'; 1024 * 1024];
    while out.write_all(&chunk).is_ok() {}
    std::process::exit(0);
}

fn flood_stderr() {
    let mut errors = io::stderr().lock();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..8 {
        errors.write_all(&chunk).unwrap();
    }
    for number in 0..10_000 {
        writeln!(errors, "line {number}").unwrap();
    }
}

fn tool_call(script: &mut Value, message: &Value, messages: &mut impl BufRead) {
    let id = &message["id"];
    let input = &message["params"]["arguments"];
    match message["params"]["name"].as_str().unwrap() {
        "echo" => print(&json!({"jsonrpc": "2.0", "id": id, "result": {
            "content": [{"type": "text", "text": input.to_string()}], "structuredContent": input}})),
        // Prints any lines.
        "lines" => {
            let token = message["params"]["_meta"]["progressToken"].to_string();
            let lines = input["lines"].to_string();
            let lines = lines.replace("\"$token\"", &token);
            let text = format!("{:?}", token.trim_matches('"'));
            let lines = lines.replace("\"text $token\"", &text);
            print_all(&serde_json::from_str(&lines).unwrap(), id);
        }
        // Asks the host, and answers with the answer of the host.
        "ask" => {
            let mut request = input["request"].clone();
            request["jsonrpc"] = json!("2.0");
            request["id"] = json!("question");
            print(&request);
            let mut line = String::new();
            while !line.contains("\"question\"") {
                line.clear();
                if messages.read_line(&mut line).unwrap() == 0 {
                    return;
                }
            }
            print(&json!({"jsonrpc": "2.0", "id": id, "result": {
                "content": [{"type": "text", "text": line.trim()}]}}));
        }
        // Has other lists from now on.
        "become" => {
            for (key, value) in input["script"].as_object().unwrap() {
                script[key.as_str()] = value.clone();
            }
            print_all(&input["lines"], id);
        }
        _ => {}
    }
}
