//! Sorts the options of a request into three domains.
//!
//! The configuration mixes them in one object, in the spelling of the AI SDK or of the wire. A provider
//! adapter must distinguish them: it encodes generation controls and provider options itself. Only
//! options that neither this module nor the adapter knows go into the body unchanged.

use opencode_llm::model::PROGRAM_OPTIONS;
use opencode_llm::{GenerationControls, ProtocolId};
use serde_json::{Map, Value};

use crate::config::{Decoded, Invalid, count, elements, number, text, wrong};

/// Names of the key among the options and settings of a provider.
pub(crate) const API_KEY: &str = "apiKey";

/// Name of the address among the options of a provider.
pub(crate) const BASE_URL: &str = "baseURL";

/// The names of the provider options that are time limits.
const LIMITS: [&str; 3] = ["headerTimeout", "chunkTimeout", "timeout"];

/// Options by domain. Known options have their canonical camelCase name.
#[derive(Clone, PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct Options {
    words: &'static ProtocolOptions,
    generation: Map<String, Value>,
    provider: Map<String, Value>,
    body: Map<String, Value>,
}

/// The options that the adapters of a protocol know in addition to the generation controls.
#[derive(PartialEq)]
#[cfg_attr(test, derive(Debug))]
struct ProtocolOptions {
    /// The namespace in which the adapters look for their options.
    namespace: &'static str,
    options: &'static [&'static str],
    /// Wire objects whose members are options, with the option name for each member.
    groups: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    /// Options that are objects. Their members may use either spelling.
    objects: &'static [&'static str],
    /// True if all other members are options too, in the spelling of the caller.
    takes_all: bool,
}

static OPENAI: ProtocolOptions = ProtocolOptions {
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
    takes_all: false,
};

static ANTHROPIC: ProtocolOptions = ProtocolOptions {
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
    takes_all: false,
};

static GOOGLE: ProtocolOptions = ProtocolOptions {
    namespace: "google",
    options: &[
        "thinkingConfig",
        "responseModalities",
        "mediaResolution",
        "imageConfig",
        "generationConfig",
        "safetySettings",
        "cachedContent",
        "labels",
    ],
    groups: &[(
        "generationConfig",
        &[
            ("thinkingConfig", "thinkingConfig"),
            ("responseModalities", "responseModalities"),
            ("mediaResolution", "mediaResolution"),
            ("imageConfig", "imageConfig"),
        ],
    )],
    objects: &[],
    takes_all: false,
};

static BEDROCK: ProtocolOptions = ProtocolOptions {
    namespace: "bedrock",
    options: &[
        "reasoningConfig",
        "additionalModelRequestFields",
        "guardrailConfig",
        "performanceConfig",
        "serviceTier",
        "requestMetadata",
        "cache",
    ],
    groups: &[(
        "additionalModelRequestFields",
        &[
            ("reasoningConfig", "reasoningConfig"),
            ("guardrailConfig", "guardrailConfig"),
            ("performanceConfig", "performanceConfig"),
            ("serviceTier", "serviceTier"),
            ("requestMetadata", "requestMetadata"),
            ("cache", "cache"),
        ],
    )],
    objects: &[],
    takes_all: false,
};

/// The program interprets the options of its models.
static PROGRAM: ProtocolOptions = ProtocolOptions {
    namespace: PROGRAM_OPTIONS,
    options: &[],
    groups: &[],
    objects: &[],
    takes_all: true,
};

impl ProtocolOptions {
    fn of(protocol: ProtocolId) -> &'static Self {
        match protocol {
            ProtocolId::OpenAiChat | ProtocolId::OpenAiResponses => &OPENAI,
            ProtocolId::AnthropicMessages => &ANTHROPIC,
            ProtocolId::Gemini => &GOOGLE,
            ProtocolId::BedrockConverse => &BEDROCK,
            ProtocolId::Program(_) => &PROGRAM,
        }
    }
}

impl Options {
    /// Sorts the options of a model with this protocol.
    pub(crate) fn of(protocol: ProtocolId, options: &Map<String, Value>) -> Self {
        let mut sorted = Self {
            words: ProtocolOptions::of(protocol),
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
        } else if let Some((_, members)) =
            self.words.groups.iter().find(|(group, _)| *group == name)
        {
            self.sort_group(name, members, value);
        } else if self.words.options.contains(&camel.as_str()) {
            let value = match value {
                Value::Object(members) if self.words.objects.contains(&camel.as_str()) => {
                    camel_members(members)
                }
                other => other.clone(),
            };
            self.provider.insert(camel, value);
        } else {
            self.body.insert(name.to_owned(), value.clone());
        }
    }

    /// Moves the known members out of an object of options. If the object is null, all its known members become null.
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
        if exhausted {
            return;
        }
        // The adapter encodes the rest of an object that is an option itself.
        let domain = match self.words.options.contains(&name) {
            true => &mut self.provider,
            false => &mut self.body,
        };
        domain.insert(name.to_owned(), rest);
    }

    /// Merges other options into these, member by member. Null removes a member.
    pub(crate) fn overlay(&mut self, over: &Self) {
        overlay(&mut self.generation, &over.generation);
        overlay(&mut self.provider, &over.provider);
        overlay(&mut self.body, &over.body);
    }

    /// Adds the options that these do not have. An option that is null stays unset.
    pub(crate) fn fill(&mut self, defaults: &Self) {
        let domains = [
            (&mut self.generation, &defaults.generation),
            (&mut self.provider, &defaults.provider),
            (&mut self.body, &defaults.body),
        ];
        for (own, defaults) in domains {
            for (name, value) in defaults {
                own.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }

    /// Removes a member from the body.
    pub(crate) fn take_body(&mut self, name: &str) -> Option<Value> {
        self.body.shift_remove(name)
    }

    /// Returns the three domains as a model request needs them: generation controls, provider options
    /// by namespace, body.
    pub(crate) fn into_parts(self) -> (GenerationControls, Map<String, Value>, Map<String, Value>) {
        let controls = controls(&self.generation);
        let (mut provider, mut body) = (self.provider, self.body);
        if self.words.takes_all {
            provider.append(&mut body);
        }
        provider.retain(|_, value| !value.is_null());
        let mut options = Map::new();
        if !provider.is_empty() {
            let namespace = self.words.namespace.to_owned();
            options.insert(namespace, Value::Object(provider));
        }
        (controls, options, body)
    }
}

/// Fails if a generation control has a value of the wrong type or if a time limit is invalid.
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

/// Fails if a time limit is neither `false` nor a positive number of milliseconds.
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

/// Returns the canonical generation control for a name. Several names map to one control.
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

/// True if a camelCase name is a generation control.
pub(crate) fn is_control(camel: &str) -> bool {
    control(camel).is_some()
}

/// Converts `topP` to `top_p`.
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

/// Converts `top_p` to `topP`. Returns a name that is not in snake case unchanged.
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

/// Reads the controls. Skips values of the wrong type, which [`check`] rejects in configuration.
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

/// Reads one text or a list of texts.
fn stop(value: &Value) -> Decoded<Vec<String>> {
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(_) => elements(value, text),
        other => Err(wrong("a string or an array of strings", other)),
    }
}

/// Merges `over` into `base` according to RFC 7396: objects member by member, null removes, every other value replaces.
fn overlay(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    // Removes all members in one pass: each single removal from an ordered map moves all members after it.
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
