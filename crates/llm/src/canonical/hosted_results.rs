//! The results of calls that a provider ran itself, in later requests of the same model.
//!
//! | protocol | results | a later request may replace them with text |
//! |---|---|---|
//! | Chat Completions | sources only | there are none |
//! | Responses | items of the answer | unless the answer has reasoning: each reasoning item needs the item after it |
//! | Anthropic Messages | `server_tool_use` with its result block | both together |
//! | Gemini | `executableCode` with `codeExecutionResult` | both together |
//! | Bedrock Converse | none | there are none |
//! | a model of the program | those of its events | never, because only the program knows its rules |

use super::model::ProtocolId;

/// The treatment of calls that the provider ran, and of their results, in later requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostedResults {
    /// They repeat every call with its exact result.
    Repeat,
    /// They may replace the calls of an answer without reasoning, together with their results.
    ReplaceWithoutReasoning,
    /// They may replace the calls of an answer, together with their results.
    Replace,
}

impl HostedResults {
    /// Returns the rule of a protocol.
    #[must_use]
    pub const fn of(protocol: ProtocolId) -> Self {
        match protocol {
            ProtocolId::AnthropicMessages | ProtocolId::Gemini => Self::Replace,
            ProtocolId::OpenAiResponses => Self::ReplaceWithoutReasoning,
            ProtocolId::OpenAiChat | ProtocolId::BedrockConverse | ProtocolId::Program(_) => {
                Self::Repeat
            }
        }
    }

    /// True if the calls of an answer may be replaced.
    #[must_use]
    pub const fn may_replace(self, has_reasoning: bool) -> bool {
        match self {
            Self::Repeat => false,
            Self::ReplaceWithoutReasoning => !has_reasoning,
            Self::Replace => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_has_the_rule_of_its_api() {
        for (protocol, with_reasoning, without) in [
            (ProtocolId::OpenAiChat, false, false),
            (ProtocolId::OpenAiResponses, false, true),
            (ProtocolId::AnthropicMessages, true, true),
            (ProtocolId::Gemini, true, true),
            (ProtocolId::BedrockConverse, false, false),
            (ProtocolId::Program(1), false, false),
        ] {
            let rule = HostedResults::of(protocol);
            let found = [true, false].map(|it| rule.may_replace(it));
            assert_eq!(found, [with_reasoning, without], "{protocol:?}");
        }
    }
}
