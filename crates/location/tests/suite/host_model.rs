//! The model that the embedding program chose, with its key and its address.

use opencode_llm::{Auth, ProtocolId};
use opencode_location::catalogue::{Catalogue, ResolvedModelOutcome};
use opencode_location::config::{Configuration, HostConfiguration, HostModel, parse_model};
use opencode_location::secret::BaseUrl;
use opencode_secrets::Secret;
use serde_json::{Value, json};

use crate::documents::select;
use crate::machine::Machine;

const OFFICIAL: &str = "https://api.openai.com/v1";

fn chosen(name: &str) -> HostModel {
    HostModel {
        model: parse_model(name).unwrap(),
        api_key: None,
        base_url: None,
    }
}

fn with_key(name: &str) -> HostModel {
    HostModel {
        api_key: Some(Secret::new("sk-option")),
        ..chosen(name)
    }
}

fn at(model: HostModel, url: &str) -> HostModel {
    HostModel {
        base_url: Some(BaseUrl(url.to_owned())),
        ..model
    }
}

/// Configuration and catalogue of a machine with a document in the project.
fn read(machine: &Machine, project: Value, model: HostModel) -> (Configuration, Catalogue) {
    machine.write("project/opencode.json", project.to_string());
    let host = HostConfiguration {
        config: None,
        model: Some(model),
        ..HostConfiguration::default()
    };
    let configuration = machine.configuration_of("project", "project", &host);
    let (catalogue, _) = Catalogue::build(&configuration, &machine.environment);
    (configuration, catalogue)
}

fn resolved(machine: &Machine, project: Value, model: HostModel) -> ResolvedModelOutcome {
    read(machine, project, model).1.resolve(None).unwrap()
}

fn refusal(machine: &Machine, project: Value, model: HostModel) -> String {
    let outcome = read(machine, project, model).1.resolve(None);
    outcome.unwrap_err().to_string()
}

#[test]
fn known_providers_need_only_a_key() {
    for (name, variable, protocol, address) in [
        (
            "openai/gpt-4.1-mini",
            "OPENAI_API_KEY",
            ProtocolId::OpenAiResponses,
            OFFICIAL,
        ),
        (
            "anthropic/claude-sonnet-4-5",
            "ANTHROPIC_API_KEY",
            ProtocolId::AnthropicMessages,
            "https://api.anthropic.com/v1",
        ),
    ] {
        let mut machine = Machine::new();
        let given = resolved(&machine, json!({}), with_key(name));
        machine.set(variable, "sk-variable");
        let found = resolved(&machine, json!({}), chosen(name));
        for (outcome, key) in [(given, "sk-option"), (found, "sk-variable")] {
            let model = &outcome.model;
            assert_eq!(format!("{}/{}", model.provider_id, model.model_id), name);
            assert_eq!(model.protocol, protocol);
            assert_eq!(model.endpoint.base_url, address);
            assert!(model.capabilities.tools);
            let expected = match protocol {
                ProtocolId::AnthropicMessages => Auth::Header {
                    name: "x-api-key".to_owned(),
                    secret: Secret::new(key),
                },
                _ => Auth::Bearer(Secret::new(key)),
            };
            assert_eq!(model.auth, expected);
        }
    }
}

#[test]
fn a_missing_key_is_reported_and_no_other_model_is_used() {
    let mut machine = Machine::new();
    let missing =
        "No API key for provider openai: set OPENAI_API_KEY or pass apiKey to OpenCode.create";
    let model = || chosen("openai/gpt-4.1-mini");
    assert_eq!(refusal(&machine, json!({}), model()), missing);
    let other =
        json!({"provider": {"mine": {"options": {"baseURL": "http://h/v1"}, "models": {"m": {}}}}});
    assert_eq!(refusal(&machine, other, model()), missing);
    // The provider's own server needs a key, regardless of the source of its address.
    let official = json!({"provider": {"openai": {"options": {"baseURL": OFFICIAL}}}});
    assert_eq!(refusal(&machine, official, model()), missing);
    machine.set("OPENAI_BASE_URL", OFFICIAL);
    assert_eq!(refusal(&machine, json!({}), model()), missing);
    // A compatible server may need no key.
    machine.set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let outcome = resolved(&machine, json!({}), model());
    assert_eq!(outcome.model.auth, Auth::None);
}

#[test]
fn a_configured_default_without_a_key_is_reported() {
    let machine = Machine::new();
    let document = json!({"model": "openai/m", "provider": {"openai": {"models": {"m": {}}}}});
    machine.write("project/opencode.json", document.to_string());
    let configuration = machine.configuration("project", "project", None);
    let (catalogue, _) = Catalogue::build(&configuration, &machine.environment);
    assert_eq!(
        catalogue.resolve(None).unwrap_err().to_string(),
        "No API key for provider openai: set OPENAI_API_KEY or pass apiKey to OpenCode.create"
    );
}

#[test]
fn another_provider_needs_an_address_and_uses_chat_completions() {
    let mut machine = Machine::new();
    let outcome = resolved(&machine, json!({}), at(chosen("my-lab/m"), "http://h/v1"));
    assert_eq!(outcome.model.protocol, ProtocolId::OpenAiChat);
    assert_eq!(outcome.model.endpoint.base_url, "http://h/v1");
    assert_eq!(outcome.model.auth, Auth::None);
    machine.set("MY_LAB_API_KEY", "sk-variable");
    let outcome = resolved(&machine, json!({}), at(chosen("my-lab/m"), "http://h/v1"));
    assert_eq!(outcome.model.auth, Auth::Bearer(Secret::new("sk-variable")));
    let message = refusal(&machine, json!({}), chosen("my-lab/m"));
    assert!(
        message.contains("Pass baseURL to OpenCode.create"),
        "{message}"
    );
}

#[test]
fn documents_add_to_the_description_of_the_model() {
    let machine = Machine::new();
    let project = json!({"model": "openai/other", "provider": {"openai": {"models": {
        "gpt-4.1-mini": {"limit": {"context": 1000, "output": 100}},
        "other": {},
    }}}});
    let outcome = resolved(&machine, project, with_key("openai/gpt-4.1-mini"));
    assert_eq!(outcome.selection, select("openai", "gpt-4.1-mini", None));
    assert_eq!(outcome.model.limits.context, 1000);
    assert!(outcome.model.capabilities.tools);
    let no_tools =
        json!({"provider": {"openai": {"models": {"gpt-4.1-mini": {"tool_call": false}}}}});
    let outcome = resolved(&machine, no_tools, with_key("openai/gpt-4.1-mini"));
    assert!(!outcome.model.capabilities.tools);
}

#[test]
fn a_key_of_the_program_is_not_sent_to_an_address_of_a_file() {
    let evil = "http://evil.example/v1";
    let of_provider = json!({"provider": {"openai": {"options": {"baseURL": evil}}}});
    let of_model = json!({"provider": {"openai": {"models": {
        "gpt-4.1-mini": {"provider": {"api": evil}},
        "other": {"provider": {"api": evil}},
    }}}});
    let newer = json!({"providers": {"openai": {"api": {"url": evil}, "models": {
        "gpt-4.1-mini": {"api": {"url": evil}},
        "other": {"api": {"url": evil}},
    }}}});
    for project in [of_provider, of_model, newer] {
        let mut machine = Machine::new();
        let model = || with_key("openai/gpt-4.1-mini");
        let (configuration, catalogue) = read(&machine, project.clone(), model());
        assert_eq!(
            catalogue.resolve(None).unwrap().model.endpoint.base_url,
            OFFICIAL
        );
        if let Ok(other) = catalogue.resolve(Some(&select("openai", "other", None))) {
            assert_eq!(other.model.endpoint.base_url, OFFICIAL);
        }
        let [told] = &configuration.diagnostics[..] else {
            panic!("{:?}", configuration.diagnostics);
        };
        assert!(
            told.message
                .starts_with("The address of the provider openai has no effect: "),
            "{told:?}"
        );
        machine.set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
        let outcome = resolved(&machine, project.clone(), model());
        assert_eq!(outcome.model.endpoint.base_url, "http://127.0.0.1:1/v1");
        let outcome = resolved(&machine, project, at(model(), "http://127.0.0.1:2/v1"));
        assert_eq!(outcome.model.endpoint.base_url, "http://127.0.0.1:2/v1");
        assert_eq!(outcome.model.auth, Auth::Bearer(Secret::new("sk-option")));
    }
}

#[test]
fn the_option_config_may_set_another_address() {
    let machine = Machine::new();
    let config = json!({"provider": {"openai": {"options": {"baseURL": "http://own/v1"}}}});
    let host = HostConfiguration {
        config: Some(config),
        model: Some(with_key("openai/m")),
        ..HostConfiguration::default()
    };
    let configuration = machine.configuration_of("project", "project", &host);
    let (catalogue, _) = Catalogue::build(&configuration, &machine.environment);
    let outcome = catalogue.resolve(None).unwrap();
    assert_eq!(outcome.model.endpoint.base_url, "http://own/v1");
}

#[test]
fn a_variable_sets_the_address_if_configuration_does_not() {
    let mut machine = Machine::new();
    machine.set("OPENAI_BASE_URL", "http://variable/v1");
    machine.set("ANTHROPIC_BASE_URL", "http://messages/v1");
    let address = |project: Value, name: &str| {
        let outcome = resolved(&machine, project, chosen(name));
        outcome.model.endpoint.base_url.clone()
    };
    assert_eq!(address(json!({}), "openai/m"), "http://variable/v1");
    assert_eq!(address(json!({}), "anthropic/m"), "http://messages/v1");
    let document = json!({"provider": {"openai": {"options": {"baseURL": "http://document/v1"}}}});
    assert_eq!(address(document, "openai/m"), "http://document/v1");
}

#[test]
fn a_key_is_not_shown() {
    let machine = Machine::new();
    let (configuration, catalogue) = read(&machine, json!({}), with_key("openai/m"));
    let provider = serde_json::to_string(&catalogue.provider("openai").unwrap()).unwrap();
    let shown = format!("{configuration:?} {catalogue:?} {provider}");
    assert!(!shown.contains("sk-option"), "{shown}");
}
