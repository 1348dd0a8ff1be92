//! Sessions that move while a Safe Provider-Turn Boundary observes: decisions for the former
//! Location are not written.

use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, Reply, ScriptedSource, compact};

const KEY: &str = "acme/rules";

struct Race {
    f: Fixture,
    session: SessionID,
    /// A source in the Location that the session leaves.
    here: ScriptedSource,
}

/// A session in the folder `one` of a repository that also has a folder `two`.
async fn race() -> Race {
    let f = Fixture::open().await;
    f.project.write("one/a.txt", "");
    f.project.write("two/b.txt", "");
    f.project.git();
    let session = f.session().await;
    f.move_to(&session, folder(&f, "one")).await;
    f.model.otherwise(|_| Reply::says("Yes."));
    let here = ScriptedSource::telling(KEY, "one");
    let there = ScriptedSource::telling(KEY, "two");
    for (name, source) in [("one", &here), ("two", &there)] {
        // The sources stay registered as long as the host runs.
        std::mem::forget(f.contribute(&folder(&f, name), source));
    }
    Race { f, session, here }
}

fn folder(f: &Fixture, name: &str) -> String {
    f.project.path(name).to_string_lossy().into_owned()
}

impl Race {
    /// Admits a prompt, and moves the session through these folders while its boundary observes.
    /// Returns the events of this turn without the moves.
    async fn run(&self, text: &str, moves: &[&str]) -> Vec<String> {
        let Self { f, session, here } = self;
        let before = f.events(session).await.len();
        let gate = Gate::new();
        here.hold(&gate);
        f.prompt(session, text).await;
        f.reached(&gate).await;
        for name in moves {
            f.move_to(session, folder(f, name)).await;
        }
        gate.release();
        f.wait(session).await;
        let mut events = f.events_after(session, before).await;
        events.retain(|event| !event.starts_with("moved"));
        events
    }

    /// The part of the baseline of the newest request that comes from the sources.
    fn baseline_part(&self) -> String {
        let request = self.f.model.last_request();
        let baseline = &request.system.last().unwrap().text;
        let mut pieces = baseline.split("\n\n").filter(|it| it.starts_with(KEY));
        pieces.next().unwrap_or_default().to_owned()
    }
}

fn turn(text: &str) -> Vec<String> {
    [
        format!("prompt.admitted {text}"),
        format!("prompted {text}"),
        "step.started".into(),
        "text.started".into(),
        "text.ended Yes.".into(),
        "step.ended stop".into(),
    ]
    .to_vec()
}

#[tokio::test]
async fn a_first_epoch_of_the_former_location_is_not_stored() {
    let race = race().await;
    assert_eq!(race.run("1", &["two"]).await, turn("1"));
    assert_eq!(race.baseline_part(), "acme/rules is two");
}

#[tokio::test]
async fn an_update_of_the_former_location_is_not_reported() {
    let race = race().await;
    race.f.ask(&race.session, "1").await;
    race.here.set("changed");
    assert_eq!(race.run("2", &["two"]).await, turn("2"));
    assert_eq!(race.baseline_part(), "acme/rules is two");
    assert_eq!(
        compact::messages(&race.f.model.last_request()),
        ["user: 1", "assistant: Yes.", "user: 2"]
    );
}

#[tokio::test]
async fn a_replacement_of_the_former_location_is_not_stored() {
    let race = race().await;
    race.f.ask(&race.session, "1").await;
    race.here.set("v2").accept("v2");
    assert_eq!(race.run("2", &["two"]).await, turn("2"));
    assert_eq!(race.baseline_part(), "acme/rules is two");
}

#[tokio::test]
async fn a_promoted_input_is_answered_at_the_new_location() {
    let race = race().await;
    race.f.ask(&race.session, "1").await;
    // No source has changed, so only the promotion is written.
    assert_eq!(race.run("2", &["two"]).await, turn("2"));
    assert_eq!(race.baseline_part(), "acme/rules is two");
}

/// The Location is the same again, but the epoch is not.
#[tokio::test]
async fn a_session_that_left_and_returned_starts_a_new_epoch() {
    let race = race().await;
    race.f.ask(&race.session, "1").await;
    race.here.set("changed");
    assert_eq!(race.run("2", &["two", "one"]).await, turn("2"));
    assert_eq!(race.baseline_part(), "acme/rules is changed");
    // The new epoch continues.
    race.here.set("again");
    let expected = {
        let mut events = turn("3");
        events.insert(2, "context.updated acme/rules is now again".into());
        events
    };
    assert_eq!(race.run("3", &[]).await, expected);
}

#[tokio::test]
async fn a_first_epoch_is_observed_again_after_a_return() {
    let race = race().await;
    assert_eq!(race.run("1", &["two", "one"]).await, turn("1"));
    assert_eq!(race.baseline_part(), "acme/rules is one");
}
