//! The three domains of a request's options.
//!
//! Configuration mixes them in one object, in the spelling of the AI SDK or of the wire. A provider
//! adapter must know which is which: generation controls and provider options it encodes itself,
//! and only what neither of us knows goes into the body as it stands.

use opencode_llm::{GenerationControls, ProtocolId};
use serde_json::{Map, Value};

use crate::config::{Decoded, Invalid, count, elements, number, text, wrong};

/// Where a key may stand among a provider's options and settings.
pub(crate) const API_KEY: &str = "apiKey";

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
pub(crate) fn is_control(camel: &str) -> bool {
    control(camel).is_some()
}

/// `topP` as `top_p`.
pub(crate) fn snake_case(name: &str) -> String {
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
pub(crate) fn camel_case(name: &str) -> String {
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
mod tests;
