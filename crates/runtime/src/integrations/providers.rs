//! Providers of models as integrations, and their stored keys.

use std::sync::Arc;

use futures::FutureExt;
use opencode_location::catalogue::{Keys, LoadKeys, StoredKey};
use opencode_location::location::Location;
use opencode_mcp::oauth::integration_id;
use opencode_schema::integration::{IntegrationConnection, IntegrationInfo, IntegrationMethod};
use opencode_secrets::Secret;
use opencode_secrets::Secret as StoredSecret;
use opencode_store::Credential;
use serde::{Deserialize, Serialize};

use super::credentials::Credentials;
use super::sign_ins::{SignIns, StoredSignIn};
use crate::error::RuntimeError;

/// Maximum size of a key in bytes.
const MAX_KEY_BYTES: usize = 16 * 1024;

/// The stored form of a credential.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum StoredValue {
    /// A key.
    Key {
        /// The key.
        key: String,
    },
    /// A sign-in.
    Oauth(StoredSignIn),
}

/// Returns the providers that a Location may use and that need a key, each with its methods and connections.
pub(super) fn described(
    location: &Location,
    credentials: &[Credential],
    sign_ins: &SignIns,
    variable: impl Fn(&str) -> bool,
) -> Vec<IntegrationInfo> {
    let known = location.catalogue.known_providers().into_iter();
    known
        .map(|provider| {
            let stored = credentials.iter();
            let stored = stored.filter(|it| it.integration_id == provider.id);
            let stored = stored.map(|credential| IntegrationConnection::Credential {
                id: credential.id.clone(),
                label: credential.label.clone(),
            });
            // A region or the name of a resource alone is no connection.
            let set = provider.credentials().filter(|name| variable(name));
            let set = set.map(|name| IntegrationConnection::Env { name: name.into() });
            let mut methods = vec![IntegrationMethod::Key { label: None }];
            if !provider.variables.is_empty() {
                methods.push(IntegrationMethod::Env {
                    names: provider.variables.to_vec(),
                });
            }
            methods.extend(sign_ins.methods(provider.id));
            IntegrationInfo {
                id: provider.id.to_owned(),
                name: provider.name.to_owned(),
                methods,
                connections: stored.chain(set).collect(),
            }
        })
        .collect()
}

/// Checks a key of a user. It must fit into a header.
pub(super) fn check_key(key: &str) -> Result<(), String> {
    if key.trim().is_empty() {
        return Err("The key is empty".to_owned());
    }
    if key.len() > MAX_KEY_BYTES {
        return Err(format!("The key has more than {MAX_KEY_BYTES} bytes"));
    }
    if !key.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Err("The key contains a character that no header can carry".to_owned());
    }
    Ok(())
}

/// Returns the value to store for a key.
pub(super) fn value_of(key: &str) -> StoredSecret {
    text_of(&StoredValue::Key {
        key: key.to_owned(),
    })
}

/// Returns the value to store for a sign-in.
pub(super) fn sign_in_value(sign_in: &StoredSignIn) -> StoredSecret {
    text_of(&StoredValue::Oauth(sign_in.clone()))
}

fn text_of(value: &StoredValue) -> StoredSecret {
    StoredSecret::new(serde_json::to_string(value).expect("its members are texts and numbers"))
}

/// Returns the function that reads the stored keys for the Locations of a host.
pub(super) fn loader(credentials: Arc<Credentials>, sign_ins: SignIns) -> LoadKeys {
    Box::new(move || {
        let (credentials, sign_ins) = (Arc::clone(&credentials), sign_ins.clone());
        let loaded = async move { load(&credentials, &sign_ins).await };
        loaded
            .map(|keys| keys.map_err(|error| error.to_string()))
            .boxed()
    })
}

async fn load(credentials: &Credentials, sign_ins: &SignIns) -> Result<Keys, RuntimeError> {
    let mut listed = credentials.listed().await?;
    listed.retain(|it| !is_of_server(&it.integration_id));
    let found = credentials.with_values(listed).await?.into_iter();
    Ok(found.filter_map(|it| key_of(it, sign_ins)).collect())
}

/// Returns the provider and the key of a credential. Logs a value that is none of ours, because a store of the program
/// may contain anything.
fn key_of(credential: Credential, sign_ins: &SignIns) -> Option<(String, StoredKey)> {
    let Credential {
        id, integration_id, ..
    } = &credential;
    // The error may repeat a part of the value.
    let problem = match serde_json::from_str(&credential.value) {
        Ok(StoredValue::Key { key }) => {
            let key = StoredKey::Key(Secret::new(key));
            return Some((credential.integration_id, key));
        }
        Ok(StoredValue::Oauth(stored)) => match sign_ins.read(integration_id, id, stored) {
            Some(key) => return Some((credential.integration_id, key)),
            None => {
                "the sign-in belongs to other settings than those of the option oauth; sign in again"
            }
        },
        Err(_) => "the value of a credential is unreadable; store the key again",
    };
    let (credential, integration) = (id, integration_id);
    tracing::warn!(credential, integration, "{problem}");
    None
}

/// True for the integration of an MCP server.
pub(super) fn is_of_server(integration: &str) -> bool {
    integration.starts_with(&integration_id(""))
}
