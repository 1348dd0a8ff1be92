//! Opening and caching of Locations.

use std::fs;
use std::sync::{Arc, Weak};

use opencode_location::directory::DirectoryError;
use opencode_location::location::{Location, LocationError, Locations};
use opencode_location::project::Project;
use opencode_schema::location::{LocationInfo, ProjectRef};
use serde_json::json;

use crate::machine::Machine;

#[tokio::test]
async fn a_location_knows_its_project_configuration_and_models() {
    let machine = Machine::new();
    machine.write("r/.git/HEAD", "");
    machine.write("r/.git/opencode", "the-id");
    machine.write("r/opencode.json", "{\"model\": \"p/m\"}");
    machine.write("r/a/opencode.json", "{");
    let directory = machine.text("r/a");
    let config = json!({
        "provider": {"p": {"api": "http://h/v1", "models": {"m": {}}}},
        "agents": {"build": {"steps": 3}},
    });
    let locations = machine.locations(Some(config));

    let location = locations.get(&directory).await.unwrap();

    assert_eq!(location.subpath(), "a");
    assert_eq!(
        location.info(),
        LocationInfo {
            directory: directory.clone(),
            workspace_id: None,
            project: ProjectRef {
                id: "the-id".to_owned(),
                directory: machine.text("r"),
            },
        }
    );
    assert_eq!(location.configuration.documents().count(), 2);
    assert_eq!(location.configuration.diagnostics.len(), 1);
    let model = location.catalogue.resolve(None).unwrap().model;
    assert_eq!(model.model_id, "m");
    assert_eq!(location.agents.get("build").unwrap().steps, Some(3));
}

#[tokio::test]
async fn values_without_effect_are_among_the_diagnostics() {
    let machine = Machine::new();
    let directory = machine.directory("a");
    let locations = machine.locations(Some(json!({"model": "p/m"})));
    let location = locations.get(&directory).await.unwrap();
    assert_eq!(location.project, Project::global());
    assert_eq!(location.configuration.diagnostics.len(), 1);
}

#[tokio::test]
async fn names_of_the_same_directory_are_one_location() {
    let machine = Machine::new();
    let directory = machine.directory("a/b");
    let locations = machine.locations(None);
    let first = locations.get(&directory).await.unwrap();
    for name in [
        format!("{directory}/"),
        format!("{directory}/../b"),
        format!("{directory}//./"),
    ] {
        assert!(Arc::ptr_eq(&first, &locations.get(&name).await.unwrap()));
    }
    assert_eq!(first.directory, directory);
}

#[tokio::test]
async fn a_path_that_is_not_a_directory_is_refused() {
    let machine = Machine::new();
    machine.write("file", "");
    let locations = machine.locations(None);
    let refused = async |name: &str| locations.get(name).await.unwrap_err();
    assert_eq!(
        refused("a/b").await,
        LocationError::Directory(DirectoryError::Relative("a/b".to_owned()))
    );
    let missing = machine.text("missing");
    assert_eq!(
        refused(&missing).await,
        LocationError::Missing {
            directory: missing.clone()
        }
    );
    let file = machine.text("file");
    let error = refused(&file).await;
    assert_eq!(
        error.to_string(),
        format!("{file} is not a directory; give the directory that holds it")
    );
    let below = machine.text("file/below");
    assert_eq!(
        refused(&below).await,
        LocationError::Missing { directory: below }
    );
}

#[tokio::test]
async fn a_failure_is_not_remembered() {
    let machine = Machine::new();
    let directory = machine.text("later");
    let locations = machine.locations(None);
    locations.get(&directory).await.unwrap_err();
    fs::create_dir(&directory).unwrap();
    assert_eq!(
        locations.get(&directory).await.unwrap().directory,
        directory
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_openers_share_one_opening() {
    let machine = Machine::new();
    let directory = machine.directory("a");
    let locations = Arc::new(machine.locations(None));
    let openers: Vec<_> = (0..64)
        .map(|_| {
            let (locations, directory) = (Arc::clone(&locations), directory.clone());
            tokio::spawn(async move { locations.get(&directory).await.unwrap() })
        })
        .collect();
    let first = locations.get(&directory).await.unwrap();
    for opener in openers {
        // If the Location were opened twice, some openers would hold a different snapshot.
        assert!(Arc::ptr_eq(&first, &opener.await.unwrap()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_openers_all_receive_a_failure() {
    let machine = Machine::new();
    let missing = machine.text("missing");
    let locations = Arc::new(machine.locations(None));
    let openers: Vec<_> = (0..16)
        .map(|_| {
            let (locations, missing) = (Arc::clone(&locations), missing.clone());
            tokio::spawn(async move { locations.get(&missing).await.unwrap_err() })
        })
        .collect();
    for opener in openers {
        let directory = missing.clone();
        assert_eq!(opener.await.unwrap(), LocationError::Missing { directory });
    }
    assert_eq!(format!("{locations:?}"), "Locations { open: [], .. }");
}

#[tokio::test]
async fn a_cancelled_opener_leaves_the_work_to_the_next() {
    let machine = Machine::new();
    let directory = machine.directory("a");
    let locations = machine.locations(None);
    {
        let mut abandoned = std::pin::pin!(locations.get(&directory));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        // Started and then dropped at an arbitrary point. Fast work may already be complete.
        let _ = abandoned.as_mut().poll(&mut context);
    }
    assert!(locations.get(&directory).await.is_ok());
}

/// Opens a directory and drops the Location.
async fn visit(locations: &Locations, machine: &Machine, name: &str) -> Weak<Location> {
    let directory = machine.directory(name);
    Arc::downgrade(&locations.get(&directory).await.unwrap())
}

fn is_kept(location: &Weak<Location>) -> bool {
    location.strong_count() > 0
}

#[tokio::test]
async fn the_least_recently_used_idle_locations_are_dropped() {
    let machine = Machine::new();
    let locations = machine.locations(None).with_max_idle(2);
    let a = visit(&locations, &machine, "a").await;
    let b = visit(&locations, &machine, "b").await;
    visit(&locations, &machine, "a").await;
    let c = visit(&locations, &machine, "c").await;
    assert!(
        is_kept(&a) && is_kept(&b) && is_kept(&c),
        "c is still in use when b could go"
    );
    let d = visit(&locations, &machine, "d").await;
    assert_eq!(
        [&a, &b, &c, &d].map(is_kept),
        [true, false, true, true],
        "a was used after b"
    );
}

#[tokio::test]
async fn locations_in_use_are_never_dropped() {
    let machine = Machine::new();
    let locations = machine.locations(None).with_max_idle(0);
    let held = locations.get(&machine.directory("held")).await.unwrap();
    for name in ["a", "b", "c"] {
        visit(&locations, &machine, name).await;
    }
    let again = locations.get(&machine.directory("held")).await.unwrap();
    assert!(Arc::ptr_eq(&held, &again));
}

#[tokio::test]
async fn configuration_is_read_when_a_location_is_opened() {
    let machine = Machine::new();
    let locations = machine.locations(None).with_max_idle(0);
    let directory = machine.directory("a");
    let before = locations.get(&directory).await.unwrap();
    machine.write("a/opencode.json", "{\"provider\": {\"p\": {}}}");
    let still = locations.get(&directory).await.unwrap();
    assert_eq!(
        still.catalogue.providers().len(),
        0,
        "a snapshot never changes"
    );
    drop((before, still));
    visit(&locations, &machine, "other").await;
    let after = locations.get(&directory).await.unwrap();
    assert_eq!(after.catalogue.providers().len(), 1);
}

#[tokio::test]
async fn debug_shows_no_secret() {
    let mut machine = Machine::new();
    machine.set("API_KEY", "sk-1");
    let directory = machine.directory("a");
    let config = json!({
        "provider": {"p": {
            "options": {"apiKey": "sk-2", "headers": {"A": "sk-3"}},
            "models": {"m": {"headers": {"B": "sk-4"}, "options": {"c": "sk-5"}}},
        }},
        "instructions": ["https://u:sk-6@h.example/a.md?token=sk-7"],
        "skills": ["https://sk-8@h.example/skills"],
        "references": {"r": "https://sk-9@h.example/a/b", "s": "https://u:sk-10@h.example/a/c"},
        "agents": {"a": {"request": {"headers": {"Authorization": "sk-11"}}}},
    });
    let locations = machine.locations(Some(config));
    let location = locations.get(&directory).await.unwrap();
    let shown = format!("{location:?} {locations:?} {:?}", machine.environment);
    assert!(!shown.contains("sk-"), "{shown}");
}
