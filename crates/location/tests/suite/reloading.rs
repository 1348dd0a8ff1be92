//! Rereading of Locations, and eviction of unused ones.

use std::fs;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use opencode_location::config::{Diagnostic, DiagnosticKind};
use opencode_location::location::{IDLE_TIME, Location, LocationError, Locations};
use opencode_schema::clock::{Clock, Millis};
use serde_json::json;

use crate::machine::{ASKS, Machine};

fn username(location: &Location) -> Option<&str> {
    location.configuration.settings.username.as_deref()
}

fn named(name: &str) -> String {
    json!({ "username": name }).to_string()
}

#[tokio::test]
async fn new_readers_get_the_new_snapshot_and_old_readers_keep_theirs() {
    let machine = Machine::new();
    machine.write("a/opencode.json", named("before"));
    let directory = machine.text("a");
    let locations = machine.locations(None);
    let before = locations.get(&directory).await.unwrap();

    machine.write("a/opencode.json", named("after"));
    let reloaded = locations
        .reload(&format!("{directory}/../a/"))
        .await
        .unwrap();

    assert_eq!(username(&before), Some("before"));
    assert_eq!(username(&reloaded.location), Some("after"));
    assert!(!reloaded.catalogue_changed);
    let now = locations.get(&directory).await.unwrap();
    assert!(Arc::ptr_eq(&now, &reloaded.location));
}

#[test]
fn the_old_snapshot_is_available_until_the_new_one_is() {
    // Only one thread reads the disk, so that the test can block it.
    let threads = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    threads.block_on(old_until_new());
}

async fn old_until_new() {
    let machine = Machine::new();
    machine.write("a/opencode.json", named("before"));
    let directory = machine.text("a");
    let locations = machine.locations(None);
    let before = locations.get(&directory).await.unwrap();
    machine.write("a/opencode.json", named("after"));

    let (release, held) = std::sync::mpsc::channel::<()>();
    let holds = tokio::task::spawn_blocking(move || held.recv());
    let mut context = Context::from_waker(Waker::noop());
    let mut reload = pin!(locations.reload(&directory));
    assert!(reload.as_mut().poll(&mut context).is_pending());
    let Poll::Ready(meanwhile) = pin!(locations.get(&directory)).poll(&mut context) else {
        panic!("a Location that is open is had without waiting");
    };
    assert!(Arc::ptr_eq(&meanwhile.unwrap(), &before));

    drop(release);
    holds.await.unwrap().unwrap_err();
    let reloaded = reload.await.unwrap();
    assert_eq!(username(&reloaded.location), Some("after"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_reloads_keep_the_last_snapshot() {
    let machine = Machine::new();
    let directory = machine.directory("a");
    let locations = Arc::new(machine.locations(None));
    let reloads: Vec<_> = (0..16)
        .map(|_| {
            let (locations, directory) = (Arc::clone(&locations), directory.clone());
            tokio::spawn(async move { locations.reload(&directory).await.unwrap().location })
        })
        .collect();
    let mut snapshots = Vec::new();
    for reload in reloads {
        snapshots.push(reload.await.unwrap());
    }
    let now = locations.get(&directory).await.unwrap();
    let same = |snapshot: &&Arc<Location>| Arc::ptr_eq(snapshot, &now);
    assert_eq!(snapshots.iter().filter(same).count(), 1);
}

#[tokio::test]
async fn a_reload_reports_a_possible_change_of_models() {
    let machine = Machine::new();
    let directory = machine.directory("a");
    let locations = machine.locations(None);
    let provider = |key: &str| {
        let models = json!({"m": {"options": {"a": 1}}});
        let provider = json!({"options": {"apiKey": key, "baseURL": "http://h"}, "models": models});
        json!({ "provider": { "p": provider } })
    };
    let mut with_default = provider("k");
    with_default["model"] = json!("p/m#high");
    let mut with_variant = provider("k");
    with_variant["provider"]["p"]["models"]["m"]["variants"] = json!({"high": {}});
    for (document, changed) in [
        // There was no earlier snapshot.
        (json!({}), true),
        (json!({}), false),
        (json!({"username": "ada"}), false),
        (provider("k"), true),
        (provider("k"), false),
        (provider("other"), true),
        (with_default, true),
        (with_variant, true),
    ] {
        machine.write("a/opencode.json", document.to_string());
        let reloaded = locations.reload(&directory).await.unwrap();
        assert_eq!(reloaded.catalogue_changed, changed, "{document}");
    }
}

#[tokio::test]
async fn a_document_that_becomes_invalid_keeps_its_last_valid_state() {
    let machine = Machine::new();
    let file = machine.text("a/opencode.json");
    machine.write("a/opencode.json", named("good"));
    machine.write("config/opencode.json", "{");
    let directory = machine.text("a");
    let locations = machine.locations(None);
    let told = |location: &Location| {
        let diagnostics = location.configuration.diagnostics.iter();
        let ours: Vec<_> = diagnostics.filter(|it| it.path == file).cloned().collect();
        (username(location).map(str::to_owned), ours)
    };
    let complaint = |kind, message: &str, place: Option<(u32, u32)>| Diagnostic {
        path: file.clone(),
        kind,
        message: message.to_owned()
            + if kind == DiagnosticKind::Invalid {
                ""
            } else {
                ASKS
            },
        line: place.map(|(line, _)| line),
        column: place.map(|(_, column)| column),
    };
    let good = Some("good".to_owned());
    let location = locations.get(&directory).await.unwrap();
    assert_eq!(told(&location), (good.clone(), vec![]));

    // For every kind and number of failures.
    for (content, expected) in [(
        "{\"username\": \"lost\"",
        complaint(
            DiagnosticKind::Syntax,
            "Unterminated object; the document stays in force as it was read before",
            Some((1, 1)),
        ),
    )] {
        machine.write("a/opencode.json", content);
        let reloaded = locations.reload(&directory).await.unwrap();
        assert_eq!(
            told(&reloaded.location),
            (good.clone(), vec![expected]),
            "{content}"
        );
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let reloaded = locations.reload(&directory).await.unwrap();
    let expected = complaint(
        DiagnosticKind::Io,
        "The file cannot be read: it is not a regular file; the document stays in force as it was read before",
        None,
    );
    assert_eq!(told(&reloaded.location), (good, vec![expected]));

    // A deleted file has no effect, and a repaired file takes effect.
    fs::remove_dir(&file).unwrap();
    let reloaded = locations.reload(&directory).await.unwrap();
    assert_eq!(told(&reloaded.location), (None, vec![]));
    machine.write("a/opencode.json", named("well"));
    let reloaded = locations.reload(&directory).await.unwrap();
    assert_eq!(told(&reloaded.location), (Some("well".to_owned()), vec![]));
    // The document of the user was never valid.
    assert_eq!(reloaded.location.configuration.diagnostics.len(), 1);
}

#[tokio::test]
async fn a_removed_named_file_has_no_effect() {
    let mut machine = Machine::new();
    machine.write("named.json", named("ada"));
    machine.set("OPENCODE_CONFIG", &machine.text("named.json"));
    let directory = machine.directory("a");
    let locations = machine.locations(None);
    assert_eq!(
        username(&locations.get(&directory).await.unwrap()),
        Some("ada")
    );
    fs::remove_file(machine.path("named.json")).unwrap();
    let reloaded = locations.reload(&directory).await.unwrap().location;
    assert_eq!(username(&reloaded), None);
    let messages: Vec<_> = reloaded
        .configuration
        .diagnostics
        .iter()
        .map(|it| &it.message)
        .collect();
    assert_eq!(
        messages,
        [&format!(
            "There is no such file; it is named by OPENCODE_CONFIG{ASKS}"
        )]
    );
}

#[tokio::test]
async fn a_removed_directory_keeps_its_last_snapshot() {
    let machine = Machine::new();
    let directory = machine.directory("a");
    let locations = machine.locations(None);
    let before = locations.get(&directory).await.unwrap();
    fs::remove_dir(&directory).unwrap();
    let error = locations.reload(&directory).await.unwrap_err();
    let expected = LocationError::Missing {
        directory: directory.clone(),
    };
    assert_eq!(error, expected);
    assert!(Arc::ptr_eq(
        &before,
        &locations.get(&directory).await.unwrap()
    ));
    assert_eq!(
        locations.reload(&machine.text("never")).await.unwrap_err(),
        LocationError::Missing {
            directory: machine.text("never")
        }
    );
    assert_eq!(
        format!("{locations:?}"),
        format!("Locations {{ open: [{directory:?}], .. }}")
    );
}

/// A clock that advances only when it is set.
#[derive(Default)]
struct SetClock(AtomicI64);

impl SetClock {
    fn advance(&self, millis: Millis) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}

/// Locations with a manual clock, and the time after which an idle one is dropped.
fn timed(machine: &Machine) -> (Locations, Arc<SetClock>, Millis) {
    let clock = Arc::new(SetClock::default());
    clock.advance(1_000_000_000_000);
    let shared: Arc<dyn Clock> = Arc::clone(&clock) as _;
    let locations = machine.locations(None).with_clock(shared);
    (locations, clock, IDLE_TIME.as_millis() as Millis)
}

async fn visit(locations: &Locations, machine: &Machine, name: &str) -> Weak<Location> {
    Arc::downgrade(&locations.get(&machine.directory(name)).await.unwrap())
}

fn kept<const N: usize>(locations: [&Weak<Location>; N]) -> [bool; N] {
    locations.map(|location| location.strong_count() > 0)
}

#[tokio::test]
async fn a_location_that_is_idle_for_long_is_dropped() {
    let machine = Machine::new();
    let (locations, clock, idle_time) = timed(&machine);
    let a = visit(&locations, &machine, "a").await;
    clock.advance(idle_time - 1);
    let b = visit(&locations, &machine, "b").await;
    assert_eq!(kept([&a, &b]), [true, true]);
    // The idle time starts again at each use.
    visit(&locations, &machine, "a").await;
    clock.advance(idle_time - 1);
    let c = visit(&locations, &machine, "c").await;
    assert_eq!(kept([&a, &b, &c]), [true, true, true]);
    clock.advance(idle_time / 2);
    visit(&locations, &machine, "c").await;
    assert_eq!(kept([&a, &b, &c]), [false, false, true]);
}

#[tokio::test]
async fn a_location_is_read_again_after_a_long_idle_time() {
    let machine = Machine::new();
    machine.write("a/opencode.json", named("before"));
    let directory = machine.text("a");
    let (locations, clock, idle_time) = timed(&machine);
    let before = Arc::downgrade(&locations.get(&directory).await.unwrap());
    machine.write("a/opencode.json", named("after"));
    clock.advance(idle_time);
    let after = locations.get(&directory).await.unwrap();
    assert_eq!(username(&after), Some("after"));
    assert_eq!(kept([&before]), [false]);
}

#[tokio::test]
async fn a_location_in_use_does_not_expire() {
    let machine = Machine::new();
    let (locations, clock, idle_time) = timed(&machine);
    let held = locations.get(&machine.directory("held")).await.unwrap();
    for _ in 0..3 {
        clock.advance(idle_time);
        visit(&locations, &machine, "other").await;
    }
    let weak = Arc::downgrade(&held);
    drop(held);
    // The idle time starts when the Location was last found in use.
    clock.advance(idle_time - 1);
    visit(&locations, &machine, "other").await;
    assert_eq!(kept([&weak]), [true]);
    clock.advance(idle_time);
    visit(&locations, &machine, "other").await;
    assert_eq!(kept([&weak]), [false]);
}

#[tokio::test]
async fn a_clock_that_moves_back_drops_nothing() {
    let machine = Machine::new();
    let (locations, clock, idle_time) = timed(&machine);
    let a = visit(&locations, &machine, "a").await;
    clock.advance(-10 * idle_time);
    let b = visit(&locations, &machine, "b").await;
    assert_eq!(kept([&a, &b]), [true, true]);
}
