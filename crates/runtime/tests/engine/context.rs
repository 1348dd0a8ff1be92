//! Context Epochs: the Baseline System Context, its later updates, and sources that cannot be observed.

use opencode_llm::{LlmError, LlmRequest};
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, ScriptedSource, compact, output};
use serde_json::json;

const KEY: &str = "acme/rules";
const DAY: i64 = 24 * 60 * 60 * 1000;

/// The parts of the baseline that come from the sources of the test.
fn baseline_parts(request: &LlmRequest) -> Vec<&str> {
    let baseline = request.system.last().unwrap();
    let pieces = baseline.text.split("\n\n");
    pieces.filter(|it| it.starts_with("acme/")).collect()
}

/// The texts of the Mid-Conversation System Messages in these events.
fn updates(events: &[String]) -> Vec<&str> {
    let events = events.iter();
    events
        .filter_map(|event| event.strip_prefix("context.updated "))
        .collect()
}

#[tokio::test]
async fn a_change_is_reported_once_after_the_promoted_inputs() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::telling(KEY, "one");
    let _told = f.contribute(&f.project.directory(), &source);
    f.model.otherwise(|_| Reply::says("Yes."));
    f.ask(&session, "1").await;
    source.set("two");
    f.ask(&session, "2").await;
    f.ask(&session, "3").await;
    source.hide();
    f.ask(&session, "4").await;
    source.set("three");
    f.ask(&session, "5").await;
    let turn = |text: &str, update: &str| {
        let mut events = vec![
            format!("prompt.admitted {text}"),
            format!("prompted {text}"),
        ];
        if !update.is_empty() {
            events.push(format!("context.updated {update}"));
        }
        events.extend(
            [
                "step.started",
                "text.started",
                "text.ended Yes.",
                "step.ended stop",
            ]
            .map(Into::into),
        );
        events
    };
    let expected = [
        turn("1", ""),
        turn("2", "acme/rules is now two"),
        turn("3", ""),
        turn("4", "acme/rules is gone"),
        turn("5", "acme/rules is three"),
    ];
    assert_eq!(f.events(&session).await, expected.concat());
    let requests = f.model.requests();
    for request in &requests {
        assert_eq!(request.system, requests[0].system);
    }
    assert_eq!(baseline_parts(&requests[0]), ["acme/rules is one"]);
    assert_eq!(
        compact::messages(&requests[4]),
        [
            "user: 1",
            "assistant: Yes.",
            "user: 2",
            "system: acme/rules is now two",
            "assistant: Yes.",
            "user: 3",
            "assistant: Yes.",
            "user: 4",
            "system: acme/rules is gone",
            "assistant: Yes.",
            "user: 5",
            "system: acme/rules is three",
        ]
    );
}

#[tokio::test]
async fn a_change_by_a_tool_is_reported_after_its_result_and_the_steers() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::telling(KEY, "one");
    let _told = f.contribute(&f.project.directory(), &source);
    let gate = Gate::new();
    f.held_tool("slow", &gate);
    f.model
        .reply(Reply::calls("c1", "slow", json!({})))
        .reply(Reply::calls("c2", "slow", json!({})))
        .reply(Reply::says("Done."));
    f.prompt(&session, "Go").await;
    f.reached(&gate).await;
    source.set("two");
    f.prompt(&session, "Faster").await;
    gate.release();
    f.wait(&session).await;
    assert_eq!(
        f.events_after(&session, 6).await[..6],
        [
            "prompt.admitted Faster",
            "tool.success c1 {}",
            "step.ended tool-calls",
            "prompted Faster",
            "context.updated acme/rules is now two",
            "step.started",
        ]
    );
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [
            "user: Go",
            "assistant: c1 slow{}",
            "tool: c1 = {}",
            "user: Faster",
            "system: acme/rules is now two",
            "assistant: c2 slow{}",
            "tool: c2 = {}",
        ]
    );
}

#[tokio::test]
async fn a_failed_first_observation_leaves_the_input_pending() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::new(KEY);
    source.fail();
    let _told = f.contribute(&f.project.directory(), &source);
    let mut live = f.live();
    f.ask(&session, "1").await;
    let failure =
        "session.error the System Context is not available yet: acme/rules: the test says so";
    f.read_until(&mut live, failure).await;
    assert_eq!(f.events(&session).await, ["prompt.admitted 1"]);
    assert_eq!(f.inbox(&session).await, ["1"]);
    source.set("one");
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "2").await;
    assert_eq!(
        f.events_after(&session, 1).await[..3],
        ["prompt.admitted 2", "prompted 1", "prompted 2"]
    );
    assert_eq!(
        baseline_parts(&f.model.last_request()),
        ["acme/rules is one"]
    );
}

#[tokio::test]
async fn a_failed_later_observation_keeps_the_last_value() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let here = f.project.directory();
    let source = ScriptedSource::telling(KEY, "one");
    let (_told, newcomer) = (
        f.contribute(&here, &source),
        ScriptedSource::new("acme/more"),
    );
    f.model.otherwise(|_| Reply::says("Yes."));
    f.ask(&session, "1").await;
    source.fail();
    newcomer.fail();
    let _more = f.contribute(&here, &newcomer);
    f.ask(&session, "2").await;
    source.set("one");
    f.ask(&session, "3").await;
    assert_eq!(updates(&f.events(&session).await), [""; 0]);
    source.set("two");
    newcomer.set("new");
    f.ask(&session, "4").await;
    assert_eq!(
        updates(&f.events(&session).await),
        ["acme/more is new\n\nacme/rules is now two"]
    );
}

#[tokio::test]
async fn a_reported_change_stays_when_the_turn_fails() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::telling(KEY, "one");
    let _told = f.contribute(&f.project.directory(), &source);
    f.model
        .reply(Reply::says("Yes."))
        .reply(Reply::fails(LlmError::invalid_request("no")))
        .reply(Reply::says("Yes."));
    f.ask(&session, "1").await;
    source.set("two");
    f.ask(&session, "2").await;
    f.ask(&session, "3").await;
    assert_eq!(
        updates(&f.events(&session).await),
        ["acme/rules is now two"]
    );
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [
            "user: 1",
            "assistant: Yes.",
            "user: 2",
            "system: acme/rules is now two",
            "user: 3",
        ]
    );
}

#[tokio::test]
async fn a_sent_message_is_not_extended() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::telling(KEY, "one");
    let _told = f.contribute(&f.project.directory(), &source);
    let refused = || Reply::fails(LlmError::invalid_request("no"));
    f.model
        .reply(refused())
        .reply(refused())
        .reply(Reply::says("Yes."));
    f.ask(&session, "1").await;
    source.set("<two>");
    // No input came in between, but the message was sent.
    f.run(&session).await;
    f.switch_agent(&session, "build").await;
    source.set("three");
    f.run(&session).await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [
            "user: 1",
            "user: <system-update>\nacme/rules is now &lt;two&gt;\n</system-update>",
            "user: <system-update>\nacme/rules is now three\n</system-update>",
        ]
    );
}

#[tokio::test]
async fn a_change_wakes_no_session() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::telling(KEY, "one");
    let _told = f.contribute(&f.project.directory(), &source);
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "1").await;
    let before = f.events(&session).await;
    source.set("two");
    f.leave(&session, "2", Delivery::Queue).await;
    f.withdraw(&f.leave(&session, "3", Delivery::Steer).await)
        .await;
    f.clock.advance(DAY);
    f.idle().await;
    assert_eq!(
        f.events_after(&session, before.len()).await,
        [
            "prompt.admitted 2 (queue)",
            "prompt.admitted 3",
            "prompt.withdrawn",
        ]
    );
    assert_eq!(source.loads(), 1);
}

#[tokio::test]
async fn a_turn_observes_once_and_boundaries_of_a_session_do_not_overlap() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::telling(KEY, "one");
    let gate = Gate::new();
    source.hold(&gate);
    let _told = f.contribute(&f.project.directory(), &source);
    f.tool("echo", |input, _| async { output(input) });
    f.model
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::says("Done."));
    f.prompt(&session, "1").await;
    f.reached(&gate).await;
    // All these calls join the boundary that is in progress.
    let runs = (0..5).map(|_| {
        let (runtime, id) = (f.runtime().clone(), session.clone());
        tokio::spawn(async move { runtime.run(&id).await })
    });
    let runs: Vec<_> = runs.collect();
    f.prompt(&session, "2").await;
    f.resume(&session).await;
    assert_eq!(source.loads(), 1);
    gate.release();
    for run in runs {
        f.within("run", run).await.unwrap().unwrap();
    }
    f.wait(&session).await;
    assert_eq!((source.loads(), f.model.requests().len()), (2, 2));
    assert_eq!(
        f.events(&session).await[..4],
        [
            "prompt.admitted 1",
            "prompt.admitted 2",
            "prompted 1",
            "prompted 2"
        ]
    );
}

#[tokio::test]
async fn an_interruption_ends_an_observation_and_changes_nothing() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let source = ScriptedSource::telling(KEY, "one");
    let _told = f.contribute(&f.project.directory(), &source);
    f.model.otherwise(|_| Reply::says("Yes."));
    for (text, pending) in [("1", vec!["1"]), ("2", vec!["1", "2"])] {
        let gate = Gate::new();
        source.hold(&gate);
        let before = f.events(&session).await;
        f.prompt(&session, text).await;
        f.reached(&gate).await;
        f.interrupt(&session).await;
        f.dropped(&gate).await;
        assert_eq!(f.inbox(&session).await, pending);
        assert_eq!(f.events(&session).await.len(), before.len() + 1);
        gate.release();
    }
    source.set("two");
    f.run(&session).await;
    // No epoch had begun.
    assert_eq!(
        baseline_parts(&f.model.last_request()),
        ["acme/rules is two"]
    );
    assert_eq!(updates(&f.events(&session).await), [""; 0]);
}

#[tokio::test]
async fn all_changes_at_one_boundary_are_in_one_message() {
    let f = Fixture::open().await;
    let session = f.session_on("m1").await;
    let here = f.project.directory();
    let sources = ["acme/a", "acme/b", "zeta/c"].map(|key| ScriptedSource::telling(key, "one"));
    let [first, second, third] = &sources;
    let goes = f.contribute(&here, first);
    let _second = f.contribute(&here, second);
    f.model.otherwise(|_| Reply::says("Yes."));
    f.ask(&session, "1").await;
    drop(goes);
    second.hide();
    let _third = f.contribute(&here, third);
    f.clock.advance(DAY);
    f.switch_model(&session, "m2").await;
    f.ask(&session, "2").await;
    assert_eq!(
        updates(&f.events(&session).await),
        [[
            "Today is now Sat Nov 21 2026.",
            "zeta/c is one",
            "You are now the model m2 of the provider mock.",
            "acme/a is gone",
            "acme/b is gone",
        ]
        .join("\n\n")]
    );
}
