//! Operations on services that need credentials. This host has none of them yet, so every id is unknown: operations
//! that would use it are refused, and operations that would remove it have nothing to do.

use opencode_protocol::failure::Failure;
use opencode_protocol::operation::Operation;
use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_schema::integration::{IntegrationAttempt, IntegrationAttemptStatus, IntegrationInfo};

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn list(
    call: Call<op::IntegrationList>,
) -> Answered<Located<Vec<IntegrationInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    Ok(opened.with(Vec::new()))
}

pub(crate) async fn get(
    call: Call<op::IntegrationGet>,
) -> Answered<Located<Option<IntegrationInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    Ok(opened.with(None))
}

pub(crate) async fn connect_key(call: Call<op::IntegrationConnectKey>) -> Answered<()> {
    let id = call.params.integration_id.clone();
    refused(call, unknown_integration(&id)).await
}

pub(crate) async fn connect_oauth(
    call: Call<op::IntegrationConnectOauth>,
) -> Answered<Located<IntegrationAttempt>> {
    let id = call.params.integration_id.clone();
    refused(call, unknown_integration(&id)).await
}

pub(crate) async fn attempt_status(
    call: Call<op::IntegrationAttemptStatusGet>,
) -> Answered<Located<IntegrationAttemptStatus>> {
    let id = call.params.attempt_id.clone();
    refused(call, unknown_attempt(&id)).await
}

pub(crate) async fn complete_attempt(call: Call<op::IntegrationAttemptComplete>) -> Answered<()> {
    let id = call.params.attempt_id.clone();
    refused(call, unknown_attempt(&id)).await
}

/// Succeeds without a change, because no id exists. Cancelling and removing an unknown id is harmless.
pub(crate) async fn done<O: Operation<Success = ()>>(call: Call<O>) -> Answered<()> {
    Opened::of(&call.runtime, call.selector).await?;
    Ok(())
}

/// Refuses an unknown id. A Location that cannot be opened is reported before the id.
async fn refused<O: Operation, T>(call: Call<O>, failure: Failure) -> Answered<T> {
    Opened::of(&call.runtime, call.selector).await?;
    Err(failure.into())
}

fn unknown_integration(id: &str) -> Failure {
    let message = format!("Unknown integration: {}", shown(id));
    Failure::invalid_field("integrationID", message)
}

fn unknown_attempt(id: &str) -> Failure {
    let message = format!("Unknown attempt: {}", shown(id));
    Failure::invalid_field("attemptID", message)
}

/// An id as a message repeats it.
fn shown(id: &str) -> String {
    id.chars().take(64).collect()
}
