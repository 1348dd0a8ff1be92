//! Operations of the host itself.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Health;

use crate::router::operation::{Answer, Call};
use crate::wire::stream;

pub(crate) async fn health(_: Call<op::HealthGet>) -> Result<Answer<Health>, Failure> {
    Ok(Answer::Value(Health { healthy: true }))
}

pub(crate) async fn subscribe<T>(call: Call<op::EventSubscribe>) -> Result<Answer<T>, Failure> {
    Ok(Answer::Raw(stream::live(call.runtime)))
}
