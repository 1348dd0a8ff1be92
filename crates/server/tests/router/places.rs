//! The Location of a request and the Location of a session.

use axum::body::Body;
use serde_json::{Value, json};

use crate::api::Api;

#[tokio::test]
async fn the_location_of_a_session_comes_from_body_query_header_or_host() {
    let api = Api::open().await;
    let place = |name: &str| api.f.project.path(name).to_string_lossy().into_owned();
    let selected = format!("/api/session?location[directory]={}", place("query"));
    let encoded = format!(
        "/api/session?location%5Bdirectory%5D={}",
        place("query").replace('/', "%2F")
    );
    let in_body = json!({"location": {"directory": place("body")}}).to_string();
    for (path, header, body, expected) in [
        ("/api/session", None, "{}", api.f.project.directory()),
        ("/api/session", Some(place("header")), "{}", place("header")),
        (
            "/api/session",
            Some(place("header").replace('/', "%2F")),
            "{}",
            place("header"),
        ),
        (&selected, Some(place("header")), "{}", place("query")),
        (&encoded, None, "{}", place("query")),
        (&selected, None, &in_body, place("body")),
        // The same directory in another spelling.
        (
            "/api/session",
            Some(format!("{}/../dots/", place("x"))),
            "{}",
            place("dots"),
        ),
    ] {
        let mut request = crate::api::request("POST", path, body.to_owned().into());
        if let Some(header) = header {
            let value = header.parse().unwrap();
            request.headers_mut().insert("x-opencode-directory", value);
        }
        let answer = api.send(request).await.ok();
        assert_eq!(answer["data"]["location"], json!({"directory": expected}));
    }
}

#[tokio::test]
async fn the_location_operation_returns_the_location_of_a_request() {
    let api = Api::open().await;
    let directory = api.f.project.directory();
    let outside = json!({"directory": directory, "project": {"id": "global", "directory": "/"}});
    assert_eq!(api.get("/api/location").await.ok(), outside);
    let path =
        format!("/api/location?location[directory]={directory}/x/..&location[workspace]=wrk_1");
    let mut echoed = outside;
    echoed["workspaceID"] = json!("wrk_1");
    assert_eq!(api.get(&path).await.ok(), echoed);
}

#[tokio::test]
async fn valid_and_invalid_selections_of_a_location() {
    let api = Api::open().await;
    for name in ["a", "b", "c d"] {
        api.f.project.write(&format!("{name}/file"), "");
    }
    let place = |name: &str| api.f.project.path(name).to_string_lossy().into_owned();
    let (a, b, own) = (place("a"), place("b"), api.f.project.directory());
    for (query, header, expected) in [
        (String::new(), None, own.clone()),
        (format!("location[directory]={a}"), None, a.clone()),
        (format!("location%5Bdirectory%5D={a}"), Some(&b), a.clone()),
        (
            format!("location[directory]={a}&location[directory]={b}"),
            None,
            a.clone(),
        ),
        (
            format!("location[directory]={a}&location[x]=y"),
            None,
            a.clone(),
        ),
        (format!("location[directory]={a}/../a/"), None, a.clone()),
        // These select no Location.
        (format!("directory={a}"), None, own.clone()),
        (format!("location.directory={a}"), None, own.clone()),
        ("location[directory]=".to_owned(), None, own.clone()),
        // In this case the header counts.
        (format!("directory={a}"), Some(&b), b.clone()),
        ("location[directory]=".to_owned(), Some(&b), b.clone()),
        (String::new(), Some(&b.replace('/', "%2F")), b.clone()),
        (String::new(), Some(&place("c%20d")), place("c d")),
    ] {
        for path in ["/api/location", "/api/agent"] {
            let mut request = crate::api::request("GET", &format!("{path}?{query}"), Body::empty());
            if let Some(header) = header {
                let value = header.parse().unwrap();
                request.headers_mut().insert("x-opencode-directory", value);
            }
            let answer = api.send(request).await.ok();
            let location = answer.get("location").unwrap_or(&answer);
            let told = json!({
                "directory": expected,
                "project": {"id": "global", "directory": "/"},
            });
            assert_eq!(*location, told, "{path} {query} {header:?}");
        }
    }
    let answer = api.get("/api/agent?location={}").await;
    let refused = json!({
        "_tag": "InvalidRequestError",
        "message": "Expected LocationQuery | null, got \"{}\"\n  at [\"location\"]",
        "kind": "Query",
    });
    assert_eq!(answer.status_and_json(), (400, refused));
}

#[tokio::test]
async fn a_malformed_workspace_is_refused_only_by_operations_with_a_location() {
    let (api, session) = Api::with_session().await;
    let malformed = json!({
        "_tag": "InvalidRequestError",
        "message": "Expected a string starting with \"wrk\", got \"x\"\n  at [\"location\"][\"workspace\"]",
        "kind": "Query",
    });
    let other = format!("/api/session/{session}");
    for (method, path, refused) in [
        ("GET", "/api/location", true),
        ("POST", "/api/session", true),
        ("GET", "/api/health", false),
        ("GET", &other, false),
    ] {
        let in_query = format!("{path}?location[workspace]=x");
        for (path, header) in [(&*in_query, None), (path, Some("x"))] {
            let mut request = crate::api::request(method, path, "{}".into());
            if let Some(header) = header {
                let value = header.parse().unwrap();
                request.headers_mut().insert("x-opencode-workspace", value);
            }
            let answer = api.send(request).await;
            if refused {
                assert_eq!(
                    answer.status_and_json(),
                    (400, malformed.clone()),
                    "{method} {path}"
                );
            } else {
                assert_eq!(answer.status, 200, "{method} {path}: {answer:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_session_in_a_repository_belongs_to_its_project() {
    let api = Api::open().await;
    api.f.project.git();
    let directory = api.f.project.directory();
    let location = api.get("/api/location").await.ok();
    let id = location["project"]["id"].as_str().unwrap();
    assert_eq!(
        location,
        json!({"directory": directory, "project": {"id": id, "directory": directory}})
    );
    assert!(
        id.len() == 40,
        "a repository without a remote is known by its root commit: {id}"
    );
    let below = json!({"location": {"directory": format!("{directory}/a/b")}});
    for (body, subpath) in [(json!({}), None), (below, Some("a/b"))] {
        let created = api.create(body).await;
        let subpath = subpath.map(Value::from);
        assert_eq!(
            (created["projectID"].as_str(), created.get("subpath")),
            (Some(id), subpath.as_ref())
        );
    }
}
