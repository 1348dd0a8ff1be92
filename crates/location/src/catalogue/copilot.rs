//! Models of GitHub Copilot. Its server speaks several protocols, and not every model is available in each.

use opencode_llm::ProtocolId;
use serde_json::Value;
use url::Url;

use super::COMPATIBLE_PACKAGE;
use super::versions::gpt_version;
use crate::model::{Api, ApiKind};

/// The package of GitHub Copilot.
pub(super) const COPILOT_PACKAGE: &str = "@ai-sdk/github-copilot";

/// The host of the server.
const HOST: &str = "api.githubcopilot.com";

/// The first version of GPT that is not available with Chat Completions.
const FIRST_WITH_RESPONSES: (u32, u32) = (5, 0);

/// A model that is available with Chat Completions although its version is not.
const CHAT_MODEL: &str = "gpt-5-mini";

/// Returns the API of a provider of the list of models. The list describes GitHub Copilot as a compatible server.
pub(super) fn listed_kind(package: Option<String>, address: Option<&str>) -> Option<ApiKind> {
    let host = || Some(Url::parse(address?).ok()?.host_str()? == HOST);
    let package = match package {
        Some(package) if package == COMPATIBLE_PACKAGE && host() == Some(true) => {
            COPILOT_PACKAGE.to_owned()
        }
        package => package?,
    };
    Some(ApiKind::Package(package))
}

/// Returns the protocol of a model, or `None` if it does not belong to GitHub Copilot.
pub(super) fn protocol(api: &Api, wire_id: &str) -> Option<ProtocolId> {
    if !matches!(&api.kind, ApiKind::Package(package) if package == COPILOT_PACKAGE) {
        return None;
    }
    let chat = api.settings.get("useCompletionUrls") == Some(&Value::Bool(true));
    Some(match !chat && needs_responses(wire_id) {
        true => ProtocolId::OpenAiResponses,
        false => ProtocolId::OpenAiChat,
    })
}

/// True if a model is not available with Chat Completions.
pub(super) fn needs_responses(wire_id: &str) -> bool {
    let is_new = gpt_version(wire_id).is_some_and(|version| version >= FIRST_WITH_RESPONSES);
    is_new && !wire_id.starts_with(CHAT_MODEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_models_of_openai_need_responses() {
        for id in [
            "gpt-5",
            "gpt-5.4",
            "gpt-5.3-codex",
            "gpt-5.4-mini",
            "gpt-6-sol",
            "gpt-10",
        ] {
            assert!(needs_responses(id), "{id}");
        }
        for id in [
            "gpt-4.1",
            "gpt-4o",
            "gpt-5-mini",
            "claude-sonnet-5",
            "gemini-3.5-flash",
            "o4-mini",
            "gpt-",
            "gpt-x",
        ] {
            assert!(!needs_responses(id), "{id}");
        }
    }

    #[test]
    fn only_the_server_of_copilot_gets_its_package() {
        let kind = |package: &str, address| match listed_kind(Some(package.to_owned()), address) {
            Some(ApiKind::Package(package)) => Some(package),
            _ => None,
        };
        let own = Some("https://api.githubcopilot.com");
        assert_eq!(
            kind(COMPATIBLE_PACKAGE, own).as_deref(),
            Some(COPILOT_PACKAGE)
        );
        for (package, address) in [
            (
                COMPATIBLE_PACKAGE,
                Some("https://api.githubcopilot.com.evil.test"),
            ),
            (COMPATIBLE_PACKAGE, Some("no address")),
            (COMPATIBLE_PACKAGE, None),
            ("@ai-sdk/openai", own),
        ] {
            assert_eq!(
                kind(package, address).as_deref(),
                Some(package),
                "{address:?}"
            );
        }
        assert_eq!(listed_kind(None, own), None);
    }
}
