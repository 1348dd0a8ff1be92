//! Instructions at a web address, over the life of two hosts.

use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use opencode_testkit::{Fixture, Reply};

const ADDRESS: &str = "https://example.com/rules.md";

/// The remote instructions in the baseline of the last request.
fn remote(f: &Fixture) -> Vec<String> {
    let request = f.model.last_request();
    let baseline = &request.system.last().unwrap().text;
    let parts = baseline.split("\n\n");
    let remote = parts.filter(|part| part.starts_with("Remote instructions"));
    remote.map(str::to_owned).collect()
}

async fn updates(f: &Fixture, session: &SessionID) -> usize {
    f.payloads(session, "context.updated").await.len()
}

/// The diagnostics of the configuration in the project.
async fn wrong(f: &Fixture) -> Vec<String> {
    let location = LocationRef {
        directory: f.project.directory(),
        workspace_id: None,
    };
    let location = f.runtime().open_location(&location).await.unwrap();
    let wrong = f.runtime().diagnostics(&location);
    wrong.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn they_are_reported_stored_and_never_awaited_again() {
    let mut f = Fixture::open().await;
    f.project.write(
        "opencode.json",
        &format!(r#"{{"instructions": ["{ADDRESS}"]}}"#),
    );
    f.fetch.put(ADDRESS, "Sign your commits.");
    f.model.otherwise(|_| Reply::says("Yes."));
    let session = f.session().await;
    f.ask(&session, "1").await;
    let told = [format!(
        "Remote instructions ({ADDRESS}):\nSign your commits."
    )];
    assert_eq!(remote(&f), told);
    assert_eq!(wrong(&f).await, [""; 0]);

    f.reopen().await;
    f.fetch.take(ADDRESS);
    f.ask(&session, "2").await;
    assert_eq!(
        (remote(&f), updates(&f, &session).await),
        (told.to_vec(), 0)
    );
    let failure = "The instructions behind this address cannot be loaded: there is nothing";
    assert_eq!(wrong(&f).await, [format!("{ADDRESS}: {failure}")]);
    let other = f.session().await;
    f.ask(&other, "1").await;
    assert_eq!(remote(&f), [""; 0]);
}
