//! The namespace of a protocol in provider metadata.

use opencode_llm::canonical::event::ProviderMetadata;
use opencode_llm::canonical::request::JsonMap;
use serde_json::Value;

/// Returns metadata in a namespace, or `None` without members.
pub(super) fn within(namespace: &str, members: JsonMap) -> Option<ProviderMetadata> {
    (!members.is_empty()).then(|| {
        let namespaces = [(namespace.to_owned(), Value::Object(members))];
        Box::new(namespaces.into_iter().collect())
    })
}

/// Returns a member of metadata in a namespace.
pub(super) fn member<'a>(
    metadata: Option<&'a ProviderMetadata>,
    namespace: &str,
    name: &str,
) -> Option<&'a Value> {
    metadata?.get(namespace)?.get(name)
}
