//! Moving a session to another directory.

use serde_json::{Value, json};

use crate::api::Api;

fn refused(field: &str, message: &str) -> (u16, Value) {
    let told = json!({"_tag": "InvalidRequestError", "message": message, "field": field});
    (400, told)
}

#[tokio::test]
async fn a_session_moves_within_its_project() {
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}");
    let before = api.get(&path).await.ok()["data"].clone();
    api.f.clock.advance(1000);
    let directory = format!("{}/sub", api.f.project.directory());
    // The same directory in another spelling.
    let body = json!({"location": {"directory": format!("{directory}/x/..")}});
    let moved = api.post_json(&format!("{path}/move"), &body).await.ok();
    let mut expected = before;
    expected["location"]["directory"] = json!(directory);
    expected["subpath"] = json!(directory.trim_start_matches('/'));
    expected["time"]["updated"] = json!(1_795_179_303_007_i64);
    assert_eq!(moved, json!({"data": expected}));
    assert_eq!(api.get(&path).await.ok(), moved);
    let list = format!("/api/session?directory={directory}");
    assert_eq!(api.get(&list).await.ok()["data"], json!([expected]));
}

#[tokio::test]
async fn a_move_to_the_same_directory_records_nothing() {
    let (api, session) = Api::with_session().await;
    let body = json!({"location": {"directory": api.f.project.directory()}});
    let path = format!("/api/session/{session}/move");
    api.post_json(&path, &body).await.ok();
    assert_eq!(api.f.events(&session).await, [""; 0]);
}

#[tokio::test]
async fn an_invalid_destination_is_refused() {
    let (api, session) = Api::with_session().await;
    let path = format!("/api/session/{session}/move");
    let relative = json!({"location": {"directory": "a/b"}});
    assert_eq!(
        api.post_json(&path, &relative).await.status_and_json(),
        refused(
            "location.directory",
            "The directory \"a/b\" is not an absolute path; give the full path, from the root on"
        )
    );
    api.f.project.git();
    let directory = api.f.project.directory();
    let location = api.get("/api/location").await.ok();
    let project = location["project"]["id"].as_str().unwrap();
    let elsewhere = json!({"location": {"directory": directory}});
    let other = api.create(json!({})).await;
    assert_eq!(other["projectID"], json!(project));
    let path = format!("/api/session/{}/move", other["id"].as_str().unwrap());
    let root = api.f.project.root().to_string_lossy().into_owned();
    let outside = json!({"location": {"directory": root}});
    assert_eq!(
        api.post_json(&path, &outside).await.status_and_json(),
        refused(
            "location",
            &format!(
                "The directory {root} belongs to the project global, and the session to {project}; a session moves only within its project"
            )
        )
    );
    let there = api.post_json(&path, &elsewhere).await.ok();
    assert_eq!(there, json!({"data": other}));
}
