//! Properties of all documents.

use opencode_location::catalogue::Catalogue;
use opencode_location::config::{Configuration, Diagnostic};
use opencode_location::environment::Environment;
use opencode_location::project::Project;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Names with a meaning in documents, so that arbitrary documents pass the first checks.
const NAMES: &[&str] = &[
    "model",
    "small_model",
    "provider",
    "providers",
    "p",
    "q",
    "models",
    "m",
    "n",
    "options",
    "api",
    "npm",
    "type",
    "package",
    "url",
    "settings",
    "request",
    "headers",
    "body",
    "variants",
    "id",
    "cost",
    "input",
    "output",
    "tiers",
    "tier",
    "size",
    "limit",
    "context",
    "env",
    "whitelist",
    "blacklist",
    "reasoning",
    "reasoning_options",
    "values",
    "apiKey",
    "agents",
    "agent",
    "mode",
    "permission",
    "permissions",
    "tools",
    "skills",
    "commands",
    "references",
    "instructions",
    "experimental",
    "policies",
    "action",
    "effect",
    "resource",
    "mcp",
    "servers",
    "share",
    "snapshot",
    "snapshots",
    "compaction",
    "keep",
    "tokens",
    "attachments",
    "image",
    "tool_output",
    "max_lines",
    "watcher",
    "ignore",
    "disabled",
    "disabled_providers",
    "release_date",
    "modalities",
];

const TEXTS: &[&str] = &[
    "",
    "p/m",
    "p/m#high",
    "aisdk",
    "native",
    "@ai-sdk/openai",
    "@ai-sdk/anthropic",
    "@ai-sdk/openai-compatible",
    "effort",
    "budget_tokens",
    "deny",
    "allow",
    "ask",
    "provider.use",
    "*",
    "2026-01-01",
    "http://h/v1",
    "deprecated",
    "auto",
    "\u{0}",
    "{env:X}",
    "ü",
];

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(TEXTS).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    let name = prop_oneof![
        8 => proptest::sample::select(NAMES).prop_map(str::to_owned),
        1 => ".{0,4}".prop_map(|name| name),
    ];
    leaf.prop_recursive(7, 60, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            4 => prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

fn environment(content: Option<String>) -> Environment {
    let content = content.map(|text| ("OPENCODE_CONFIG_CONTENT".to_owned(), text));
    Environment {
        home: "/nowhere".into(),
        config: "/nowhere".into(),
        variables: content.into_iter().collect(),
        ..Environment::default()
    }
}

fn load(environment: &Environment, host: Option<&Value>) -> Configuration {
    Configuration::load(
        environment,
        &Project::global(),
        "/nowhere",
        &host.cloned().into(),
        true,
    )
}

proptest! {
    /// Every document is either read or left out with one reason. In both cases, everything can be
    /// built from the result.
    #[test]
    fn any_value_is_read_or_reported(value in values()) {
        let environment = environment(None);
        let configuration = load(&environment, Some(&value));
        let is_whole = |it: &&Diagnostic| it.message.contains("the whole document is left out");
        let reasons = configuration.diagnostics.iter().filter(is_whole).count();
        prop_assert_eq!(configuration.documents().count() + reasons, 1);
        let (catalogue, _) = Catalogue::build(&configuration, &environment);
        for model in catalogue.models() {
            let known = catalogue.described_model(&model.provider_id, &model.id);
            prop_assert!(known.is_some());
        }
        let _ = (catalogue.providers(), catalogue.resolve(None));
    }

    /// A text and its value give the same configuration and the same diagnostics.
    #[test]
    fn a_text_is_read_like_its_value(value in values()) {
        prop_assume!(!value.to_string().contains("{env:"));
        let of_value = load(&environment(None), Some(&value));
        let of_text = load(&environment(Some(value.to_string())), None);
        let messages = |it: &Configuration| {
            it.diagnostics.iter().map(|it| it.message.clone()).collect::<Vec<_>>()
        };
        prop_assert_eq!(messages(&of_text), messages(&of_value));
        prop_assert_eq!(&of_text.settings, &of_value.settings);
        for diagnostic in &of_text.diagnostics {
            prop_assert_eq!(diagnostic.line, Some(1), "{}", diagnostic);
        }
    }

    /// Every text is either read or reported.
    #[test]
    fn any_text_is_read_or_reported(text in "[\\[\\]{}\":,/*\\\\ \na0-9e.x-]{0,40}") {
        let configuration = load(&environment(Some(text)), None);
        prop_assert!(configuration.documents().count() + configuration.diagnostics.len() <= 1);
    }
}
