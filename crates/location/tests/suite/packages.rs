//! Tests which protocol, address and credential a package stands for.

use opencode_llm::{Auth, CompatibleServer, Endpoint, ProtocolId};
use opencode_location::catalogue::Catalogue;
use opencode_secrets::Secret;
use serde_json::json;

use crate::documents::{catalogue, select};
use crate::machine::Machine;

#[test]
fn packages_stand_for_a_protocol_an_address_and_the_place_of_the_key() {
    let header = |name: &str| Auth::Header {
        name: name.into(),
        secret: Secret::new("k"),
    };
    let bearer = || Auth::Bearer(Secret::new("k"));
    let google = "https://generativelanguage.googleapis.com/v1beta";
    let azure = "https://mine.openai.azure.com/openai/v1";
    for (package, settings, protocol, base_url, query, auth) in [
        (
            "@ai-sdk/google",
            json!({"apiKey": "k"}),
            ProtocolId::Gemini,
            google,
            None,
            header("x-goog-api-key"),
        ),
        (
            "@ai-sdk/azure",
            json!({"apiKey": "k", "resourceName": "mine"}),
            ProtocolId::OpenAiResponses,
            azure,
            Some("v1"),
            header("api-key"),
        ),
        (
            "@ai-sdk/azure",
            json!({"apiKey": "k", "resourceName": "mine", "useCompletionUrls": true, "apiVersion": "2026-01-01"}),
            ProtocolId::OpenAiChat,
            azure,
            Some("2026-01-01"),
            header("api-key"),
        ),
        (
            "@ai-sdk/xai",
            json!({"apiKey": "k"}),
            ProtocolId::OpenAiResponses,
            "https://api.x.ai/v1",
            None,
            bearer(),
        ),
        (
            "@ai-sdk/mistral",
            json!({"apiKey": "k"}),
            ProtocolId::OpenAiChat,
            "https://api.mistral.ai/v1",
            None,
            bearer(),
        ),
    ] {
        let api = json!({"package": package, "settings": settings});
        let catalogue = catalogue(json!({"providers": {"p": {"api": api, "models": {"m": {}}}}}));
        let resolved = catalogue.resolve(Some(&select("p", "m", None))).unwrap();
        let model = &resolved.model;
        let query: Vec<_> = query
            .map(|version: &str| ("api-version".to_owned(), version.to_owned()))
            .into_iter()
            .collect();
        let endpoint = Endpoint {
            base_url: base_url.into(),
            query,
        };
        assert_eq!(
            (model.protocol, &model.auth),
            (protocol, &auth),
            "{package}"
        );
        assert_eq!(model.endpoint, endpoint, "{package}");
    }
}

#[test]
fn bedrock_has_an_address_a_profile_of_models_and_signatures() {
    let api = |settings: serde_json::Value| json!({"package": "@ai-sdk/amazon-bedrock", "settings": settings});
    let resolved = |settings: serde_json::Value| {
        let models = json!({"anthropic.claude-x": {}});
        let catalogue =
            catalogue(json!({"providers": {"p": {"api": api(settings), "models": models}}}));
        let model = catalogue.resolve(Some(&select("p", "anthropic.claude-x", None)));
        model.unwrap().model
    };
    let keys = json!({"region": "eu-west-1", "accessKeyId": "AK", "secretAccessKey": "SK"});
    let model = resolved(keys);
    assert_eq!(model.protocol, ProtocolId::BedrockConverse);
    assert_eq!(model.id, "eu.anthropic.claude-x");
    assert_eq!(
        model.endpoint.base_url,
        "https://bedrock-runtime.eu-west-1.amazonaws.com"
    );
    assert!(matches!(model.auth, Auth::Service(_)));
    let model = resolved(json!({"apiKey": "token", "accessKeyId": "AK", "secretAccessKey": "SK"}));
    assert_eq!(model.auth, Auth::Bearer(Secret::new("token")));
    assert_eq!(model.id, "us.anthropic.claude-x");
}

#[test]
fn the_access_keys_of_a_document_make_bedrock_available() {
    let with = |options: serde_json::Value| {
        catalogue(json!({"provider": {"p": {
            "npm": "@ai-sdk/amazon-bedrock", "options": options, "models": {"m": {}},
            "env": ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"],
        }}}))
    };
    let keys = with(json!({"accessKeyId": "AK", "secretAccessKey": "SK"}));
    let model = keys.resolve(Some(&select("p", "m", None))).unwrap().model;
    assert!(matches!(model.auth, Auth::Service(_)));
    let incomplete = with(json!({"accessKeyId": "AK"}));
    let error = incomplete.resolve(Some(&select("p", "m", None)));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("AWS_ACCESS_KEY_ID"), "{error}");
    // Without keys, the credentials of the machine are searched when a request is sent.
    for options in [json!({"region": "eu-west-1"}), json!({"profile": "work"})] {
        let machine = with(options);
        let model = machine.resolve(Some(&select("p", "m", None)));
        assert!(matches!(model.unwrap().model.auth, Auth::Service(_)));
    }
}

/// Returns the ids of the providers that can be used with these variables alone.
async fn providers(variables: &[(&str, &str)]) -> Vec<String> {
    let mut machine = Machine::new();
    let directory = machine.directory("a");
    for (name, value) in variables {
        machine.set(name, value);
    }
    let location = machine.locations(None).get(&directory).await.unwrap();
    let providers = location.catalogue.providers().into_iter();
    providers.map(|it| it.id).collect()
}

#[tokio::test]
async fn variables_of_a_cloud_platform_make_its_models_available() {
    let none: [&str; 0] = [];
    assert_eq!(providers(&[("AWS_REGION", "eu-west-1")]).await, none);
    let half = [("AWS_ACCESS_KEY_ID", "AK")];
    assert_eq!(providers(&half).await, none);
    let profile = [("AWS_PROFILE", "work")];
    assert_eq!(providers(&profile).await, ["amazon-bedrock"]);
    let container = [("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/keys")];
    assert_eq!(providers(&container).await, ["amazon-bedrock"]);
    let vertex = ["google-vertex-anthropic", "google-vertex"];
    assert_eq!(providers(&[("GOOGLE_VERTEX_PROJECT", "p")]).await, vertex);
    // Credentials without a project have no address.
    let alone = [("GOOGLE_APPLICATION_CREDENTIALS", "/account.json")];
    assert_eq!(providers(&alone).await, none);
}

#[test]
fn vertex_has_addresses_of_a_project_and_two_protocols() {
    let resolved = |package: &str, settings: serde_json::Value| {
        let api = json!({"package": package, "settings": settings});
        let catalogue = catalogue(json!({"providers": {"p": {"api": api, "models": {"m": {}}}}}));
        let model = catalogue.resolve(Some(&select("p", "m", None)));
        model.unwrap().model
    };
    let settings = || json!({"project": "p", "location": "europe-west1"});
    let gemini = resolved("@ai-sdk/google-vertex", settings());
    assert_eq!(gemini.protocol, ProtocolId::Gemini);
    assert_eq!(
        gemini.endpoint.base_url,
        "https://europe-west1-aiplatform.googleapis.com/v1beta1/projects/p/locations/europe-west1/publishers/google"
    );
    assert!(matches!(gemini.auth, Auth::Service(_)));
    let claude = resolved("@ai-sdk/google-vertex/anthropic", settings());
    assert_eq!(claude.protocol, ProtocolId::AnthropicMessages);
    let version = claude.compatibility.version_in_body;
    assert_eq!(version, Some("vertex-2023-10-16"));
    assert!(matches!(claude.auth, Auth::Service(_)));
    let express = resolved("@ai-sdk/google-vertex", json!({"apiKey": "k"}));
    let url = "https://aiplatform.googleapis.com/v1/publishers/google";
    assert_eq!(express.endpoint.base_url, url);
    assert!(matches!(express.auth, Auth::Header { .. }));
}

#[test]
fn a_server_that_extends_its_protocol_is_known_by_its_package_or_address() {
    let server = |package: &str, url: &str| {
        let options = json!({"apiKey": "k", "baseURL": url});
        let provider = json!({"npm": package, "options": options, "models": {"m": {}}});
        let catalogue = catalogue(json!({"provider": {"p": provider}}));
        let model = catalogue.resolve(Some(&select("p", "m", None)));
        model.unwrap().model.compatibility.compatible_server
    };
    let compatible = "@ai-sdk/openai-compatible";
    let (router, copilot) = (CompatibleServer::OpenRouter, CompatibleServer::Copilot);
    let own = "http://localhost:1/v1";
    for (package, url, expected) in [
        ("@openrouter/ai-sdk-provider", own, Some(router)),
        ("@ai-sdk/github-copilot", own, Some(copilot)),
        (compatible, "https://openrouter.ai/api/v1", Some(router)),
        (compatible, "https://api.githubcopilot.com", Some(copilot)),
        (compatible, "https://openrouter.ai.evil.example/v1", None),
        (compatible, own, None),
    ] {
        assert_eq!(server(package, url), expected, "{package} {url}");
    }
}

#[tokio::test]
async fn the_access_keys_of_the_environment_are_secrets() {
    let mut machine = Machine::new();
    let directory = machine.directory("a");
    machine.set("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    machine.set("AWS_SECRET_ACCESS_KEY", "secret-of-the-access-key");
    machine.set("AWS_SESSION_TOKEN", "token-of-the-session");
    let locations = machine.locations(None);
    let location = locations.get(&directory).await.unwrap();
    let text = location
        .secrets
        .text("secret-of-the-access-key token-of-the-session");
    assert_eq!(text, "<redacted> <redacted>");
}

#[test]
fn options_of_gemini_are_sorted_in_both_spellings() {
    let options = json!({
        "thinkingConfig": {"thinkingBudget": 1}, "safetySettings": [], "temperature": 0.5, "own": 1,
        "generationConfig": {"imageConfig": {"a": 1}, "candidateCount": 2},
    });
    let catalogue = catalogue(json!({"provider": {"p": {
        "npm": "@ai-sdk/google", "options": {"apiKey": "k"}, "models": {"m": {"options": options}},
    }}}));
    let model = catalogue
        .resolve(Some(&select("p", "m", None)))
        .unwrap()
        .model;
    assert_eq!(
        serde_json::Value::Object(model.provider_options.clone()),
        json!({"google": {
            "thinkingConfig": {"thinkingBudget": 1}, "imageConfig": {"a": 1},
            "generationConfig": {"candidateCount": 2}, "safetySettings": [],
        }})
    );
    assert_eq!(model.generation.temperature, Some(0.5));
    assert_eq!(
        serde_json::Value::Object(model.body.clone()),
        json!({"own": 1})
    );
}

#[test]
fn packages_decide_the_protocol_the_address_and_the_credential() {
    let header = |name: &str| Auth::Header {
        name: name.to_owned(),
        secret: Secret::new("k"),
    };
    let keyed =
        |package: &str| json!({"npm": package, "options": {"apiKey": "k"}, "models": {"m": {}}});
    let from_environment = |id: &str| json!({id: {"models": {"m": {}}}});
    let anthropic = "https://api.anthropic.com/v1";
    let openai = "https://api.openai.com/v1";
    let rows = [
        (
            json!({"p": keyed("@ai-sdk/anthropic")}),
            (
                ProtocolId::AnthropicMessages,
                anthropic,
                header("x-api-key"),
            ),
        ),
        (
            json!({"p": {"npm": "@ai-sdk/anthropic", "options": {"authToken": "k", "baseURL": "http://h/v1"}, "models": {"m": {}}}}),
            (
                ProtocolId::AnthropicMessages,
                "http://h/v1",
                Auth::Header {
                    name: "authorization".to_owned(),
                    secret: Secret::new("Bearer k"),
                },
            ),
        ),
        (
            from_environment("anthropic"),
            (
                ProtocolId::AnthropicMessages,
                anthropic,
                header("x-api-key"),
            ),
        ),
        (
            json!({"p": keyed("@ai-sdk/openai")}),
            (
                ProtocolId::OpenAiResponses,
                openai,
                Auth::Header {
                    name: "authorization".to_owned(),
                    secret: Secret::new("Bearer k"),
                },
            ),
        ),
        (
            from_environment("openai"),
            (
                ProtocolId::OpenAiResponses,
                openai,
                Auth::Bearer(Secret::new("k")),
            ),
        ),
    ];
    for (providers, expected) in rows {
        let mut machine = Machine::new();
        machine.set("ANTHROPIC_API_KEY", "k");
        machine.set("OPENAI_API_KEY", "k");
        machine.write(
            "project/opencode.json",
            json!({"provider": providers}).to_string(),
        );
        let configuration = machine.configuration("project", "project", None);
        let catalogue = Catalogue::build(&configuration, &machine.environment).0;
        let model = catalogue.resolve(None).unwrap().model;
        let base = model.endpoint.base_url.as_str();
        assert_eq!((model.protocol, base, model.auth.clone()), expected);
        assert_eq!(model.headers, []);
    }
}

/// The generation controls and the options of a model with this id.
fn settings(package: &str, id: &str, model: serde_json::Value) -> (Option<f64>, serde_json::Value) {
    let options = json!({"apiKey": "k", "baseURL": "http://localhost:1/v1"});
    let provider = json!({"npm": package, "options": options, "models": {id: model}});
    let catalogue = catalogue(json!({"provider": {"p": provider}}));
    let resolved = catalogue.resolve(Some(&select("p", id, None))).unwrap();
    let model = &resolved.model;
    let options = model.provider_options.values().next().cloned();
    (model.generation.temperature, options.unwrap_or_default())
}

#[test]
fn families_of_models_have_default_options() {
    let none = serde_json::Value::Null;
    let effort = json!({"reasoningEffort": "medium", "reasoningSummary": "auto"});
    let terse =
        json!({"reasoningEffort": "medium", "reasoningSummary": "auto", "textVerbosity": "low"});
    let thoughts = json!({"thinkingConfig": {"includeThoughts": true}});
    let high = json!({"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "high"}});
    let (openai, google) = ("@ai-sdk/openai", "@ai-sdk/google");
    let (compatible, copilot) = ("@ai-sdk/openai-compatible", "@ai-sdk/github-copilot");
    let reasons = || json!({"reasoning": true});
    for (package, id, model, temperature, options) in [
        (openai, "gpt-5.2", reasons(), None, terse.clone()),
        (openai, "gpt-6-sol", reasons(), None, terse.clone()),
        (openai, "gpt-5.2-codex", reasons(), None, effort.clone()),
        ("@ai-sdk/azure", "gpt-5.2", reasons(), None, effort.clone()),
        (copilot, "gpt-5.3-codex", reasons(), None, effort),
        (copilot, "gpt-5-mini", reasons(), None, none.clone()),
        (openai, "gpt-5-chat-latest", json!({}), None, none.clone()),
        (openai, "gpt-4.1", json!({}), None, none.clone()),
        (google, "gemini-2.5-pro", reasons(), Some(1.0), thoughts),
        (google, "gemini-3-pro", reasons(), Some(1.0), high),
        (google, "gemini-2.0-flash", json!({}), None, none.clone()),
        (
            compatible,
            "kimi-k2-instruct",
            json!({}),
            Some(0.6),
            none.clone(),
        ),
        (
            compatible,
            "kimi-k2-thinking",
            json!({}),
            Some(1.0),
            none.clone(),
        ),
        (compatible, "glm-4.6", json!({}), Some(1.0), none.clone()),
        (
            "@ai-sdk/anthropic",
            "claude-sonnet-4-5",
            reasons(),
            None,
            none,
        ),
    ] {
        assert_eq!(
            settings(package, id, model),
            (temperature, options),
            "{package} {id}"
        );
    }
}

#[test]
fn configured_options_replace_the_defaults_of_a_family() {
    let options = json!({"thinkingConfig": {"thinkingBudget": 5}, "temperature": 0.2});
    let model = json!({"reasoning": true, "options": options});
    let (temperature, options) = settings("@ai-sdk/google", "gemini-3-pro", model);
    assert_eq!(temperature, Some(0.2));
    assert_eq!(options, json!({"thinkingConfig": {"thinkingBudget": 5}}));
    let model =
        json!({"reasoning": true, "options": {"reasoningEffort": null, "textVerbosity": "high"}});
    let (_, options) = settings("@ai-sdk/openai", "gpt-5.2", model);
    assert_eq!(
        options,
        json!({"reasoningSummary": "auto", "textVerbosity": "high"})
    );
}
