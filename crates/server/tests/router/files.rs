//! The files of a Location: reading, listing and finding them, and nothing outside of it.

use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::api::{Api, request};

async fn open() -> Api {
    let api = Api::open().await;
    for (path, content) in [
        ("a.txt", "text"),
        ("src/main.ts", "export {}"),
        ("src/100% ä?#.md", "odd"),
        ("other/place/b.txt", "elsewhere"),
        ("../outside.txt", "secret"),
    ] {
        api.f.project.write(path, content);
    }
    api
}

/// The Location in an answer.
fn of(api: &Api, data: Value) -> Value {
    let place = json!({
        "directory": api.f.project.directory(),
        "project": {"id": "global", "directory": "/"},
    });
    json!({"location": place, "data": data})
}

#[tokio::test]
async fn a_file_is_returned_with_its_bytes_and_a_safe_type() {
    let api = open().await;
    std::fs::write(api.f.project.path("x.bin"), [0, 255, 128]).unwrap();
    let place = api.f.project.path("other/place");
    let elsewhere = format!("b.txt?location[directory]={}", place.display());
    for (path, bytes, media_type) in [
        ("a.txt", &b"text"[..], "text/plain"),
        ("/a.txt/", b"text", "text/plain"),
        ("src/main.ts", b"export {}", "application/octet-stream"),
        ("src%2Fmain.ts", b"export {}", "application/octet-stream"),
        ("x.bin", b"\0\xff\x80", "application/octet-stream"),
        ("src/100%25%20%C3%A4%3F%23.md", b"odd", "text/markdown"),
        (&elsewhere, b"elsewhere", "text/plain"),
    ] {
        let request = request("GET", &format!("/api/fs/read/{path}"), Body::empty());
        let (head, body) = api.response(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let header = |name: &str| head.headers[name].to_str().unwrap();
        assert_eq!((head.status.as_u16(), &*body), (200, bytes), "{path}");
        assert_eq!(
            [
                header("content-type"),
                header("x-content-type-options"),
                header("content-security-policy"),
            ],
            [media_type, "nosniff", "sandbox; default-src 'none'"]
        );
    }
}

#[tokio::test]
async fn a_listing_has_directories_first_and_paths_relative_to_the_location() {
    let api = open().await;
    let of_root = json!([
        {"path": "other/", "type": "directory"},
        {"path": "src/", "type": "directory"},
        {"path": "a.txt", "type": "file"},
    ]);
    let of_src = json!([
        {"path": "src/100% ä?#.md", "type": "file"},
        {"path": "src/main.ts", "type": "file"},
    ]);
    for (query, expected) in [
        ("", &of_root),
        ("?path=", &of_root),
        ("?path=.", &of_root),
        ("?path=src", &of_src),
        ("?path=src%2F", &of_src),
    ] {
        let listed = api.get(&format!("/api/fs/list{query}")).await.ok();
        assert_eq!(listed, of(&api, expected.clone()), "{query}");
    }
}

#[tokio::test]
async fn paths_that_resemble_the_query_are_found_up_to_the_limit() {
    let api = open().await;
    let main = json!({"path": "src/main.ts", "type": "file"});
    for (query, expected) in [
        ("query=main", json!([main])),
        ("query=main&type=directory", json!([])),
        (
            "query=src",
            json!([
                {"path": "src/", "type": "directory"},
                main,
                {"path": "src/100% ä?#.md", "type": "file"},
            ]),
        ),
        (
            "query=src&limit=1",
            json!([{"path": "src/", "type": "directory"}]),
        ),
        (
            "query=&type=file&limit=1",
            json!([{"path": "a.txt", "type": "file"}]),
        ),
        ("query=outside", json!([])),
    ] {
        let found = api.get(&format!("/api/fs/find?{query}")).await.ok();
        assert_eq!(found, of(&api, expected), "{query}");
    }
}

#[tokio::test]
async fn a_path_outside_of_the_location_is_invalid() {
    let api = open().await;
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc", api.f.project.path("out")).unwrap();
    let missing = |path: &str| format!("The path {path} leads to nothing within the Location");
    let escapes =
        |path: &str| format!("The path {path} leaves the Location; give one that stays within it");
    let absolute =
        |path: &str| format!("The path {path} is absolute; give one relative to the Location");
    for (path, message) in [
        ("read/missing", missing("missing")),
        ("read/a.txt/below", missing("a.txt/below")),
        ("read/out/passwd", missing("out/passwd")),
        ("read/out/nothing-like-it", missing("out/nothing-like-it")),
        ("read/../outside.txt", escapes("../outside.txt")),
        ("read/%2E%2E%2Foutside.txt", escapes("../outside.txt")),
        ("read/%2Fetc%2Fpasswd", absolute("/etc/passwd")),
        (
            "read/src",
            "src is not a file; give the path of one".to_owned(),
        ),
        ("read/", ". is not a file; give the path of one".to_owned()),
        ("list?path=missing", missing("missing")),
        ("list?path=out", missing("out")),
        ("list?path=..", escapes("..")),
        ("list?path=%2Fetc", absolute("/etc")),
        (
            "list?path=a.txt",
            "a.txt is not a directory; give the path of one".to_owned(),
        ),
    ] {
        let told = api.get(&format!("/api/fs/{path}")).await.status_and_json();
        let refused = json!({"_tag": "InvalidRequestError", "message": message, "field": "path"});
        assert_eq!(told, (400, refused), "{path}");
    }
}

#[tokio::test]
async fn a_missing_location_is_reported_first() {
    let api = open().await;
    for path in ["read/missing", "list?path=..", "find?query=a"] {
        let join = if path.contains('?') { '&' } else { '?' };
        let path = format!("/api/fs/{path}{join}location[directory]=relative");
        let told = api.get(&path).await.json();
        assert_eq!(told["field"], "location.directory", "{path}");
    }
}
