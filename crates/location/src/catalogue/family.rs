//! Translates the options of a package from its own spelling to the spelling of the wire.
//!
//! The older generation of the format uses the option names of the AI SDK. The package determines which
//! options are credentials and how the others are spelled on the wire. The package may be named in a
//! different document than the options, so this is decided while documents are merged.

use serde_json::{Map, Value};

use super::COMPATIBLE_PACKAGE;
use super::copilot::COPILOT_PACKAGE;
use crate::config::options::{camel_case, is_control, snake_case};
use crate::model::ApiKind;
use crate::secret::{Headers, Members};

/// Packages that spell their options in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    OpenAi,
    Azure,
    Xai,
    Anthropic,
    Google,
    Bedrock,
    OpenRouter,
    Copilot,
    Groq,
    Mistral,
    /// Servers with OpenAI's Chat Completions protocol.
    Compatible,
    /// A known package without known option names.
    Other,
    /// A package that this crate does not know.
    Unknown,
}

impl Family {
    /// The family of an API. A provider without a package is a compatible server.
    pub(super) fn of(kind: Option<&ApiKind>) -> Self {
        let package = match kind {
            // The program interprets all options itself.
            Some(ApiKind::Program(_)) => return Self::Unknown,
            Some(ApiKind::Package(package)) => package.as_str(),
            Some(ApiKind::Native) | None => COMPATIBLE_PACKAGE,
        };
        match package {
            "@ai-sdk/openai" | "@ai-sdk/amazon-bedrock/mantle" => Self::OpenAi,
            "@ai-sdk/azure" => Self::Azure,
            "@ai-sdk/xai" => Self::Xai,
            "@ai-sdk/anthropic" | "@ai-sdk/google-vertex/anthropic" => Self::Anthropic,
            "@ai-sdk/google" | "@ai-sdk/google-vertex" => Self::Google,
            "@ai-sdk/amazon-bedrock" => Self::Bedrock,
            "@openrouter/ai-sdk-provider" => Self::OpenRouter,
            COPILOT_PACKAGE => Self::Copilot,
            "@ai-sdk/groq" => Self::Groq,
            "@ai-sdk/mistral" => Self::Mistral,
            "@ai-sdk/cerebras"
            | "@ai-sdk/togetherai"
            | "@ai-sdk/deepinfra"
            | "venice-ai-sdk-provider" => Self::Compatible,
            package if package == COMPATIBLE_PACKAGE => Self::Compatible,
            "@ai-sdk/perplexity"
            | "@ai-sdk/deepseek"
            | "@ai-sdk/alibaba"
            | "@ai-sdk/vercel"
            | "@ai-sdk/cohere"
            | "ai-gateway-provider" => Self::Other,
            _ => Self::Unknown,
        }
    }

    /// Separates the options of a provider into headers, settings and body.
    pub(super) fn split(self, options: &Members) -> Split {
        let mut split = Split::default();
        if self == Self::Unknown {
            split.body = options.clone();
            return split;
        }
        for (name, value) in options.iter() {
            match (self.header(name), value.as_str()) {
                // An empty key, for example from an unset variable, counts as absent.
                (Some(_), Some("")) => {}
                (Some((header, prefix)), Some(text)) => {
                    split.headers.set(header, &format!("{prefix}{text}"));
                }
                _ => {
                    split.settings.insert(name.clone(), value.clone());
                }
            }
        }
        split
    }

    /// The header that carries an option, and the prefix of its value.
    fn header(self, option: &str) -> Option<(&'static str, &'static str)> {
        Some(match (self, option) {
            (Self::OpenAi, "apiKey") => ("Authorization", "Bearer "),
            (Self::OpenAi, "organization") => ("OpenAI-Organization", ""),
            (Self::OpenAi, "project") => ("OpenAI-Project", ""),
            (Self::Anthropic, "apiKey") => ("x-api-key", ""),
            (Self::Anthropic, "authToken") => ("Authorization", "Bearer "),
            (Self::Google, "apiKey") => ("x-goog-api-key", ""),
            (Self::Azure, "apiKey") => ("api-key", ""),
            _ => return None,
        })
    }

    /// The options of a model in the spelling of the request body.
    pub(super) fn respell(self, options: &Members) -> Members {
        let mut body = Map::new();
        for (name, value) in options.iter() {
            self.put(&mut body, name, value);
        }
        Members(body)
    }

    fn put(self, body: &mut Map<String, Value>, name: &str, value: &Value) {
        let path: &[&str] = match (self, camel_case(name).as_str()) {
            (Self::OpenAi | Self::Azure | Self::Xai | Self::Copilot, camel) => match camel {
                "reasoningEffort" => &["reasoning", "effort"],
                "reasoningSummary" => &["reasoning", "summary"],
                "textVerbosity" => &["text", "verbosity"],
                _ => return insert(body, &[&snake_case(name)], value.clone()),
            },
            (Self::Anthropic, camel) => match camel {
                "effort" => &["output_config", "effort"],
                "taskBudget" => &["output_config", "task_budget"],
                _ => return insert(body, &[&snake_case(name)], snake_members(value)),
            },
            (
                Self::Google,
                camel @ ("thinkingConfig" | "responseModalities" | "mediaResolution"
                | "imageConfig"),
            ) => return insert(body, &["generationConfig", camel], value.clone()),
            (Self::Bedrock, camel) if !is_control(camel) => &["additionalModelRequestFields", name],
            (Self::Compatible | Self::Groq | Self::Mistral, "reasoningEffort") => {
                &["reasoning_effort"]
            }
            _ => &[name],
        };
        insert(body, path, value.clone());
    }
}

/// Wire objects that group several options. Each of these options has its own name outside the wire.
const GROUPS: [&str; 5] = [
    "reasoning",
    "text",
    "output_config",
    "generationConfig",
    "additionalModelRequestFields",
];

/// True if a member of a body groups options.
pub(super) fn is_group(name: &str) -> bool {
    GROUPS.contains(&name)
}

/// The options of a provider, separated.
#[derive(Default)]
pub(super) struct Split {
    /// Options that are sent as headers.
    pub headers: Headers,
    /// Options that configure the implementation.
    pub settings: Members,
    /// Options that go into the body of requests.
    pub body: Members,
}

/// Inserts a value at the end of a path of objects.
fn insert(body: &mut Map<String, Value>, path: &[&str], value: Value) {
    let Some((last, groups)) = path.split_last() else {
        return;
    };
    let mut place = body;
    for group in groups {
        let slot = place.entry(*group).or_insert(Value::Null);
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        let Value::Object(members) = slot else { return };
        place = members;
    }
    match (place.get_mut(*last), value) {
        // An object of the wire may be given beside options that belong to it.
        (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
        (_, value) => {
            place.insert((*last).to_owned(), value);
        }
    }
}

/// The value with the names of its direct members in snake case.
fn snake_members(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            Value::from_iter(members.map(|(name, value)| (snake_case(name), value.clone())))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn members(value: Value) -> Members {
        let Value::Object(members) = value else {
            panic!("{value} is no object");
        };
        Members(members)
    }

    fn family(package: &str) -> Family {
        Family::of(Some(&ApiKind::Package(package.to_owned())))
    }

    #[test]
    fn a_providers_options_are_headers_settings_or_body() {
        let options = || {
            members(json!({
                "apiKey": "k", "authToken": "t", "organization": "o", "project": "p", "timeout": 5,
            }))
        };
        let split = |package: &str| {
            let split = family(package).split(&options());
            let headers = split.headers.iter();
            let headers = headers.map(|(name, value)| format!("{name}: {value}"));
            (
                headers.collect::<Vec<_>>(),
                Value::Object(split.settings.0),
                split.body.0.len(),
            )
        };
        let rest = json!({"authToken": "t", "organization": "o", "project": "p", "timeout": 5});
        for (package, headers, settings) in [
            (
                "@ai-sdk/openai",
                vec![
                    "Authorization: Bearer k",
                    "OpenAI-Organization: o",
                    "OpenAI-Project: p",
                ],
                json!({"authToken": "t", "timeout": 5}),
            ),
            (
                "@ai-sdk/anthropic",
                vec!["x-api-key: k", "Authorization: Bearer t"],
                json!({"organization": "o", "project": "p", "timeout": 5}),
            ),
            ("@ai-sdk/google", vec!["x-goog-api-key: k"], rest.clone()),
            (
                "@ai-sdk/google-vertex",
                vec!["x-goog-api-key: k"],
                rest.clone(),
            ),
            ("@ai-sdk/azure", vec!["api-key: k"], rest),
            (COMPATIBLE_PACKAGE, vec![], Value::Object(options().0)),
            ("@ai-sdk/groq", vec![], Value::Object(options().0)),
            (
                "@openrouter/ai-sdk-provider",
                vec![],
                Value::Object(options().0),
            ),
        ] {
            let headers = headers.into_iter().map(str::to_owned).collect();
            assert_eq!(split(package), (headers, settings, 0), "{package}");
        }
        assert_eq!(split("somebodys-package"), (vec![], json!({}), 5));
    }

    #[test]
    fn an_empty_api_key_sends_no_header() {
        let split = family("@ai-sdk/openai").split(&members(json!({"apiKey": "", "project": 1})));
        assert_eq!(split.headers.iter().count(), 0);
        assert_eq!(Value::Object(split.settings.0), json!({"project": 1}));
    }

    #[test]
    fn options_of_a_model_are_written_in_the_spelling_of_the_protocol() {
        for (package, options, expected) in [
            (
                "@ai-sdk/openai",
                json!({
                    "reasoningEffort": "low", "reasoningSummary": "auto", "textVerbosity": "high",
                    "serviceTier": "flex", "store": false, "max_output_tokens": 5,
                }),
                json!({
                    "reasoning": {"effort": "low", "summary": "auto"}, "text": {"verbosity": "high"},
                    "service_tier": "flex", "store": false, "max_output_tokens": 5,
                }),
            ),
            (
                "@ai-sdk/anthropic",
                json!({
                    "effort": "low", "taskBudget": 5, "metadata": {"userId": "u"},
                    "thinking": {"type": "enabled", "budgetTokens": 7}, "disableParallelToolUse": true,
                }),
                json!({
                    "output_config": {"effort": "low", "task_budget": 5},
                    "metadata": {"user_id": "u"},
                    "thinking": {"type": "enabled", "budget_tokens": 7},
                    "disable_parallel_tool_use": true,
                }),
            ),
            (
                "@ai-sdk/google",
                json!({
                    "thinkingConfig": {"thinkingBudget": 5}, "responseModalities": ["TEXT"],
                    "mediaResolution": "LOW", "imageConfig": {"a": 1}, "safetySettings": [],
                }),
                json!({
                    "generationConfig": {
                        "thinkingConfig": {"thinkingBudget": 5}, "responseModalities": ["TEXT"],
                        "mediaResolution": "LOW", "imageConfig": {"a": 1},
                    },
                    "safetySettings": [],
                }),
            ),
            (
                "@ai-sdk/amazon-bedrock",
                json!({"reasoningConfig": {"type": "enabled"}, "temperature": 1}),
                json!({
                    "additionalModelRequestFields": {"reasoningConfig": {"type": "enabled"}},
                    "temperature": 1,
                }),
            ),
            (
                COMPATIBLE_PACKAGE,
                json!({"reasoningEffort": "low", "someField": 1}),
                json!({"reasoning_effort": "low", "someField": 1}),
            ),
            (
                "somebodys-package",
                json!({"reasoningEffort": "low"}),
                json!({"reasoningEffort": "low"}),
            ),
        ] {
            let body = family(package).respell(&members(options));
            assert_eq!(Value::Object(body.0), expected, "{package}");
        }
    }

    #[test]
    fn a_name_that_conflicts_with_a_group_is_replaced() {
        let options = members(json!({"reasoning": 5, "reasoningEffort": "low"}));
        let body = family("@ai-sdk/openai").respell(&options);
        assert_eq!(
            Value::Object(body.0),
            json!({"reasoning": {"effort": "low"}})
        );
    }
}
