//! The secrets that a Location knows: those in the configuration and the environment, even if they are not in use. They
//! are sent only to the server that they belong to. They never appear in stored or displayed data.

use opencode_secrets::Secrets;

use crate::catalogue::Catalogue;
use crate::config::{ApiPatch, Configuration, HostModel, ProviderPatch};
use crate::definitions::agents::Agents;
use crate::definitions::mcp::McpServers;
use crate::environment::{Environment, LISTENER_PASSWORD};
use crate::secret::{BaseUrl, Headers, Members};

/// The variables with the keys of web search services.
const SEARCH_KEYS: [&str; 2] = ["EXA_API_KEY", "PARALLEL_API_KEY"];

/// All secrets of a Location.
pub(crate) fn known_secrets(
    configuration: &Configuration,
    catalogue: &Catalogue,
    agents: &Agents,
    mcp: &McpServers,
    environment: &Environment,
) -> Secrets {
    let mut secrets = Secrets::default();
    for document in configuration.documents() {
        for (_, provider) in &document.providers {
            learn_provider(&mut secrets, provider);
        }
        for (_, agent) in &document.agents {
            learn_request(&mut secrets, &agent.headers, &agent.body);
        }
    }
    if let Some(chosen) = &configuration.host_model {
        learn_chosen(&mut secrets, chosen);
    }
    for request in agents.requests() {
        for (name, value) in &request.headers {
            secrets.learn_header(name, value);
        }
        secrets.learn_members(&request.body);
    }
    mcp.learn_secrets(&mut secrets);
    catalogue.learn_addresses(&mut secrets);
    catalogue.learn_keys(&mut secrets);
    let keys = catalogue.credential_variables();
    let keys = keys.chain(SEARCH_KEYS).chain([LISTENER_PASSWORD]);
    for value in keys.filter_map(|name| environment.variable(name)) {
        secrets.learn_credential(value);
    }
    secrets
}

fn learn_provider(secrets: &mut Secrets, provider: &ProviderPatch) {
    learn_api(secrets, &provider.api);
    learn_request(secrets, &provider.headers, &provider.body);
    secrets.learn_members(&provider.options);
    for (_, model) in &provider.models {
        learn_api(secrets, &model.api);
        learn_request(secrets, &model.headers, &model.body);
        secrets.learn_members(&model.options);
        for (_, variant) in &model.variants {
            learn_request(secrets, &variant.headers, &variant.body);
        }
    }
}

fn learn_api(secrets: &mut Secrets, api: &ApiPatch) {
    if let Some(BaseUrl(url)) = &api.url {
        secrets.learn_url(url);
        secrets.learn_path(url, "");
    }
    secrets.learn_members(&api.settings);
}

fn learn_request(secrets: &mut Secrets, headers: &Headers, body: &Members) {
    for (name, value) in headers.iter() {
        secrets.learn_header(name, value);
    }
    secrets.learn_members(body);
}

fn learn_chosen(secrets: &mut Secrets, chosen: &HostModel) {
    if let Some(key) = &chosen.api_key {
        secrets.learn_credential(key.expose());
    }
    if let Some(BaseUrl(url)) = &chosen.base_url {
        secrets.learn_url(url);
        secrets.learn_path(url, "");
    }
}
