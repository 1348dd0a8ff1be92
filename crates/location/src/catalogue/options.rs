//! The three domains of a request's options.
//!
//! Configuration mixes them in one object, in the spelling of the AI SDK or of the wire. A provider
//! adapter must know which is which: generation controls and provider options it encodes itself,
//! and only what neither of us knows goes into the body as it stands.

use opencode_llm::{GenerationControls, ProtocolId};
use serde_json::{Map, Value};

use crate::config::{Decoded, Invalid, count, elements, number, text, wrong};

/// The options of a provider that are time limits.
const LIMITS: [&str; 3] = ["headerTimeout", "chunkTimeout", "timeout"];

/// Options by domain, each under its canonical, camelCase name.
#[derive(Clone, PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct Options {
    words: &'static Words,
    generation: Map<String, Value>,
    provider: Map<String, Value>,
    body: Map<String, Value>,
}

/// What the adapters of a protocol give a meaning to beyond the generation controls.
#[derive(PartialEq)]
#[cfg_attr(test, derive(Debug))]
struct Words {
    /// Where they look for their options.
    namespace: &'static str,
    options: &'static [&'static str],
    /// Wire objects whose members are options, and the option behind each member.
    groups: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    /// Options that are objects, whose members may be spelled either way as well.
    objects: &'static [&'static str],
}

static OPENAI: Words = Words {
    namespace: "openai",
    options: &[
        "reasoningEffort",
        "reasoningSummary",
        "textVerbosity",
        "store",
        "include",
        "promptCacheKey",
        "serviceTier",
        "instructions",
        "parallelToolCalls",
        "hostedTools",
        "replayHosted",
    ],
    groups: &[
        (
            "reasoning",
            &[
                ("effort", "reasoningEffort"),
                ("summary", "reasoningSummary"),
            ],
        ),
        ("text", &[("verbosity", "textVerbosity")]),
    ],
    objects: &[],
};

static ANTHROPIC: Words = Words {
    namespace: "anthropic",
    options: &[
        "thinking",
        "effort",
        "taskBudget",
        "metadata",
        "disableParallelToolUse",
        "toolStreaming",
        "cache",
    ],
    groups: &[(
        "output_config",
        &[("effort", "effort"), ("task_budget", "taskBudget")],
    )],
    objects: &["thinking", "metadata", "cache"],
};

impl Words {
    fn of(protocol: ProtocolId) -> &'static Self {
        match protocol {
            ProtocolId::OpenAiChat | ProtocolId::OpenAiResponses => &OPENAI,
            ProtocolId::AnthropicMessages => &ANTHROPIC,
        }
    }
}

impl Options {
    /// Sorts the options of a model that is spoken to in this protocol.
    pub(crate) fn of(protocol: ProtocolId, options: &Map<String, Value>) -> Self {
        let mut sorted = Self {
            words: Words::of(protocol),
            generation: Map::new(),
            provider: Map::new(),
            body: Map::new(),
        };
        for (name, value) in options {
            sorted.sort(name, value);
        }
        sorted
    }

    fn sort(&mut self, name: &str, value: &Value) {
        let camel = camel_case(name);
        if let Some(control) = control(&camel) {
            self.generation.insert(control.to_owned(), value.clone());
        } else if self.words.options.contains(&camel.as_str()) {
            let value = match value {
                Value::Object(members) if self.words.objects.contains(&camel.as_str()) => {
                    camel_members(members)
                }
                other => other.clone(),
            };
            self.provider.insert(camel, value);
        } else if let Some((_, members)) =
            self.words.groups.iter().find(|(group, _)| *group == name)
        {
            self.sort_group(name, members, value);
        } else {
            self.body.insert(name.to_owned(), value.clone());
        }
    }

    /// Takes the known members out of an object of options. Setting the object to null unsets them.
    fn sort_group(&mut self, name: &str, members: &[(&str, &str)], value: &Value) {
        let mut rest = value.clone();
        for (member, option) in members {
            let taken = match &mut rest {
                Value::Object(rest) => rest.shift_remove(*member),
                Value::Null => Some(Value::Null),
                _ => None,
            };
            if let Some(taken) = taken {
                self.provider.insert((*option).to_owned(), taken);
            }
        }
        let exhausted = rest.as_object().is_some_and(Map::is_empty);
        if !exhausted {
            self.body.insert(name.to_owned(), rest);
        }
    }

    /// Lays other options over these, member by member; null takes a member away.
    pub(crate) fn overlay(&mut self, over: &Self) {
        overlay(&mut self.generation, &over.generation);
        overlay(&mut self.provider, &over.provider);
        overlay(&mut self.body, &over.body);
    }

    /// Takes a member out of the plain body.
    pub(crate) fn take_body(&mut self, name: &str) -> Option<Value> {
        self.body.shift_remove(name)
    }

    /// The three domains as a model request holds them: generation controls, provider options by
    /// namespace, body.
    pub(crate) fn into_parts(self) -> (GenerationControls, Map<String, Value>, Map<String, Value>) {
        let controls = controls(&self.generation);
        let mut provider = self.provider;
        provider.retain(|_, value| !value.is_null());
        let mut options = Map::new();
        if !provider.is_empty() {
            let namespace = self.words.namespace.to_owned();
            options.insert(namespace, Value::Object(provider));
        }
        (controls, options, self.body)
    }
}

/// Complains about a generation control whose value is not of its type, and about a wrong time limit.
pub(crate) fn check(options: &Map<String, Value>) -> Decoded<()> {
    check_limits(options)?;
    for (name, value) in options {
        let checked = match control(&camel_case(name)) {
            None => Ok(()),
            Some(_) if value.is_null() => Ok(()),
            Some("maxTokens" | "topK") => count(value).map(drop),
            Some("stop") => stop(value).map(drop),
            Some(_) => number(value).map(drop),
        };
        checked.map_err(|invalid| invalid.at(name))?;
    }
    Ok(())
}

/// Complains about a time limit that is neither `false` nor a positive number of milliseconds.
pub(crate) fn check_limits(options: &Map<String, Value>) -> Decoded<()> {
    for name in LIMITS {
        let fits = match options.get(name) {
            None | Some(Value::Null | Value::Bool(false)) => true,
            Some(limit) => limit.as_u64().is_some_and(|limit| limit > 0),
        };
        if !fits {
            let message = "must be false or a whole number of milliseconds above 0";
            return Err(Invalid::new(message).at(name));
        }
    }
    Ok(())
}

/// The generation control behind a name; several names stand for one control.
fn control(camel: &str) -> Option<&'static str> {
    Some(match camel {
        "temperature" => "temperature",
        "topP" => "topP",
        "topK" => "topK",
        "maxTokens" | "maxOutputTokens" => "maxTokens",
        "frequencyPenalty" => "frequencyPenalty",
        "presencePenalty" => "presencePenalty",
        "seed" => "seed",
        "stop" | "stopSequences" => "stop",
        _ => return None,
    })
}

/// Whether a name in camel case is one of a generation control.
pub(super) fn is_control(camel: &str) -> bool {
    control(camel).is_some()
}

/// `topP` as `top_p`.
pub(super) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// `top_p` as `topP`; a name that is not in snake case stays as it is.
pub(super) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    if camel.is_empty() {
        return name.to_owned();
    }
    for word in words {
        let mut letters = word.chars();
        let Some(first) = letters.next() else {
            return name.to_owned();
        };
        camel.extend(first.to_uppercase());
        camel.push_str(letters.as_str());
    }
    camel
}

fn camel_members(members: &Map<String, Value>) -> Value {
    let members = members.iter();
    let members = members.map(|(name, value)| (camel_case(name), value.clone()));
    Value::Object(members.collect())
}

/// Reads the controls; what does not fit was refused where it was written, or has no place here.
fn controls(source: &Map<String, Value>) -> GenerationControls {
    let float = |name| source.get(name).and_then(|value| number(value).ok());
    let whole = |name| source.get(name).and_then(|value| count(value).ok());
    GenerationControls {
        max_tokens: whole("maxTokens"),
        temperature: float("temperature"),
        top_p: float("topP"),
        top_k: whole("topK"),
        frequency_penalty: float("frequencyPenalty"),
        presence_penalty: float("presencePenalty"),
        seed: source
            .get("seed")
            .and_then(|seed| seed.as_i64().or_else(|| Some(seed.as_f64()? as i64))),
        stop: source.get("stop").and_then(|value| stop(value).ok()),
    }
}

/// One text or several.
fn stop(value: &Value) -> Decoded<Vec<String>> {
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(_) => elements(value, text),
        other => Err(wrong("a string or an array of strings", other)),
    }
}

/// Merges `over` into `base` as RFC 7396 does: objects member by member, null takes away, all else
/// replaces.
fn overlay(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    // In one pass: taking members out of an ordered map one by one moves all that follow each time.
    base.retain(|name, _| !over.get(name).is_some_and(Value::is_null));
    for (name, value) in over {
        match value {
            Value::Null => {}
            Value::Object(members) => {
                let slot = base.entry(name).or_insert(Value::Null);
                if !slot.is_object() {
                    *slot = Value::Object(Map::new());
                }
                if let Value::Object(slot) = slot {
                    overlay(slot, members);
                }
            }
            other => {
                base.insert(name.clone(), other.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn members(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other} is no object"),
        }
    }

    /// The domains of options, after laying `over` over `base`.
    fn sorted(base: Value, over: Value) -> (Value, Value, Value) {
        sorted_for(ProtocolId::OpenAiChat, base, over)
    }

    fn sorted_for(protocol: ProtocolId, base: Value, over: Value) -> (Value, Value, Value) {
        let mut options = Options::of(protocol, &members(base));
        options.overlay(&Options::of(protocol, &members(over)));
        (
            Value::Object(options.generation),
            Value::Object(options.provider),
            Value::Object(options.body),
        )
    }

    #[test]
    fn either_spelling_ends_in_the_same_domain() {
        let camel = json!({
            "temperature": 0.5, "topP": 0.9, "topK": 40, "maxTokens": 100, "frequencyPenalty": 0.1,
            "presencePenalty": 0.2, "seed": 7, "stopSequences": ["a"],
            "reasoningEffort": "high", "reasoningSummary": "auto", "textVerbosity": "low",
            "store": false, "include": ["x"], "promptCacheKey": "k", "serviceTier": "flex",
            "instructions": "i", "parallelToolCalls": false, "other_field": {"a": 1},
        });
        let snake = json!({
            "temperature": 0.5, "top_p": 0.9, "top_k": 40, "max_output_tokens": 100,
            "frequency_penalty": 0.1, "presence_penalty": 0.2, "seed": 7, "stop": ["a"],
            "reasoning_effort": "high", "reasoning_summary": "auto", "text": {"verbosity": "low"},
            "store": false, "include": ["x"], "prompt_cache_key": "k", "service_tier": "flex",
            "instructions": "i", "parallel_tool_calls": false, "other_field": {"a": 1},
        });
        let expected = (
            json!({
                "temperature": 0.5, "topP": 0.9, "topK": 40, "maxTokens": 100,
                "frequencyPenalty": 0.1, "presencePenalty": 0.2, "seed": 7, "stop": ["a"],
            }),
            json!({
                "reasoningEffort": "high", "reasoningSummary": "auto", "textVerbosity": "low",
                "store": false, "include": ["x"], "promptCacheKey": "k", "serviceTier": "flex",
                "instructions": "i", "parallelToolCalls": false,
            }),
            json!({"other_field": {"a": 1}}),
        );
        assert_eq!(sorted(camel, json!({})), expected);
        assert_eq!(sorted(snake, json!({})), expected);
    }

    #[test]
    fn each_protocol_has_options_of_its_own() {
        let camel = json!({
            "thinking": {"type": "enabled", "budgetTokens": 5}, "effort": "low", "taskBudget": 9,
            "metadata": {"userId": "u"}, "disableParallelToolUse": true, "toolStreaming": false,
            "cache": {"tools": true, "ttlSeconds": 3600}, "reasoningEffort": "high",
        });
        let snake = json!({
            "thinking": {"type": "enabled", "budget_tokens": 5},
            "output_config": {"effort": "low", "task_budget": 9},
            "metadata": {"user_id": "u"}, "disable_parallel_tool_use": true,
            "tool_streaming": false, "cache": {"tools": true, "ttl_seconds": 3600},
            "reasoningEffort": "high",
        });
        let mut options = camel.clone();
        let other = json!({"reasoningEffort": options["reasoningEffort"].take()});
        options
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        let expected = (json!({}), options, other);
        for given in [camel, snake] {
            let found = sorted_for(ProtocolId::AnthropicMessages, given, json!({}));
            assert_eq!(found, expected);
        }
        let over =
            json!({"thinking": {"type": "adaptive", "budget_tokens": null}, "output_config": null});
        let base = json!({"thinking": {"type": "enabled", "budgetTokens": 5}, "effort": "low"});
        assert_eq!(
            sorted_for(ProtocolId::AnthropicMessages, base, over),
            (
                json!({}),
                json!({"thinking": {"type": "adaptive"}}),
                json!({})
            )
        );
    }

    #[test]
    fn what_only_looks_like_an_option_stays_in_the_body() {
        let odd = json!({
            "_temperature": 1, "temperature_": 1, "top__p": 1, "Temperature": 1, "": 1,
            "reasoning": "on", "text": [1], "thinking": {"type": "enabled"},
        });
        assert_eq!(sorted(odd.clone(), json!({})), (json!({}), json!({}), odd));
        assert_eq!(
            sorted(
                json!({"reasoning": {"effort": "low", "max_tokens": 5}}),
                json!({})
            ),
            (
                json!({}),
                json!({"reasoningEffort": "low"}),
                json!({"reasoning": {"max_tokens": 5}})
            )
        );
    }

    #[test]
    fn an_overlay_merges_deeply_and_null_takes_away() {
        for (base, over, expected) in [
            (
                json!({"reasoning": {"effort": "low", "summary": "auto"}}),
                json!({"reasoningEffort": "high"}),
                (
                    json!({}),
                    json!({"reasoningEffort": "high", "reasoningSummary": "auto"}),
                    json!({}),
                ),
            ),
            (
                json!({"reasoning_effort": "low", "reasoning": {"enabled": true}}),
                json!({"reasoning": null}),
                (json!({}), json!({}), json!({})),
            ),
            (
                json!({"temperature": 1, "top_p": 0.5, "x": {"a": 1, "b": 2}, "y": 1}),
                json!({"temperature": null, "x": {"a": null, "c": {"d": null}}, "y": {"z": 1}}),
                (
                    json!({"topP": 0.5}),
                    json!({}),
                    json!({"x": {"b": 2, "c": {}}, "y": {"z": 1}}),
                ),
            ),
        ] {
            assert_eq!(sorted(base, over), expected);
        }
    }

    #[test]
    fn the_domains_of_a_request() {
        let given = members(json!({
            "maxTokens": 10.9, "temperature": 1, "top_k": 5, "seed": 3.0, "stop": "end",
            "store": null, "serviceTier": "flex", "field": null,
        }));
        let options = Options::of(ProtocolId::OpenAiChat, &given);
        let (generation, provider_options, body) = options.into_parts();
        assert_eq!(
            generation,
            GenerationControls {
                max_tokens: Some(10),
                temperature: Some(1.0),
                top_k: Some(5),
                seed: Some(3),
                stop: Some(vec!["end".into()]),
                ..GenerationControls::default()
            }
        );
        assert_eq!(
            Value::Object(provider_options),
            json!({"openai": {"serviceTier": "flex"}})
        );
        assert_eq!(Value::Object(body), json!({"field": null}));
    }

    #[test]
    fn controls_of_the_wrong_type_are_refused() {
        for (options, complaint) in [
            (
                json!({"temperature": "hot"}),
                "temperature must be a number, found a string",
            ),
            (
                json!({"max_tokens": []}),
                "max_tokens must be a number, found an array",
            ),
            (
                json!({"stop": [1]}),
                "stop[0] must be a string, found a number",
            ),
            (
                json!({"stopSequences": true}),
                "stopSequences must be a string or an array of strings, found a boolean",
            ),
        ] {
            assert_eq!(check(&members(options)).unwrap_err().to_string(), complaint);
        }
        let fine = json!({"temperature": null, "seed": 1.5, "reasoningEffort": 5, "stop": "x"});
        assert_eq!(check(&members(fine)), Ok(()));
    }

    #[test]
    fn wrong_time_limits_are_refused() {
        for name in LIMITS {
            for wrong in [json!("5"), json!(true), json!(0), json!(-1), json!(1.5)] {
                let complaint = check(&members(json!({ name: wrong }))).unwrap_err();
                let message = "must be false or a whole number of milliseconds above 0";
                assert_eq!(complaint.to_string(), format!("{name} {message}"));
            }
            for fine in [json!(null), json!(false), json!(1)] {
                assert_eq!(check(&members(json!({ name: fine }))), Ok(()));
            }
        }
    }
}
