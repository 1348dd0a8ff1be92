//! Providers that the embedding program has registered.

use std::sync::Arc;

use opencode_llm::ProtocolId;
use opencode_location::catalogue::ProgramProviders;
use opencode_location::location::{Locations, Trust};
use opencode_schema::catalogue::ProviderApi;
use serde_json::{Value, json};

use crate::documents::select;
use crate::machine::Machine;

/// Locations of a machine with a document in the project, and the providers of the program.
fn locations(machine: &Machine, document: &Value) -> (Locations, ProgramProviders) {
    machine.write("project/opencode.json", document.to_string());
    let programs = ProgramProviders::default();
    let locations = Locations::new(Arc::new(machine.environment.clone()), None)
        .with_trust(Trust::Always)
        .with_program_providers(programs.clone());
    (locations, programs)
}

fn register(programs: &ProgramProviders, id: &str, models: Value) -> u32 {
    let description = json!({ "name": "Mine", "models": models });
    programs.register(id, &description, None).unwrap()
}

#[tokio::test]
async fn a_registered_model_is_offered_at_once_and_until_it_is_removed() {
    let machine = Machine::new();
    let (locations, programs) = locations(&machine, &json!({}));
    let directory = machine.text("project");
    let before = locations.get(&directory).await.unwrap();
    assert!(before.catalogue.resolve(None).is_err());

    let model = json!({ "m": { "limit": { "context": 8_000, "output": 100 }, "cost": { "input": 1, "output": 2 } } });
    let number = register(&programs, "mine", model);
    let open = locations.get(&directory).await.unwrap();
    let outcome = open.catalogue.resolve(None).unwrap();
    assert_eq!(outcome.model.protocol, ProtocolId::Program(number));
    assert_eq!(outcome.model.limits.context, 8_000);
    assert_eq!(outcome.model.route(), "mine/program");
    let provider = open.catalogue.provider("mine").unwrap();
    assert_eq!(provider.name, "Mine");
    assert!(matches!(
        provider.api,
        ProviderApi::Native { url: None, .. }
    ));
    let again = locations.get(&directory).await.unwrap();
    assert!(
        Arc::ptr_eq(&open, &again),
        "an unchanged Location is not read again"
    );

    programs.remove(number);
    let after = locations.get(&directory).await.unwrap();
    assert!(
        after
            .catalogue
            .resolve(Some(&select("mine", "m", None)))
            .is_err()
    );
}

#[tokio::test]
async fn only_the_program_answers_for_its_provider() {
    let machine = Machine::new();
    let document = json!({
        "provider": { "openai": {
            "npm": "@ai-sdk/openai",
            "options": { "apiKey": "sk-file", "baseURL": "http://elsewhere.test/v1", "store": true },
            "models": {
                "m": { "options": { "reasoningEffort": "high", "temperature": 0.5 },
                       "provider": { "npm": "@ai-sdk/anthropic", "api": "http://elsewhere.test" } },
                "unknown": {},
            },
        } },
    });
    let (locations, programs) = locations(&machine, &document);
    let number = register(&programs, "openai", json!({ "m": {} }));
    let open = locations.get(&machine.text("project")).await.unwrap();
    let models: Vec<_> = open
        .catalogue
        .models()
        .into_iter()
        .map(|it| it.id)
        .collect();
    assert_eq!(models, ["m"]);
    let outcome = open
        .catalogue
        .resolve(Some(&select("openai", "m", None)))
        .unwrap();
    assert_eq!(outcome.model.protocol, ProtocolId::Program(number));
    assert_eq!(outcome.model.endpoint.base_url, "");
    assert_eq!(outcome.model.generation.temperature, Some(0.5));
    let options = json!({ "program": { "store": true, "reasoningEffort": "high" } });
    assert_eq!(
        Value::Object(outcome.model.provider_options.clone()),
        options
    );
    assert!(outcome.model.body.is_empty());
}

#[tokio::test]
async fn variants_and_time_limits_hold() {
    let machine = Machine::new();
    let (locations, programs) = locations(&machine, &json!({ "model": "mine/m" }));
    let variant =
        json!({ "id": "high", "body": { "effort": "high", "thinking": { "budgetTokens": 5 } } });
    let request = json!({ "body": { "effort": "low", "chunkTimeout": 50 } });
    register(
        &programs,
        "mine",
        json!({ "m": { "variants": [variant], "request": request } }),
    );
    let open = locations.get(&machine.text("project")).await.unwrap();
    let plain = open.catalogue.resolve(None).unwrap();
    assert_eq!(
        json!(plain.model.provider_options),
        json!({ "program": { "effort": "low" } })
    );
    assert_eq!(
        plain.model.timeouts.chunk,
        Some(std::time::Duration::from_millis(50))
    );
    let mut selection = select("mine", "m", None);
    selection.variant = Some("high".into());
    let high = open.catalogue.resolve(Some(&selection)).unwrap();
    assert_eq!(
        json!(high.model.provider_options),
        json!({ "program": { "effort": "high", "thinking": { "budgetTokens": 5 } } })
    );
}

#[tokio::test]
async fn a_policy_denies_a_provider_of_the_program() {
    let machine = Machine::new();
    let (locations, programs) = locations(&machine, &json!({ "disabled_providers": ["mine"] }));
    register(&programs, "mine", json!({ "m": {} }));
    let open = locations.get(&machine.text("project")).await.unwrap();
    assert!(
        open.catalogue
            .resolve(Some(&select("mine", "m", None)))
            .is_err()
    );
}

#[test]
fn documents_cannot_name_a_program() {
    let machine = Machine::new();
    let document = json!({ "providers": { "x": {
        "api": { "type": "native", "settings": { "protocol": "program" } }, "models": { "m": {} },
    } } });
    machine.write("project/opencode.json", document.to_string());
    let configuration = machine.configuration_of("project", "project", &None.into());
    let (catalogue, _) =
        opencode_location::catalogue::Catalogue::build(&configuration, &machine.environment);
    assert!(catalogue.resolve(Some(&select("x", "m", None))).is_err());
}
