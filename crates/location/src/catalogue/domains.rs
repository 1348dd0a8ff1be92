//! Request settings from a source other than a model, sorted like the settings of a model.

use opencode_llm::{GenerationControls, JsonMap, ProtocolId};

use crate::config::options::Options;

/// The options of one request in three domains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestDomains {
    /// Generation controls.
    pub generation: GenerationControls,
    /// Provider options by namespace.
    pub provider_options: JsonMap,
    /// Members that go into the body unchanged.
    pub body: JsonMap,
}

/// Sorts the requested members of a request body for a model with this protocol. The members may use
/// the spelling of the wire or of the configuration.
#[must_use]
pub fn request_domains(body: &JsonMap, protocol: ProtocolId) -> RequestDomains {
    let (generation, provider_options, body) = Options::of(protocol, body).into_parts();
    RequestDomains {
        generation,
        provider_options,
        body,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_of_any_spelling_are_sorted_into_domains() {
        let body = json!({
            "temperature": 0.5, "max_tokens": 7, "reasoning": {"effort": "low"},
            "serviceTier": "flex", "custom": {"a": 1},
        });
        let domains = request_domains(body.as_object().unwrap(), ProtocolId::OpenAiChat);
        let expected = RequestDomains {
            generation: GenerationControls {
                temperature: Some(0.5),
                max_tokens: Some(7),
                ..GenerationControls::default()
            },
            provider_options: json!({"openai": {"reasoningEffort": "low", "serviceTier": "flex"}})
                .as_object()
                .unwrap()
                .clone(),
            body: json!({"custom": {"a": 1}}).as_object().unwrap().clone(),
        };
        assert_eq!(domains, expected);
    }
}
