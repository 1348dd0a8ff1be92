//! Operations that show requests to providers and the System Context.

use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_schema::inspection::{ContextMetrics, ProviderRequestView};

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn request(call: Call<op::SessionRequest>) -> Answered<ProviderRequestView> {
    let request = call.runtime.next_request(&call.params.session_id);
    Ok(request.await?)
}

pub(crate) async fn context(call: Call<op::DebugContext>) -> Answered<Located<ContextMetrics>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let metrics = call.runtime.context_metrics(&opened.location);
    Ok(opened.with(metrics))
}
