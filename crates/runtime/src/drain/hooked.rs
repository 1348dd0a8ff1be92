//! The changes of hooks to the request of a Provider Turn.

use std::sync::Arc;

use opencode_llm::canonical::overlay::owned_members;
use opencode_llm::{LlmRequest, SystemPart, short_hash};
use opencode_location::catalogue::{RequestDomains, request_domains};

use super::boundary::Boundary;
use super::{DrainStop, Runner};
use crate::hooks::{PreparedRequest, RequestChanges};

impl Runner {
    /// Lets the hooks change a request. Returns the hash of the changes that providers see in the body, or an empty text
    /// without changes.
    pub(super) async fn apply_hooks(
        &self,
        boundary: &Boundary,
        request: &mut LlmRequest,
        preview: bool,
    ) -> Result<Arc<str>, DrainStop> {
        let info = &boundary.session.info;
        let changes = self.services.hooks.request(PreparedRequest {
            session_id: info.id.clone(),
            directory: info.location.directory.clone(),
            agent: boundary.sampled.id.clone(),
            model: boundary.model_ref.clone(),
            preview,
        });
        let changes = self.stopper.stopped().run_until_cancelled(changes);
        let changes = changes.await.ok_or(DrainStop::Interrupted)?;
        let hash = hash(&changes);
        let refused = apply(request, changes);
        if !refused.is_empty() {
            let members = refused.join(", ");
            tracing::warn!(
                target: "opencode_handlers",
                "onRequest may not set members of a body that the protocol writes itself: {members}. They are left out"
            );
        }
        Ok(hash)
    }
}

fn hash(changes: &RequestChanges) -> Arc<str> {
    if changes.body.is_empty() && changes.system.is_empty() {
        return Arc::from("");
    }
    let text = serde_json::to_vec(&(&changes.body, &changes.system)).expect("they are plain data");
    short_hash(&text).into()
}

/// Applies the changes. Returns the members of the body that no hook may set. They are left out, because a request with
/// them could not be sent.
fn apply(request: &mut LlmRequest, changes: RequestChanges) -> Vec<String> {
    let RequestDomains {
        generation,
        provider_options,
        mut body,
    } = request_domains(&changes.body, request.model.protocol);
    let refused: Vec<_> = owned_members(&body)
        .into_iter()
        .map(str::to_owned)
        .collect();
    body.retain(|name, _| !refused.contains(name));
    request.generation = request.generation.overridden_by(&generation);
    for (namespace, options) in provider_options {
        match (request.provider_options.get_mut(&namespace), options) {
            (Some(serde_json::Value::Object(known)), serde_json::Value::Object(options)) => {
                known.extend(options);
            }
            (_, options) => drop(request.provider_options.insert(namespace, options)),
        }
    }
    request.http.body.extend(body);
    for (name, value) in changes.headers {
        let headers = &mut request.http.headers;
        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        headers.push((name, value));
    }
    let parts = changes
        .system
        .iter()
        .map(|text| SystemPart::new(text.as_str()));
    request.system.extend(parts);
    refused
}
