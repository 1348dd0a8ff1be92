//! Operations of the host itself.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Health;
use opencode_runtime::Selection;

use crate::router::answer::{Answered, Whole, Written};
use crate::router::operation::Call;
use crate::wire::stream;

pub(crate) async fn health(_: Call<op::HealthGet>) -> Answered<Whole<Health>> {
    Ok(Whole(Health { healthy: true }))
}

pub(crate) async fn subscribe(call: Call<op::EventSubscribe>) -> Answered<Written> {
    let query = call.query;
    let selection = Selection::new(query.types.as_deref(), query.session_id)
        .map_err(|error| Failure::invalid_field("types", error.to_string()))?;
    let subscription = call.runtime.subscribe_to(selection).await?;
    Ok(Written(stream::live(call.runtime, subscription)))
}
