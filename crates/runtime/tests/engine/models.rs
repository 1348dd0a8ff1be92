//! The model that answers: the choice of the session, else of its agent, else the default of the
//! Location. It is resolved before any promotion.

use opencode_llm::{JsonMap, Part, ProviderMetadata};
use opencode_runtime::{CreateSession, DrainOutcome};
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::Delivery;
use opencode_testkit::{Fixture, Gate, Reply, compact, output};
use serde_json::{Value, json};

fn metadata() -> ProviderMetadata {
    let signed = json!({"signature": "s"});
    Box::new(JsonMap::from_iter([("mock".to_owned(), signed)]))
}

/// The model and the parts of the first answer in the newest request.
fn answer_as_sent(f: &Fixture) -> (String, Vec<Part>) {
    let request = f.model.last_request();
    let answer = &request.messages[1];
    (request.model.id.clone(), answer.content.to_vec())
}

#[tokio::test]
async fn a_session_without_a_model_uses_the_default_of_its_location() {
    let f = Fixture::open().await;
    let (none, chosen) = (f.session().await, f.session_on("m2").await);
    f.model.otherwise(|_| Reply::says("Hello."));
    for (session, model) in [
        (&none, json!({"id": "m1", "providerID": "mock"})),
        (
            &chosen,
            json!({"id": "m2", "providerID": "mock", "variant": "default"}),
        ),
    ] {
        f.ask(session, "Hi").await;
        let started = f.payloads(session, "step.started").await;
        assert_eq!(started[0]["model"], model);
        assert_eq!(json!(f.model.last_request().model.id), model["id"]);
    }
    assert_eq!(f.info(&none).await.model, None);
}

#[tokio::test]
async fn a_model_receives_its_own_reasoning_unchanged_and_that_of_others_as_text() {
    let f = Fixture::open().await;
    let session = f.session_on("m1").await;
    f.model.reply(
        Reply::new()
            .reasoning("Hm.", Some(metadata()))
            .text("Hello.")
            .stop(),
    );
    f.ask(&session, "Hi").await;
    let own = (
        "m1".to_owned(),
        vec![
            Part::Reasoning(opencode_llm::ReasoningPart {
                text: "Hm.".into(),
                provider_metadata: Some(metadata()),
            }),
            Part::text("Hello."),
        ],
    );
    let other = (
        "m2".to_owned(),
        vec![Part::text("Hm."), Part::text("Hello.")],
    );
    for (model, expected) in [("m1", &own), ("m2", &other), ("m1", &own)] {
        f.switch_model(&session, model).await;
        f.model.reply(Reply::says("Yes."));
        f.ask(&session, "Sure?").await;
        assert_eq!(&answer_as_sent(&f), expected);
    }
    let sure = ["prompt.admitted Sure?", "prompted Sure?"];
    let yes = [
        "step.started",
        "text.started",
        "text.ended Yes.",
        "step.ended stop",
    ];
    let expected = [
        &[
            "prompt.admitted Hi",
            "prompted Hi",
            "step.started",
            "reasoning.started",
            "reasoning.ended Hm.",
            "text.started",
            "text.ended Hello.",
            "step.ended stop",
        ],
        // A switch to the current model records no event.
        &sure[..],
        &yes,
        &["model.switched mock m2"],
        &sure,
        &["context.updated You are now the model m2 of the provider mock."],
        &yes,
        &["model.switched mock m1"],
        &sure,
        &["context.updated You are now the model m1 of the provider mock."],
        &yes,
    ];
    assert_eq!(f.events(&session).await, expected.concat());
}

#[tokio::test]
async fn a_switch_during_a_turn_applies_from_the_next_turn() {
    let f = Fixture::open().await;
    let session = f.session_on("m1").await;
    f.tool("echo", |input, _| async { output(input) });
    let gate = Gate::new();
    let reply = Reply::new()
        .text("One.")
        .hold(&gate)
        .call("c1", "echo", json!({}))
        .tool_calls()
        .in_one_piece();
    f.model.reply(reply).reply(Reply::says("Two."));
    f.prompt(&session, "Hi").await;
    f.reached(&gate).await;
    f.switch_model(&session, "m2").await;
    gate.release();
    f.wait(&session).await;
    let started = f.payloads(&session, "step.started").await;
    let models: Vec<_> = started.iter().map(|step| &step["model"]["id"]).collect();
    assert_eq!(models, ["m1", "m2"]);
    assert_eq!(f.model.last_request().model.id, "m2");
    assert_eq!(
        f.events(&session).await,
        [
            "prompt.admitted Hi",
            "prompted Hi",
            "step.started",
            "text.started",
            "text.ended One.",
            "model.switched mock m2",
            "tool.input.started c1 echo",
            "tool.input.ended c1 {}",
            "tool.called c1 echo {}",
            "tool.success c1 {}",
            "step.ended tool-calls",
            "context.updated You are now the model m2 of the provider mock.",
            "step.started",
            "text.started",
            "text.ended Two.",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn a_switch_of_the_agent_is_always_recorded_and_applies_to_the_next_turn() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.otherwise(|_| Reply::says("Hello."));
    for agent in ["", "plan", "plan"] {
        let switched = f.runtime().switch_agent(&session, agent.to_owned());
        f.within("switch agent", switched).await.unwrap();
    }
    f.ask(&session, "Hi").await;
    assert_eq!(
        f.events(&session).await[..4],
        [
            "agent.switched",
            "agent.switched plan",
            "agent.switched plan",
            "prompt.admitted Hi",
        ]
    );
    assert_eq!(
        f.payloads(&session, "step.started").await[0]["agent"],
        "plan"
    );
    assert_eq!(f.info(&session).await.agent.as_deref(), Some("plan"));
    assert_eq!(
        compact::messages(&f.model.last_request()),
        ["user: Hi"],
        "records of switches are not for the model"
    );
}

#[tokio::test]
async fn an_unusable_model_leaves_the_input_pending_and_is_reported() {
    let select = |provider: &str, id: &str, variant: Option<&str>| ModelRef {
        id: id.to_owned(),
        provider_id: provider.to_owned(),
        variant: variant.map(str::to_owned),
    };
    for (model, message) in [
        (
            select("mock", "m9", None),
            "The model mock/m9 is not available",
        ),
        (
            select("nobody", "m1", None),
            "The model nobody/m1 is not available",
        ),
        (
            select("mock", "m1", Some("high")),
            "The model mock/m1 has no variant \"high\"",
        ),
    ] {
        let f = Fixture::open().await;
        let created = f.create(CreateSession {
            model: Some(model.clone()),
            ..f.new_session()
        });
        let session = created.await.id;
        let mut live = f.live();
        f.leave(&session, "Hi", Delivery::Steer).await;
        let outcome = f.run(&session).await;
        let DrainOutcome::Failed(error) = &outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(error.tag(), "ModelUnavailable");
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(f.events(&session).await, ["prompt.admitted Hi"]);
        f.read_until(&mut live, &format!("session.error {error}"))
            .await;
        assert_eq!(
            live.values()[1]["data"],
            json!({
                "sessionID": session,
                "error": {
                    "name": "UnknownError",
                    "data": {"message": error.to_string()},
                    "cause": {"kind": "invalid-request", "retryable": false},
                },
            })
        );
        assert_eq!(live.values()[1].get("durable"), None::<&Value>);
        // When a model is available, the pending input is promoted too.
        f.switch_model(&session, "m1").await;
        f.model.reply(Reply::says("Hello."));
        f.ask(&session, "Now").await;
        assert_eq!(
            compact::messages(&f.model.last_request()),
            ["user: Hi", "user: Now"]
        );
    }
}

#[tokio::test]
async fn a_failure_names_some_configuration_problems() {
    let f = Fixture::open().await;
    let references: Vec<_> = (10..22)
        .map(|n| format!(r#""not a name {n}": "./x""#))
        .collect();
    let references = references.join(",\n");
    let text = format!("{{\"references\": {{\n{references}\n}}}}");
    f.project.write("opencode.json", &text);
    let unknown = ModelRef {
        id: "m9".to_owned(),
        provider_id: "mock".to_owned(),
        variant: None,
    };
    let created = f.create(CreateSession {
        model: Some(unknown),
        ..f.new_session()
    });
    let session = created.await.id;
    f.leave(&session, "Hi", Delivery::Steer).await;
    let DrainOutcome::Failed(error) = f.run(&session).await else {
        panic!("there is no such model")
    };
    let error = error.to_string();
    let lines: Vec<_> = error.lines().collect();
    let file = format!("{}/opencode.json", f.project.directory());
    let places = lines[1..11]
        .iter()
        .map(|line| line.rsplit_once(": ").unwrap().0);
    let expected = (2..12).map(|line| format!("{file}:{line}"));
    assert!(
        places
            .zip(expected)
            .all(|(place, expected)| place.starts_with(&expected)),
        "{error}"
    );
    assert_eq!(lines[11..], ["2 more; location.diagnostics lists them all"]);
}

#[tokio::test]
async fn a_location_that_cannot_be_opened_leaves_the_input_pending_and_is_reported() {
    let f = Fixture::open().await;
    let mut request = f.new_session();
    request.location.directory = f.project.path("later").to_string_lossy().into();
    let session = f.create(request).await.id;
    let mut live = f.live();
    f.ask(&session, "Hi").await;
    let message = format!(
        "session.error the Location of the session cannot be opened: The directory {} does not exist; create it first or give another one",
        f.project.path("later").display()
    );
    f.read_until(&mut live, &message).await;
    assert_eq!(f.events(&session).await, ["prompt.admitted Hi"]);
    f.project.write("later/a.txt", "");
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Now").await;
    assert_eq!(
        compact::messages(&f.model.last_request()),
        ["user: Hi", "user: Now"]
    );
}
