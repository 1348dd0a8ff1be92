//! Settings that somebody else than a model has for a request, sorted like a model's own.

use opencode_llm::{GenerationControls, JsonMap, ProtocolId};

use crate::config::options::Options;

/// The three domains of the options of one request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestDomains {
    /// Generation controls.
    pub generation: GenerationControls,
    /// Provider options by namespace.
    pub provider_options: JsonMap,
    /// What goes into the body as it stands.
    pub body: JsonMap,
}

/// The members that somebody wants in the body of a request, for a model that is spoken to in this
/// protocol. They may be spelled as on the wire or as in configuration.
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
    fn settings_are_sorted_however_they_are_spelled() {
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
