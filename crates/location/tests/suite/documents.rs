//! Configuration documents to build catalogues from.

use opencode_location::catalogue::{Catalogue, Model, Provider};
use opencode_location::config::{Configuration, Diagnostic};
use opencode_location::environment::Environment;
use opencode_location::project::Project;
use opencode_schema::model::ModelRef;
use serde_json::{Value, json};

/// Builds the catalogue of documents, weakest first: an optional text of the environment, and the host's document.
pub(crate) fn build(documents: &[Value]) -> (Catalogue, Option<Diagnostic>) {
    let (host, inline) = documents.split_last().expect("a document");
    let mut environment = Environment {
        home: "/nowhere".into(),
        config: "/nowhere".into(),
        ..Environment::default()
    };
    if let [text] = inline {
        let variable = "OPENCODE_CONFIG_CONTENT".to_owned();
        environment.variables.insert(variable, text.to_string());
    }
    let configuration = Configuration::load(
        &environment,
        &Project::global(),
        "/nowhere",
        &Some(host.clone()).into(),
        true,
    );
    assert_eq!(configuration.diagnostics, []);
    assert_eq!(configuration.documents().count(), documents.len());
    Catalogue::build(&configuration, &environment)
}

pub(crate) fn catalogue(document: Value) -> Catalogue {
    build(&[document]).0
}

/// Returns provider `mock`.
pub(crate) fn provider(catalogue: &Catalogue) -> &Provider {
    catalogue.described_provider("mock").unwrap()
}

/// Returns model `m1` of provider `mock`.
pub(crate) fn model(catalogue: &Catalogue) -> &Model {
    catalogue.described_model("mock", "m1").unwrap()
}

pub(crate) fn select(provider: &str, model: &str, variant: Option<&str>) -> ModelRef {
    ModelRef {
        id: model.to_owned(),
        provider_id: provider.to_owned(),
        variant: variant.map(str::to_owned),
    }
}

/// A document with a provider `mock` and a model `m1`, with these members.
pub(crate) fn first_generation(provider: Value, model: Value) -> Value {
    let mut base = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": "http://127.0.0.1:1/v1"},
    });
    merge(&mut base, provider);
    base["models"] = json!({ "m1": model });
    json!({ "provider": { "mock": base } })
}

pub(crate) fn second_generation(provider: Value, model: Value) -> Value {
    let mut base = json!({
        "api": {
            "type": "aisdk",
            "package": "@ai-sdk/openai-compatible",
            "url": "http://127.0.0.1:1/v1",
        },
    });
    merge(&mut base, provider);
    base["models"] = json!({ "m1": model });
    json!({ "providers": { "mock": base } })
}

fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                merge(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}
