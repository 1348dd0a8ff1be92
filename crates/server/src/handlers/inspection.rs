//! Operations that look at how requests come about.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::{Data, Located};
use opencode_schema::inspection::{ContextMetrics, ProviderRequestView};

use crate::router::operation::{Answer, Call};
use crate::router::selector::Opened;
use crate::wire::failure::failure;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn request(call: Call<op::SessionRequest>) -> Answered<Data<ProviderRequestView>> {
    let request = call.runtime.next_request(&call.params.session_id);
    let data = request.await.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn context(call: Call<op::DebugContext>) -> Answered<Located<ContextMetrics>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let metrics = call.runtime.context_metrics(&opened.location);
    Ok(Answer::Value(opened.with(metrics)))
}
