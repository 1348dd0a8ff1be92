//! Availability of providers and models, and their public descriptions.

use opencode_llm::Auth;
use opencode_location::catalogue::{Catalogue, ModelResolutionError, UnavailableReason};
use opencode_location::config::Configuration;
use opencode_secrets::Secret;
use serde_json::{Value, json};

use crate::documents::select;
use crate::machine::Machine;

/// The catalogue of a machine with one document of the user and one of the project.
fn catalogue(machine: &Machine, user: Value, project: Value) -> Catalogue {
    machine.write("config/opencode.json", user.to_string());
    machine.write("project/opencode.json", project.to_string());
    let configuration = machine.configuration("project", "project", None);
    assert_eq!(configuration.diagnostics, []);
    Catalogue::build(&configuration, &machine.environment).0
}

fn ids(catalogue: &Catalogue) -> (Vec<String>, Vec<String>) {
    let providers = catalogue.providers().into_iter().map(|it| it.id);
    let models = catalogue.models().into_iter();
    let models = models.map(|it| format!("{}/{}", it.provider_id, it.id));
    (providers.collect(), models.collect())
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn refused(catalogue: &Catalogue, provider: &str, model: &str) -> String {
    let selection = select(provider, model, None);
    catalogue.resolve(Some(&selection)).unwrap_err().to_string()
}

#[test]
fn a_provider_needs_a_key_unless_only_configuration_defines_it() {
    let address = "http://h/v1";
    let providers = json!({"provider": {
        "mine": {"options": {"baseURL": address}, "models": {"m": {}}},
        "keyed": {"env": ["KEYED_KEY"], "models": {"m": {"provider": {"api": address}}}},
        "openai": {"npm": "@ai-sdk/openai-compatible", "models": {"m": {}}},
        "openrouter": {"models": {"m": {}}},
    }});
    let mut machine = Machine::new();
    let without = catalogue(&machine, json!({}), providers.clone());
    assert_eq!(ids(&without), (owned(&["mine"]), owned(&["mine/m"])));
    // The user's own server may need no key, regardless of its id.
    let own = json!({"provider": {"openai": {"options": {"baseURL": address}}}});
    let own = catalogue(&machine, providers.clone(), own);
    assert_eq!(ids(&own).0, ["mine", "openai"]);
    assert_eq!(
        refused(&without, "keyed", "m"),
        "No API key for provider keyed: set KEYED_KEY or pass apiKey to OpenCode.create"
    );
    // The provider is still known.
    assert_eq!(without.provider("openrouter").unwrap().name, "OpenRouter");
    assert_eq!(without.provider("nobody"), None);

    machine.set("KEYED_KEY", "sk-keyed");
    machine.set("OPENROUTER_API_KEY", "sk-router");
    let with = catalogue(&machine, json!({}), providers.clone());
    let expected = (
        owned(&["mine", "keyed", "openrouter"]),
        owned(&["mine/m", "keyed/m", "openrouter/m"]),
    );
    assert_eq!(ids(&with), expected);
    let resolved = with
        .resolve(Some(&select("openrouter", "m", None)))
        .unwrap()
        .model;
    assert_eq!(resolved.auth, Auth::Bearer(Secret::new("sk-router")));
    assert_eq!(resolved.endpoint.base_url, "https://openrouter.ai/api/v1");

    // A key in a document concerns exactly this provider, so it takes precedence.
    let given = json!({"provider": {"keyed": {"options": {"apiKey": "sk-given"}}}});
    let given = catalogue(&machine, providers, given);
    let resolved = given
        .resolve(Some(&select("keyed", "m", None)))
        .unwrap()
        .model;
    assert_eq!(resolved.auth, Auth::Bearer(Secret::new("sk-given")));
}

#[test]
fn a_key_in_any_place_is_used() {
    for (options, available) in [
        (json!({"apiKey": "k"}), true),
        (json!({"apiKey": ""}), false),
        (json!({"body": {"apiKey": "k"}}), true),
        (json!({"headers": {"Authorization": "k"}}), true),
        (json!({"headers": {"X-Other": "k"}}), false),
    ] {
        let document = json!({"provider": {"openai": {"options": options}}});
        let catalogue = catalogue(&Machine::new(), json!({}), document);
        assert_eq!(
            catalogue.providers().len(),
            usize::from(available),
            "{options}"
        );
    }
}

#[test]
fn provider_lists_and_policies_select_providers() {
    let machine = Machine::new();
    let providers = json!({"provider": {
        "a": {"models": {"m": {}}}, "b": {"models": {"m": {}}}, "c": {"models": {"m": {}}},
    }});
    let with = |user: Value, mut project: Value| {
        project["provider"] = providers["provider"].clone();
        ids(&catalogue(&machine, user, project)).0.join(" ")
    };
    let policies = |statements: &[(&str, &str)]| {
        let statements = statements.iter().map(|(effect, resource)| {
            json!({"action": "provider.use", "effect": effect, "resource": resource})
        });
        json!({"experimental": {"policies": statements.collect::<Vec<_>>()}})
    };
    let nothing = || json!({});
    assert_eq!(with(nothing(), nothing()), "a b c");
    assert_eq!(with(nothing(), json!({"disabled_providers": ["b"]})), "a c");
    assert_eq!(
        with(nothing(), json!({"enabled_providers": ["b", "c"]})),
        "b c"
    );
    assert_eq!(
        with(
            nothing(),
            json!({"enabled_providers": ["b", "c"], "disabled_providers": ["c"]})
        ),
        "b"
    );
    assert_eq!(
        with(nothing(), policies(&[("deny", "*"), ("allow", "a")])),
        "a"
    );
    assert_eq!(
        with(nothing(), policies(&[("allow", "a"), ("deny", "*")])),
        ""
    );
    // The user's policies for all projects override the policies of one project.
    assert_eq!(
        with(policies(&[("deny", "a")]), policies(&[("allow", "*")])),
        "b c"
    );
    assert_eq!(
        with(policies(&[("allow", "a")]), policies(&[("deny", "*")])),
        "a"
    );
    let other = json!({"experimental": {"policies": [
        {"action": "tool.use", "effect": "deny", "resource": "*"},
    ]}});
    assert_eq!(with(other, nothing()), "a b c");

    let denied = json!({"disabled_providers": ["a"], "provider": providers["provider"]});
    let catalogue = catalogue(&machine, nothing(), denied);
    assert_eq!(catalogue.provider("a"), None);
    assert_eq!(
        refused(&catalogue, "a", "m"),
        "The model a/m is not available: the provider may not be used. See `experimental.policies`, `enabled_providers` and `disabled_providers`"
    );
}

#[test]
fn a_provider_may_offer_only_some_of_its_models() {
    let offered = |lists: Value| {
        let mut provider = json!({"models": {"a": {}, "b": {}, "c": {}}});
        for (name, list) in lists.as_object().unwrap() {
            provider[name] = list.clone();
        }
        let document = json!({"provider": {"p": provider}});
        let catalogue = catalogue(&Machine::new(), json!({}), document);
        let default = catalogue.default_model();
        assert_eq!(default, None, "none of them has an address");
        ids(&catalogue).1.join(" ")
    };
    assert_eq!(offered(json!({})), "p/a p/b p/c");
    assert_eq!(offered(json!({"whitelist": ["b", "c", "d"]})), "p/b p/c");
    assert_eq!(offered(json!({"blacklist": ["b"]})), "p/a p/c");
    assert_eq!(
        offered(json!({"whitelist": ["a", "b"], "blacklist": ["b"]})),
        "p/a"
    );
    assert_eq!(offered(json!({"whitelist": []})), "");
}

#[test]
fn no_list_contains_a_secret() {
    let document = json!({
        "provider": {"older": {
            "npm": "@ai-sdk/openai", "api": "https://user:sk-1@h/v1?api_key=sk-2&region=eu",
            "options": {"apiKey": "sk-3", "headers": {"X-Api-Key": "sk-4", "X-Plain": "sk-5", "User-Agent": "seen"}},
            "models": {"m": {
                "headers": {"Cookie": "sk-5"}, "options": {"secretToken": "sk-6", "max_tokens": 7},
                "variants": {"v": {"credentials": {"a": "sk-7"}, "list": [{"token": "sk-8"}]}},
            }},
        }},
        "providers": {"newer": {
            "api": {"type": "native", "settings": {
                "protocol": "openai-chat", "accessToken": ["sk-9"], "apiKey": 5, "useToken": true,
            }},
            "request": {"body": {"apiKey": "sk-10", "nested": {"signature": "sk-11"}}},
            "models": {"n": {"variants": [{"id": "v", "headers": {"authorization": "sk-12"}}]}},
        }},
    });
    let catalogue = catalogue(&Machine::new(), json!({}), document);
    let shown = json!({"providers": catalogue.providers(), "models": catalogue.models()});
    assert!(!shown.to_string().contains("sk-"), "{shown}");
    const HIDDEN: &str = "<redacted>";
    assert_eq!(
        shown["providers"],
        json!([
            {
                "id": "older", "name": "older",
                "api": {
                    "type": "aisdk", "package": "@ai-sdk/openai",
                    "url": "https://h/v1?api_key=<redacted>&region=eu",
                },
                "request": {
                    "headers": {"Authorization": HIDDEN, "X-Api-Key": HIDDEN, "X-Plain": HIDDEN, "User-Agent": "seen"},
                    "body": {},
                },
            },
            {
                "id": "newer", "name": "newer",
                "api": {"type": "native", "settings": {
                    "protocol": "openai-chat", "accessToken": HIDDEN, "apiKey": HIDDEN,
                    "useToken": true,
                }},
                "request": {
                    "headers": {}, "body": {"apiKey": HIDDEN, "nested": {"signature": HIDDEN}},
                },
            },
        ])
    );
    let older = &shown["models"][0];
    assert_eq!(
        older["request"],
        json!({"headers": {"Cookie": HIDDEN}, "body": {"secret_token": HIDDEN, "max_tokens": 7}})
    );
    assert_eq!(
        older["variants"],
        json!([{"id": "v", "headers": {}, "body": {
            "credentials": HIDDEN, "list": [{"token": HIDDEN}],
        }}])
    );
}

#[test]
fn every_provider_with_a_key_belongs_to_an_integration() {
    let document = json!({"provider": {
        "mine": {}, "openai": {"options": {"apiKey": "k"}},
    }});
    let catalogue = catalogue(&Machine::new(), json!({}), document);
    let shown = |id: &str| catalogue.provider(id).unwrap().integration_id;
    assert_eq!(shown("mine"), None);
    assert_eq!(shown("openai"), Some("openai".to_owned()));
}

#[test]
fn an_unavailable_model_has_a_reason() {
    let configuration = Configuration::default();
    let (catalogue, _) = Catalogue::build(&configuration, &Machine::new().environment);
    assert_eq!(
        catalogue
            .resolve(Some(&select("p", "m", None)))
            .unwrap_err(),
        ModelResolutionError::ModelUnavailable {
            provider_id: "p".to_owned(),
            model_id: "m".to_owned(),
            reason: UnavailableReason::UnknownProvider { meant: None },
        }
    );
}
