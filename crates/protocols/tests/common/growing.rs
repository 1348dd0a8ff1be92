//! Properties of prefixes for every protocol: each request of a conversation continues the former one.

use std::sync::Arc;

use opencode_llm::{
    LlmRequest, Message, Part, Prefix, PrefixCache, PrefixReport, ResolvedModel, SystemPart,
};
use opencode_protocols::{self as protocol};

fn begun(model: &Arc<ResolvedModel>) -> LlmRequest {
    let mut request = LlmRequest::new(Arc::clone(model));
    request.system = vec![SystemPart::new("s")];
    request
}

fn bytes(request: &LlmRequest) -> Vec<u8> {
    let adapter = protocol::adapter(request.model.protocol);
    adapter.encode(request).unwrap().body
}

pub(crate) fn report(request: &LlmRequest, former: Option<&Prefix>) -> PrefixReport {
    let adapter = protocol::adapter(request.model.protocol);
    adapter.prefix(request, former).unwrap()
}

/// Incremental writing and complete writing produce the same bytes.
pub(crate) fn check_written_as_if_anew(model: &Arc<ResolvedModel>, messages: &[Message]) {
    let mut growing = begun(model);
    for end in 0..=messages.len() {
        growing.messages = messages[..end].to_vec().into();
        let mut fresh = begun(model);
        fresh.messages = messages[..end].to_vec().into();
        let (growing, fresh) = (bytes(&growing), bytes(&fresh));
        assert!(
            growing == fresh,
            "{} {end}: {}",
            model.provider_id,
            String::from_utf8_lossy(&growing)
        );
    }
}

/// Each request contains the whole former prefix, with and without the cached output.
pub(crate) fn check_prefix_grows(model: &Arc<ResolvedModel>, messages: &[Message]) {
    let mut request = begun(model);
    let mut former: Option<Prefix> = None;
    for end in 1..=messages.len() {
        request.messages = messages[..end].to_vec().into();
        // Later requests do not repeat the closing message.
        request.closing = (end % 3 == 0).then(|| Message::assistant([Part::text("In short:")]));
        let told = report(&request, former.as_ref());
        let reused = former.as_ref().map_or(0, |former| former.bytes);
        assert_eq!(told.reused, reused, "{end}");
        let anew = LlmRequest {
            prefix: PrefixCache::default(),
            ..request.clone()
        };
        let anew = report(&anew, former.as_ref());
        assert_eq!(
            (anew.prefix, anew.reused),
            (told.prefix.clone(), reused),
            "{end}"
        );
        bytes(&request);
        former = Some(told.prefix);
    }
}
