//! The answers of operations on terminals.
#![cfg(unix)]

use opencode_testkit::Fixture;
use serde_json::{Value, json};

use crate::api::{Api, request};

const TICKET: (&str, &str) = ("x-opencode-ticket", "1");

/// A program that waits for one line and then exits.
fn waiting() -> Value {
    json!({"command": "/bin/sh", "args": ["-c", "read x"], "title": "One", "env": {"A": "b"}})
}

async fn create(api: &Api, body: &Value) -> Value {
    api.post_json("/api/pty", body).await.ok()["data"].clone()
}

fn not_found(id: &str) -> (u16, Value) {
    let told = json!({
        "_tag": "PtyNotFoundError",
        "ptyID": id,
        "message": format!("PTY not found: {id}"),
    });
    (404, told)
}

#[tokio::test]
async fn a_terminal_is_created_changed_and_removed() {
    let api = Api::open().await;
    let location = api.get("/api/location").await.ok();
    let directory = api.f.project.directory();
    let created = api.post_json("/api/pty", &waiting()).await.ok();
    let id = created["data"]["id"].as_str().unwrap();
    let info = json!({
        "id": id,
        "title": "One",
        "command": "/bin/sh",
        "args": ["-c", "read x", "-l"],
        "cwd": directory,
        "status": "running",
        "pid": created["data"]["pid"],
    });
    assert_eq!(created, json!({"location": location, "data": info}));
    let path = format!("/api/pty/{id}");
    assert_eq!(api.get(&path).await.ok(), created);
    let listed = json!({"location": location, "data": [info]});
    assert_eq!(api.get("/api/pty").await.ok(), listed);

    let change = json!({"title": "Two", "size": {"rows": 5, "cols": 7}});
    let mut updated = created.clone();
    updated["data"]["title"] = "Two".into();
    assert_eq!(api.put_json(&path, &change).await.ok(), updated);
    assert_eq!(api.get(&path).await.ok(), updated);

    api.delete(&path).await.is_bare(204);
    for answer in [
        api.get(&path).await,
        api.put_json(&path, &change).await,
        api.delete(&path).await,
        token(&api, &path, &[TICKET]).await,
    ] {
        assert_eq!(answer.status_and_json(), not_found(id));
    }
    let none = json!({"location": location, "data": []});
    assert_eq!(api.get("/api/pty").await.ok(), none);
}

#[tokio::test]
async fn subscribers_receive_the_events_of_terminals() {
    let api = Api::open().await;
    let mut events = api.stream("/api/event").await;
    let mut next = async || {
        let mut event = events.event(&api.f).await;
        event["id"].take();
        event
    };
    assert_eq!(next().await["type"], "server.connected");
    let directory = api.f.project.directory();
    let event = |kind: &str, data: Value| json!({"id": null, "type": kind, "location": {"directory": directory}, "data": data});
    let mut info = create(&api, &waiting()).await;
    let id = info["id"].as_str().unwrap().to_owned();
    assert_eq!(next().await, event("pty.created", json!({"info": info})));
    let path = format!("/api/pty/{id}");
    api.put_json(&path, &json!({"title": "Two"})).await.ok();
    info["title"] = "Two".into();
    assert_eq!(next().await, event("pty.updated", json!({"info": info})));
    api.delete(&path).await;
    assert_eq!(next().await, event("pty.deleted", json!({"id": id})));
    let failing = json!({"command": "/bin/sh", "args": ["-c", "exit 3"]});
    let other = create(&api, &failing).await;
    assert_eq!(next().await, event("pty.created", json!({"info": other})));
    let exited = json!({"id": other["id"], "exitCode": 3});
    assert_eq!(next().await, event("pty.exited", exited));
    let mut expected = other.clone();
    expected["status"] = "exited".into();
    expected["exitCode"] = 3.into();
    let listed = api.get("/api/pty").await.ok();
    assert_eq!(listed["data"], json!([expected]));
}

#[tokio::test]
async fn a_terminal_that_cannot_be_started_is_a_bad_request() {
    let api = Api::open().await;
    let directory = api.f.project.directory();
    for (body, field, message) in [
        (
            json!({"command": "/no/such"}),
            "command",
            "\"/no/such\" cannot be started: No such file or directory (os error 2); name a program of the host's PATH or its absolute path".to_owned(),
        ),
        (
            json!({"command": "/bin/sh", "cwd": "missing"}),
            "cwd",
            format!("A terminal cannot begin in {directory}/missing, which is no directory; create it first or give another one"),
        ),
        (
            json!({"command": "/bin/sh", "env": {"A=B": "c"}}),
            "env",
            "\"A=B\" cannot be a variable: a name is not empty and holds no '=', and neither name nor value holds a NUL".to_owned(),
        ),
    ] {
        let told = json!({"_tag": "InvalidRequestError", "message": message, "field": field});
        let answer = api.post_json("/api/pty", &body).await;
        assert_eq!(answer.status_and_json(), (400, told), "{body}");
    }
    let long = json!({"title": "x".repeat(2_000_000)});
    let answer = api.post_json("/api/pty", &long).await;
    assert_eq!(
        (answer.status, &answer.json()["kind"]),
        (400, &json!("Payload"))
    );
    assert_eq!(api.get("/api/pty").await.ok()["data"], json!([]));
}

#[tokio::test]
async fn the_number_of_running_programs_is_bounded() {
    let api = Api::open().await;
    for _ in 0..64 {
        create(&api, &waiting()).await;
    }
    let answer = api.post_json("/api/pty", &waiting()).await;
    let told = json!({
        "_tag": "ServiceUnavailableError",
        "message": "64 terminals run already, which is the most; remove one and try again",
        "service": "pty.create",
    });
    assert_eq!(answer.status_and_json(), (503, told));
}

#[tokio::test]
async fn the_shell_is_the_configured_one_with_variables_of_the_host() {
    let api = Api::open().await;
    api.f
        .project
        .write("opencode.json", r#"{"shell": "/usr/bin/env"}"#);
    api.post("/api/location/reload").await;
    let shell = create(&api, &json!({"env": {"A": "b"}})).await;
    assert_eq!(
        (&shell["command"], &shell["args"]),
        (&json!("/usr/bin/env"), &json!([]))
    );
    let title = shell["title"].as_str().unwrap();
    let id = shell["id"].as_str().unwrap();
    assert_eq!(title, format!("Terminal {}", &id[id.len() - 4..]));
}

#[tokio::test]
async fn an_empty_text_counts_as_absent() {
    let api = Api::open().await;
    let configured = r#"{"shell": "/usr/bin/env"}"#;
    api.f.project.write("opencode.json", configured);
    api.post("/api/location/reload").await;
    let empty = json!({"command": "", "cwd": "", "title": ""});
    let created = create(&api, &empty).await;
    let id = created["id"].as_str().unwrap();
    let title = format!("Terminal {}", &id[id.len() - 4..]);
    let said = ["command", "cwd", "title"].map(|name| created[name].as_str().unwrap());
    let directory = api.f.project.directory();
    assert_eq!(said, ["/usr/bin/env", directory.as_str(), title.as_str()]);
    let path = format!("/api/pty/{id}");
    let kept = api.put_json(&path, &json!({"title": ""})).await.ok();
    assert_eq!(kept["data"]["title"], title);
}

async fn token(api: &Api, path: &str, headers: &[(&str, &str)]) -> crate::api::Answer {
    let mut request = request(
        "POST",
        &format!("{path}/connect-token"),
        axum::body::Body::empty(),
    );
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    api.send(request).await
}

#[tokio::test]
async fn a_ticket_requires_its_header() {
    let api = Api::open().await;
    let created = create(&api, &waiting()).await;
    let path = format!("/api/pty/{}", created["id"].as_str().unwrap());
    let forbidden = json!({
        "_tag": "ForbiddenError",
        "message": "Invalid PTY connect token request",
    });
    for headers in [
        &[] as &[_],
        &[("x-opencode-ticket", "2")],
        &[("x-opencode-ticket", "")],
        // A program may forward a request of a web page.
        &[TICKET, ("origin", "https://evil.example")],
        &[TICKET, ("origin", "null")],
    ] {
        let answer = token(&api, &path, headers).await;
        assert_eq!(
            answer.status_and_json(),
            (403, forbidden.clone()),
            "{headers:?}"
        );
    }
    let page = token(&api, &path, &[TICKET, ("origin", "http://localhost:3000")])
        .await
        .ok();
    let other = token(&api, &path, &[TICKET]).await.ok();
    assert_ne!(page["data"]["ticket"], other["data"]["ticket"]);
    let location = api.get("/api/location").await.ok();
    let ticket = &other["data"]["ticket"];
    assert_eq!(
        other,
        json!({"location": location, "data": {"ticket": ticket, "expires_in": 60}})
    );
}

#[tokio::test]
async fn in_memory_there_are_no_connections() {
    let api = Api::open().await;
    let created = create(&api, &waiting()).await;
    let path = format!("/api/pty/{}/connect", created["id"].as_str().unwrap());
    for (path, status) in [
        (path.clone(), 400),
        (format!("{path}?ticket=x"), 400),
        (format!("{path}?location[directory]=a"), 400),
        (format!("{path}?location=x"), 400),
        (format!("{path}?cursor=1&cursor=2"), 400),
        (format!("{path}?location[directory]=/elsewhere"), 404),
        ("/api/pty/foo/connect".into(), 400),
        ("/api/pty/pty_none/connect".into(), 404),
    ] {
        api.get(&path).await.is_bare(status);
        let mut request = request("GET", &path, axum::body::Body::empty());
        for (name, value) in [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        api.send(request).await.is_bare(status);
    }
}

#[tokio::test]
async fn closing_the_host_ends_its_terminals() {
    let f = Fixture::open().await;
    let api = Api::on(f);
    let mut events = api.stream("/api/event").await;
    let created = create(&api, &waiting()).await;
    api.f.close().await;
    let mut kinds = Vec::new();
    while kinds
        .last()
        .is_none_or(|last: &String| !last.contains("disposed"))
    {
        let event = events.event(&api.f).await;
        kinds.push(format!("{} {}", event["type"], event["data"]["id"]));
    }
    let expected = [
        "\"server.connected\" null".to_owned(),
        "\"pty.created\" null".to_owned(),
        format!("\"pty.deleted\" {}", created["id"]),
        "\"global.disposed\" null".to_owned(),
    ];
    assert_eq!(kinds, expected);
    let answer = api.post_json("/api/pty", &waiting()).await;
    assert_eq!(
        (answer.status, &answer.json()["_tag"]),
        (503, &json!("ServiceUnavailableError"))
    );
}
