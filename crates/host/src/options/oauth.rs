//! The option `oauth`: the applications of the program at providers.

use std::collections::BTreeMap;

use opencode_oauth::{Reach, Redirect, is_scope};
use opencode_protocol::failure::Failure;
use opencode_runtime::ProviderOAuth;
use opencode_secrets::Secret;
use serde::Deserialize;
use url::Url;

use super::invalid;

/// The usual redirect address.
const REDIRECT: &str = "http://127.0.0.1:19876/oauth/callback";

/// The parameters that the host sets itself.
const OWN_PARAMETERS: [&str; 11] = [
    "client_id",
    "client_secret",
    "code",
    "code_challenge",
    "code_challenge_method",
    "code_verifier",
    "grant_type",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
];

/// OAuth of a provider.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderOAuthOption {
    /// The id of the application at the provider.
    client_id: String,
    /// Its secret.
    #[serde(default)]
    client_secret: Option<String>,
    /// The address of the token endpoint.
    token_url: String,
    /// The address of the authorization endpoint.
    #[serde(default)]
    authorization_url: Option<String>,
    /// The address of the device endpoint.
    #[serde(default)]
    device_url: Option<String>,
    /// The address to which the provider redirects the browser.
    #[serde(default)]
    redirect_url: Option<String>,
    /// The scopes to request.
    #[serde(default)]
    scopes: Vec<String>,
    /// Other parameters of the request for a consent.
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

/// Checks the settings of all providers.
pub(super) fn provider_oauth(
    option: BTreeMap<String, ProviderOAuthOption>,
) -> Result<BTreeMap<String, ProviderOAuth>, Failure> {
    let settings = option.into_iter().map(|(provider, option)| {
        let checked = option.checked().map_err(|(member, problem)| {
            let place = format!("oauth.{provider}.{member}");
            invalid(&place, format!("Option \"{place}\" {problem}"))
        });
        Ok((provider, checked?))
    });
    settings.collect()
}

/// A member with a wrong value, and the problem.
type Problem = (&'static str, String);

impl ProviderOAuthOption {
    fn checked(self) -> Result<ProviderOAuth, Problem> {
        if self.client_id.is_empty() {
            return Err(("clientId", "is empty".into()));
        }
        let token_url = address("tokenUrl", &self.token_url, None)?;
        let reach = Reach::of(&token_url);
        let other = |member, url: Option<String>| {
            url.map(|url| address(member, &url, Some(reach)))
                .transpose()
        };
        let authorization_url = other("authorizationUrl", self.authorization_url)?;
        let device_url = other("deviceUrl", self.device_url)?;
        if authorization_url.is_none() && device_url.is_none() {
            let problem = "or \"deviceUrl\" is needed: without them users cannot sign in";
            return Err(("authorizationUrl", problem.into()));
        }
        if let Some(scope) = self.scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(("scopes", format!("contains {scope:?}, which is no scope")));
        }
        let mut names = self.parameters.keys();
        if let Some(name) = names.find(|name| OWN_PARAMETERS.contains(&name.as_str())) {
            let problem = format!("contains {name:?}, which the host sets itself");
            return Err(("parameters", problem));
        }
        let redirect = self.redirect_url.unwrap_or_else(|| REDIRECT.to_owned());
        let redirect = Redirect::parse(redirect, "redirectUrl");
        Ok(ProviderOAuth {
            client_id: self.client_id,
            client_secret: self.client_secret.map(Secret::new),
            token_url,
            authorization_url,
            device_url,
            redirect: redirect
                .map_err(|_| ("redirectUrl", "is not a redirect address".to_owned()))?,
            scopes: self.scopes,
            parameters: self.parameters.into_iter().collect(),
        })
    }
}

/// Parses an address of a provider. Secrets must not be sent over a network without TLS.
fn address(member: &'static str, text: &str, reach: Option<Reach>) -> Result<Url, Problem> {
    let allowed = |url: &Url| reach.unwrap_or_else(|| Reach::of(url)).allows(url);
    let url = Url::parse(text).ok().filter(allowed);
    url.ok_or_else(|| {
        let problem = "must be an https address without user and password";
        (member, problem.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the name of the option that is refused; `None` if all are accepted.
    fn refused(changes: &Value) -> Option<String> {
        let mut option = json!({
            "clientId": "editor",
            "tokenUrl": "https://as.example/token",
            "deviceUrl": "https://as.example/device",
        });
        for (name, value) in changes.as_object().unwrap() {
            option[name] = value.clone();
        }
        let option = serde_json::from_value(option).unwrap();
        match provider_oauth(BTreeMap::from([("p".to_owned(), option)])) {
            Ok(_) => None,
            Err(Failure::InvalidOption { option, .. }) => Some(option),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_wrong_member_is_named() {
        let page = json!({ "authorizationUrl": "https://as.example/authorize" });
        assert_eq!(refused(&json!({})), None);
        assert_eq!(refused(&page), None);
        let local =
            json!({ "tokenUrl": "http://127.0.0.1:1/t", "deviceUrl": "http://localhost:1/d" });
        assert_eq!(refused(&local), None);
        for (changes, member) in [
            (json!({ "clientId": "" }), "clientId"),
            (json!({ "tokenUrl": "http://as.example/token" }), "tokenUrl"),
            (json!({ "tokenUrl": "https://u:p@as.example/" }), "tokenUrl"),
            (json!({ "tokenUrl": "as.example" }), "tokenUrl"),
            (
                json!({ "deviceUrl": "http://127.0.0.1:1/device" }),
                "deviceUrl",
            ),
            (
                json!({ "authorizationUrl": "file:///etc/passwd" }),
                "authorizationUrl",
            ),
            (json!({ "deviceUrl": null }), "authorizationUrl"),
            (json!({ "redirectUrl": "nowhere" }), "redirectUrl"),
            (
                json!({ "redirectUrl": "http://127.0.0.1:1/#here" }),
                "redirectUrl",
            ),
            (json!({ "scopes": ["a b"] }), "scopes"),
            (json!({ "parameters": { "state": "1" } }), "parameters"),
        ] {
            let expected = format!("oauth.p.{member}");
            assert_eq!(refused(&changes), Some(expected), "{changes}");
        }
    }
}
