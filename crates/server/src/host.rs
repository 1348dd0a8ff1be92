//! Operations of the host itself.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Health;
use opencode_schema::location::LocationInfo;

use crate::failure::failure;
use crate::operation::{Answer, Call};
use crate::stream;

pub(crate) async fn health(_: Call<op::HealthGet>) -> Result<Answer<Health>, Failure> {
    Ok(Answer::Value(Health { healthy: true }))
}

pub(crate) async fn location(call: Call<op::LocationGet>) -> Result<Answer<LocationInfo>, Failure> {
    let location = call.selector?.or_default(call.runtime.default_directory());
    let info = call.runtime.location(location).await.map_err(failure)?;
    Ok(Answer::Value(info))
}

pub(crate) async fn subscribe<T>(call: Call<op::EventSubscribe>) -> Result<Answer<T>, Failure> {
    let subscription = call.runtime.subscribe();
    Ok(Answer::Raw(stream::live(
        &call.runtime.connected_event(),
        subscription,
    )))
}
