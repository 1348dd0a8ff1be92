//! Baselines that are replaced, because no update can describe the change.

use opencode_llm::LlmRequest;
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Reply, ScriptedSource, compact};

const KEY: &str = "acme/rules";
const OTHER: &str = "acme/other";

fn baseline_parts(request: &LlmRequest) -> Vec<&str> {
    let baseline = request.system.last().unwrap();
    let pieces = baseline.text.split("\n\n");
    pieces.filter(|it| it.starts_with("acme/")).collect()
}

async fn updates(f: &Fixture, session: &SessionID) -> Vec<String> {
    let events = f.events(session).await.into_iter();
    events
        .filter(|event| event.starts_with("context.updated"))
        .collect()
}

/// A session with two sources, and with an update of the first one.
async fn begun() -> (Fixture, SessionID, [ScriptedSource; 2]) {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Yes."));
    let sources = [KEY, OTHER].map(|key| ScriptedSource::telling(key, "one"));
    let here = f.project.directory();
    let registered = sources.each_ref().map(|source| f.contribute(&here, source));
    f.ask(&session, "1").await;
    sources[0].set("two");
    f.ask(&session, "2").await;
    assert_eq!(
        updates(&f, &session).await,
        ["context.updated acme/rules is now two"]
    );
    // The sources stay registered as long as the host runs.
    std::mem::forget(registered);
    (f, session, sources)
}

/// The user messages of the newest request, and true if the request contains the update of the
/// replaced epoch.
fn user_messages(f: &Fixture) -> (Vec<String>, bool) {
    let mut messages = compact::messages(&f.model.last_request());
    let before = messages.len();
    messages.retain(|message| !message.starts_with("system: "));
    let is_there = messages.len() < before;
    messages.retain(|message| message.starts_with("user: "));
    (messages, is_there)
}

#[tokio::test]
async fn an_unreadable_stored_value_is_replaced_without_a_message() {
    let (f, session, [source, _]) = begun().await;
    source.set("v2: three").accept("v2: ");
    f.ask(&session, "3").await;
    assert_eq!(updates(&f, &session).await.len(), 1);
    let request = f.model.last_request();
    assert_eq!(
        baseline_parts(&request),
        ["acme/other is one", "acme/rules is v2: three"]
    );
    // The update of the former epoch is no longer part of the history.
    let three = ["user: 1", "user: 2", "user: 3"].map(String::from).to_vec();
    assert_eq!(user_messages(&f), (three, false));
    // Later changes are updates of the new epoch.
    source.set("v2: four");
    f.ask(&session, "4").await;
    assert_eq!(
        updates(&f, &session).await[1..],
        ["context.updated acme/rules is now v2: four"]
    );
    assert_eq!(f.model.last_request().system, request.system);
}

#[tokio::test]
async fn a_removed_source_that_cannot_be_revoked_is_replaced_when_all_sources_are_available() {
    let (f, session, [source, other]) = begun().await;
    // The value becomes irrevocable with its next update.
    source.bind().set("three");
    f.ask(&session, "3").await;
    let before = f.model.last_request().system;
    source.hide();
    other.fail();
    f.ask(&session, "4").await;
    assert_eq!(f.model.last_request().system, before);
    assert!(user_messages(&f).1);
    other.set("two");
    f.ask(&session, "5").await;
    let request = f.model.last_request();
    assert_eq!(baseline_parts(&request), ["acme/other is two"]);
    assert!(!user_messages(&f).1);
    assert_eq!(updates(&f, &session).await.len(), 2);
}

#[tokio::test]
async fn a_replaced_epoch_outlives_the_process() {
    let (mut f, session, [source, other]) = begun().await;
    source.set("v2: three").accept("v2: ");
    f.ask(&session, "3").await;
    let before = f.model.last_request();
    f.reopen().await;
    let here = f.project.directory();
    let _sources = [&source, &other].map(|source| f.contribute(&here, source));
    f.ask(&session, "4").await;
    let after = f.model.last_request();
    assert_eq!(after.system, before.system);
    assert_eq!(
        compact::messages(&after)[..before.messages.len()],
        compact::messages(&before)
    );
    assert_eq!(updates(&f, &session).await.len(), 1);
}
