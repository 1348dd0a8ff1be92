//! The changes of hooks to the request of a Provider Turn.

use std::sync::Arc;

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
        apply(request, changes);
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

fn apply(request: &mut LlmRequest, changes: RequestChanges) {
    let RequestDomains {
        generation,
        provider_options,
        body,
    } = request_domains(&changes.body, request.model.protocol);
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
}
