//! Finds the authorization server of an MCP server: RFC 9728, then RFC 8414 or OpenID Connect Discovery.

use std::time::Duration;

use http::StatusCode;
use http::header::WWW_AUTHENTICATE;
use opencode_oauth::{Http, MAX_ADDRESS_BYTES, MAX_SCOPES, is_scope, shown};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::challenge::Parameters;
use crate::config::RemoteServer;

/// Maximum number of authorization servers that are asked.
const MAX_SERVERS: usize = 3;

/// Maximum time of a discovery.
const LIMIT: Duration = Duration::from_secs(60);

/// An authorization server, and the rules of an MCP server for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Url,
    pub(super) token_endpoint: Url,
    pub(super) registration_endpoint: Option<Url>,
    /// True if each answer of the server to the browser names its issuer (RFC 9207).
    pub(super) names_issuer: bool,
    /// True if clients send their secret in the body.
    pub(super) secret_in_body: bool,
    /// True if the server gives refresh tokens only with this scope.
    pub(super) has_offline_access: bool,
    /// The resource of the tokens (RFC 8707).
    pub(super) resource: String,
    /// The scopes of the MCP server.
    pub(super) scopes: Vec<String>,
}

/// The metadata of a protected resource.
#[derive(Deserialize)]
struct Resource {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// The metadata of an authorization server.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    response_types_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// Returns the authorization server of an MCP server.
///
/// # Errors
///
/// Fails with the reason why there is none that can be used.
pub(super) async fn discover(
    http: &Http,
    server: &RemoteServer,
    challenge: Option<&Parameters>,
) -> Result<Found, String> {
    let found = tokio::time::timeout(LIMIT, find(http, server, challenge)).await;
    found.unwrap_or_else(|_| Err("its authorization server is not found in time".into()))
}

async fn find(
    http: &Http,
    server: &RemoteServer,
    challenge: Option<&Parameters>,
) -> Result<Found, String> {
    let probed = match challenge {
        Some(challenge) => challenge.clone(),
        None => probe(http, server).await?,
    };
    let resource = resource(http, server, probed.resource_metadata.as_deref()).await?;
    // Servers of the specification 2025-03-26 have no metadata and are their own authorization servers.
    let Some(resource) = resource else {
        let issuer = shown(&server.url);
        let metadata = metadata(http, &issuer).await?.ok_or_else(|| {
            format!(
                "{} names no authorization server; if it needs a key, set it in `headers`",
                shown(&server.url)
            )
        })?;
        return accepted(http, metadata, canonical(&server.url), Vec::new());
    };
    for issuer in resource.authorization_servers.iter().take(MAX_SERVERS) {
        if let Some(metadata) = metadata(http, issuer).await? {
            let mut scopes = resource.scopes_supported;
            scopes.retain(|scope| is_scope(scope));
            scopes.truncate(MAX_SCOPES);
            return accepted(http, metadata, resource.resource, scopes);
        }
    }
    Err("none of its authorization servers publishes metadata".into())
}

/// Returns the challenge of a server to a request without a token.
async fn probe(http: &Http, server: &RemoteServer) -> Result<Parameters, String> {
    let answer = http.probe(&server.url, &server.headers).await?;
    let header = answer.headers.get(WWW_AUTHENTICATE);
    let text = header.and_then(|value| value.to_str().ok());
    Ok(match answer.status {
        StatusCode::UNAUTHORIZED => Parameters::read(text.unwrap_or_default()),
        _ => Parameters::default(),
    })
}

/// Returns the metadata of an MCP server, if it has any.
async fn resource(
    http: &Http,
    server: &RemoteServer,
    named: Option<&str>,
) -> Result<Option<Resource>, String> {
    let mut addresses = Vec::new();
    if let Some(named) = named {
        addresses.push(http.reach.parse(named, "resource_metadata")?);
    }
    let well_known = "/.well-known/oauth-protected-resource";
    let path = server.url.path().trim_end_matches('/');
    for path in [format!("{well_known}{path}"), well_known.to_owned()] {
        let address = at(&server.url, &path);
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    for address in addresses {
        if let Some(found) = document::<Resource>(http, &address).await? {
            if !covers(&found.resource, &server.url) {
                let shown = shown(&address);
                return Err(format!("the metadata at {shown} is that of another server"));
            }
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the metadata of an authorization server, if it publishes any.
async fn metadata(http: &Http, issuer: &str) -> Result<Option<Metadata>, String> {
    let address = http.reach.parse(issuer, "authorization server")?;
    let path = address.path().trim_end_matches('/');
    let oauth = "/.well-known/oauth-authorization-server";
    let openid = "/.well-known/openid-configuration";
    let mut paths = vec![format!("{oauth}{path}"), format!("{openid}{path}")];
    if !path.is_empty() {
        paths.push(format!("{path}{openid}"));
    }
    for path in paths {
        let found = document::<Metadata>(http, &at(&address, &path)).await?;
        let Some(found) = found else { continue };
        if !is_same_issuer(&found.issuer, issuer) {
            let shown = shown(&address);
            return Err(format!("the metadata of {shown} names another issuer"));
        }
        return Ok(Some(found));
    }
    Ok(None)
}

/// Returns the document at an address; `None` if there is none.
async fn document<T: DeserializeOwned>(http: &Http, address: &Url) -> Result<Option<T>, String> {
    let answer = http.document(address).await?;
    let shown = shown(address);
    match answer.status {
        StatusCode::OK => serde_json::from_slice(&answer.body)
            .map(Some)
            .map_err(|_| format!("the metadata of {shown} has another format")),
        // Redirects are not followed.
        status if status.is_client_error() || status.is_redirection() => Ok(None),
        status => Err(format!("{shown} answers with status {status}")),
    }
}

/// Checks the metadata of an authorization server.
fn accepted(
    http: &Http,
    metadata: Metadata,
    resource: String,
    scopes: Vec<String>,
) -> Result<Found, String> {
    let has = |list: &Option<Vec<String>>, wanted: &str| {
        let values = list.as_deref();
        values.map(|values| values.iter().any(|value| value == wanted))
    };
    if has(&metadata.response_types_supported, "code") == Some(false) {
        return Err("its authorization server has no authorization codes".into());
    }
    // Servers of OpenID Connect often omit the list. The challenge is sent in any case.
    if has(&metadata.code_challenge_methods_supported, "S256") == Some(false) {
        return Err("its authorization server does not support PKCE with S256".into());
    }
    let methods = &metadata.token_endpoint_auth_methods_supported;
    let secret_in_body = has(methods, "client_secret_basic") == Some(false)
        && has(methods, "client_secret_post") == Some(true);
    let reach = http.reach;
    let registration = metadata.registration_endpoint.as_deref();
    Ok(Found {
        authorization_endpoint: reach
            .parse(&metadata.authorization_endpoint, "authorization_endpoint")?,
        token_endpoint: reach.parse(&metadata.token_endpoint, "token_endpoint")?,
        registration_endpoint: registration
            .map(|address| reach.parse(address, "registration_endpoint"))
            .transpose()?,
        names_issuer: metadata.authorization_response_iss_parameter_supported,
        has_offline_access: has(&metadata.scopes_supported, "offline_access") == Some(true),
        issuer: metadata.issuer,
        secret_in_body,
        resource,
        scopes,
    })
}

/// True if an identifier of a resource is that of a server: the same origin, and the same path or one above it.
fn covers(resource: &str, server: &Url) -> bool {
    let is_short = resource.len() <= MAX_ADDRESS_BYTES;
    let Some(resource) = Url::parse(resource).ok().filter(|_| is_short) else {
        return false;
    };
    let path = resource.path().trim_end_matches('/');
    let below = server.path().strip_prefix(path);
    resource.fragment().is_none()
        && resource.origin() == server.origin()
        && below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// True if both texts name the same issuer. The slash of an empty path is optional.
fn is_same_issuer(a: &str, b: &str) -> bool {
    let is_origin = |text: &str| Url::parse(text).is_ok_and(|url| url.path() == "/");
    a == b || (is_origin(a) && a.trim_end_matches('/') == b.trim_end_matches('/'))
}

/// Returns the identifier of a server without metadata. A query is omitted, because it may contain a key.
fn canonical(server: &Url) -> String {
    match server.path() {
        "/" => shown(server),
        path => at(server, path).into(),
    }
}

/// Returns another path on the same server.
fn at(server: &Url, path: &str) -> Url {
    let mut address = server.clone();
    address.set_query(None);
    address.set_fragment(None);
    address.set_path(path);
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_covers_its_own_paths_alone() {
        let server = Url::parse("https://host/a/mcp").unwrap();
        for (resource, expected) in [
            ("https://host/a/mcp", true),
            ("https://host/a/mcp/", true),
            ("https://host", true),
            ("https://host/a", true),
            ("https://host/a/m", false),
            ("https://host/b", false),
            ("https://host:444/a", false),
            ("http://host/a", false),
            ("https://other/a/mcp", false),
            ("https://host/a#x", false),
            ("host", false),
        ] {
            assert_eq!(covers(resource, &server), expected, "{resource}");
        }
    }

    #[test]
    fn an_issuer_is_compared_exactly_except_for_an_empty_path() {
        for (a, b, expected) in [
            ("https://h", "https://h/", true),
            ("https://h/", "https://h", true),
            ("https://h/a", "https://h/a", true),
            ("https://h/a/", "https://h/a", false),
            ("https://h", "https://h.evil", false),
            ("", "https://h", false),
        ] {
            assert_eq!(is_same_issuer(a, b), expected, "{a} {b}");
        }
    }
}
