//! Operations of the host itself.

use opencode_protocol::operations as op;
use opencode_protocol::output::Health;

use crate::router::answer::{Answered, Whole, Written};
use crate::router::operation::Call;
use crate::wire::stream;

pub(crate) async fn health(_: Call<op::HealthGet>) -> Answered<Whole<Health>> {
    Ok(Whole(Health { healthy: true }))
}

pub(crate) async fn subscribe(call: Call<op::EventSubscribe>) -> Answered<Written> {
    Ok(Written(stream::live(call.runtime)))
}
