//! The decision about the trust in a project, and its duration.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_location::location::{AskTrust, Locations, Trust};
use opencode_schema::permission::PermissionEffect::{Allow, Ask};
use opencode_schema::permission::evaluate;
use serde_json::{Value, json};

use crate::machine::Machine;

/// Creates a machine with this document in the project.
fn with(document: Value) -> Machine {
    let machine = Machine::new();
    machine.write("project/opencode.json", document.to_string());
    machine
}

/// Returns configured answers and counts the questions.
struct Program(AtomicUsize, fn(&str) -> Result<bool, String>);

impl AskTrust for Program {
    fn ask(&self, directory: &str) -> BoxFuture<'static, Result<bool, String>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let answer = (self.1)(directory);
        async move { answer }.boxed()
    }
}

#[tokio::test]
async fn the_host_is_called_once_per_location() {
    let machine = with(json!({"username": "ada"}));
    let directory = machine.text("project");
    let other = machine.directory("other");
    let program = Arc::new(Program(AtomicUsize::new(0), |directory| {
        Ok(directory.ends_with("project"))
    }));
    let trust = Trust::Asked(Arc::clone(&program) as Arc<dyn AskTrust>);
    let locations = Locations::new(Arc::new(machine.environment.clone()), None).with_trust(trust);
    assert!(locations.get(&directory).await.unwrap().is_trusted);
    assert!(!locations.get(&other).await.unwrap().is_trusted);
    assert!(
        locations
            .reload(&directory)
            .await
            .unwrap()
            .location
            .is_trusted
    );
    assert_eq!(program.0.load(Ordering::Relaxed), 2);

    let revoked = locations.trust(&directory, false).await.unwrap().location;
    assert!(!revoked.is_trusted && revoked.configuration.settings.username.is_none());
    assert!(
        !locations
            .reload(&directory)
            .await
            .unwrap()
            .location
            .is_trusted
    );
    let given = locations.trust(&other, true).await.unwrap().location;
    assert!(given.is_trusted);
    assert_eq!(program.0.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn without_a_decision_nothing_is_trusted_and_the_host_is_called_again() {
    let machine = with(json!({"username": "ada"}));
    let directory = machine.text("project");
    let program = Arc::new(Program(AtomicUsize::new(0), |_| Err("it broke".to_owned())));
    let trust = Trust::Asked(Arc::clone(&program) as Arc<dyn AskTrust>);
    let locations = Locations::new(Arc::new(machine.environment.clone()), None).with_trust(trust);
    let location = locations.get(&directory).await.unwrap();
    assert!(!location.is_trusted);
    let said = &location.configuration.diagnostics;
    assert!(
        said.iter().any(|it| it.message.ends_with("it broke")),
        "{said:?}"
    );
    locations.reload(&directory).await.unwrap();
    assert_eq!(program.0.load(Ordering::Relaxed), 2);
}

/// Content that was read while the host trusted the project does not stay in effect.
#[tokio::test]
async fn a_document_that_becomes_invalid_keeps_no_trusted_values() {
    let machine = with(json!({"username": "ada"}));
    let directory = machine.text("project");
    let locations = machine.locations(None);
    locations.get(&directory).await.unwrap();
    machine.write("project/opencode.json", "{");
    let revoked = locations.trust(&directory, false).await.unwrap().location;
    assert_eq!(revoked.configuration.settings.username, None);
    let effect = evaluate("bash", "x", &revoked.agents.rules("build"));
    assert_eq!(effect, Ask);
}

#[tokio::test]
async fn a_corrected_file_ends_the_restriction() {
    let machine = Machine::new();
    machine.write("config/opencode.json", "{");
    machine.write("config/agent/plan.md", b"\xff");
    let directory = machine.directory("project");
    let locations = machine.locations(None);
    let effect = async |agent: &str| {
        let location = locations.get(&directory).await.unwrap();
        evaluate("read", "x", &location.agents.rules(agent))
    };
    assert_eq!((effect("build").await, effect("plan").await), (Ask, Ask));
    machine.write("config/opencode.json", "{}");
    assert_eq!((effect("build").await, effect("plan").await), (Allow, Ask));
    machine.write("config/agent/plan.md", "Plan.");
    assert_eq!(
        (effect("build").await, effect("plan").await),
        (Allow, Allow)
    );
    let location = locations.get(&directory).await.unwrap();
    assert_eq!(location.agents.unread(), Vec::<String>::new());
}
