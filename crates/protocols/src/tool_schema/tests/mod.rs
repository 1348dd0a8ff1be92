mod examples;
mod random;
mod rules;

use opencode_llm::canonical::model::ToolSchema;
use opencode_llm::canonical::request::InputSchema;
use opencode_llm::canonical::request::JsonMap;
use proptest::prelude::*;
use serde_json::{Value, json};

use self::random::Choices;
use super::names::Names;
use super::{NormalSchema, for_anthropic, for_gemini, for_openai, gemini, reduced, restore};

/// A form, the rules of its servers, and what it changes.
struct Family {
    name: &'static str,
    form: fn(&Value) -> Value,
    check: fn(&Value),
    names: Names,
    /// True if numbers in lists become texts.
    lists_texts: bool,
}

fn input(schema: &Value) -> InputSchema {
    schema.clone().into()
}

fn gemini_form(schema: &Value) -> Value {
    // A tool without parameters has no schema, which is the same as an object.
    match for_gemini(&input(schema)) {
        Some(form) => Value::clone(&form),
        None => gemini::project(&NormalSchema::of(schema).schema),
    }
}

const FAMILIES: [Family; 5] = [
    Family {
        name: "openai",
        form: |schema| Value::clone(&for_openai(&input(schema), ToolSchema::Standard)),
        check: rules::check_openai,
        names: Names::Any,
        lists_texts: false,
    },
    Family {
        name: "anthropic",
        form: |schema| Value::clone(&for_anthropic(&input(schema), ToolSchema::Standard)),
        check: rules::check_anthropic,
        names: Names::Anthropic,
        lists_texts: false,
    },
    Family {
        name: "claude behind a compatible server",
        form: |schema| Value::clone(&for_openai(&input(schema), ToolSchema::Anthropic)),
        check: |schema| {
            rules::check_openai(schema);
            rules::check_anthropic(schema);
        },
        names: Names::Anthropic,
        lists_texts: false,
    },
    Family {
        name: "gemini",
        form: gemini_form,
        check: rules::check_gemini,
        names: Names::Gemini,
        lists_texts: true,
    },
    Family {
        name: "moonshot",
        form: |schema| Value::clone(&for_openai(&input(schema), ToolSchema::Moonshot)),
        check: rules::check_moonshot,
        names: Names::Moonshot,
        lists_texts: false,
    },
];

/// Returns arguments as a model writes them that answers by the form.
fn forward(schema: &JsonMap, family: &Family, value: &Value) -> Value {
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        let branches = branches.iter().filter_map(Value::as_object);
        let mut fitting = branches.filter(|branch| restore::admits(branch, value, 64));
        return fitting
            .next()
            .map_or_else(|| value.clone(), |branch| forward(branch, family, value));
    }
    let inner = |key: &str| schema.get(key).and_then(Value::as_object);
    match value {
        Value::Number(_) if family.lists_texts && schema.contains_key("enum") => {
            let values = schema["enum"].as_array().into_iter().flatten();
            let mut equal = values.filter(|it| it.as_f64() == value.as_f64());
            equal
                .next()
                .map_or_else(|| value.clone(), |it| it.to_string().into())
        }
        Value::Array(items) => {
            let items = items.iter().enumerate().map(|(index, item)| {
                let inner = restore::item_schema(schema, index);
                inner.map_or_else(|| item.clone(), |inner| forward(inner, family, item))
            });
            items.collect()
        }
        Value::Object(members) => {
            let empty = JsonMap::new();
            let properties = inner("properties").unwrap_or(&empty);
            let replaced = family.names.replaced(properties);
            let members = members.iter().map(|(name, member)| {
                let child = properties.get(name).and_then(Value::as_object);
                let child = child.or_else(|| inner("additionalProperties"));
                let member = child.map_or_else(|| member.clone(), |it| forward(it, family, member));
                (replaced.wire(name).to_owned(), member)
            });
            Value::Object(members.collect())
        }
        _ => value.clone(),
    }
}

/// Reads a form of Google as JSON Schema, in which `nullable` has no meaning.
fn as_json_schema(mut form: Value) -> Value {
    if let Value::Object(members) = &mut form {
        let is_nullable = members.shift_remove("nullable").is_some();
        for (keyword, value) in members.iter_mut() {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => {
                    for child in named.values_mut() {
                        *child = as_json_schema(child.take());
                    }
                }
                ("anyOf", Value::Array(list)) => {
                    for child in list {
                        *child = as_json_schema(child.take());
                    }
                }
                ("items" | "additionalProperties", child @ Value::Object(_)) => {
                    *child = as_json_schema(child.take());
                }
                _ => {}
            }
        }
        if is_nullable {
            form = json!({"anyOf": [form, {"type": "null"}]});
        }
    }
    form
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn each_form_is_accepted_and_admits_what_the_schema_admits(
        random::Schema(schema) in random::schema(),
        seed in any::<u64>(),
    ) {
        let normal = NormalSchema::of(&schema).schema;
        prop_assert_eq!(&NormalSchema::of(&normal).schema, &normal);
        let original = jsonschema::draft202012::new(&normal).expect("the normal form is a schema");
        let reduced = reduced::reduced(&normal, 64);
        for family in &FAMILIES {
            let form = (family.form)(&schema);
            (family.check)(&form);
            let wire = as_json_schema(form.clone());
            let wire = jsonschema::draft202012::new(&wire).expect("the form is a schema");
            let mut choices = Choices(seed);
            for _ in 0..4 {
                let arguments = random::value(&schema, &schema, &mut choices, 3);
                if !original.is_valid(&arguments) {
                    continue;
                }
                let sent = forward(&reduced, family, &arguments);
                prop_assert!(wire.is_valid(&sent), "{}: {schema}\n{form}\nrefuses {sent} for {arguments}", family.name);
                let mut back = sent.clone();
                restore::restore(&normal, family.names, &mut back);
                // A text that the schema admits beside the value that it stands for stays.
                prop_assert!(original.is_valid(&back), "{}: {schema}\n{sent} becomes {back}", family.name);
                prop_assert_eq!(forward(&reduced, family, &back), sent);
            }
        }
    }
}
