//! Operations on services that need credentials.

use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_runtime::ConnectOauth;
use opencode_schema::integration::{IntegrationAttempt, IntegrationAttemptStatus, IntegrationInfo};

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn list(
    call: Call<op::IntegrationList>,
) -> Answered<Located<Vec<IntegrationInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let integrations = call.runtime.integrations(&opened.location).await?;
    Ok(opened.with(integrations))
}

pub(crate) async fn get(
    call: Call<op::IntegrationGet>,
) -> Answered<Located<Option<IntegrationInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let id = &call.params.integration_id;
    let integration = call.runtime.integration(&opened.location, id).await?;
    Ok(opened.with(integration))
}

pub(crate) async fn connect_key(call: Call<op::IntegrationConnectKey>) -> Answered<()> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let id = &call.params.integration_id;
    let (key, label) = (&call.payload.key, call.payload.label.as_deref());
    let stored = call.runtime.connect_key(&opened.location, id, key, label);
    Ok(stored.await?)
}

pub(crate) async fn connect_oauth(
    call: Call<op::IntegrationConnectOauth>,
) -> Answered<Located<IntegrationAttempt>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let request = ConnectOauth {
        integration_id: call.params.integration_id,
        method_id: call.payload.method_id,
        label: call.payload.label,
    };
    let attempt = call
        .runtime
        .connect_oauth(&opened.location, request)
        .await?;
    Ok(opened.with(attempt))
}

pub(crate) async fn attempt_status(
    call: Call<op::IntegrationAttemptStatusGet>,
) -> Answered<Located<IntegrationAttemptStatus>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let status = call.runtime.integration_attempt(&call.params.attempt_id)?;
    Ok(opened.with(status))
}

pub(crate) async fn complete_attempt(call: Call<op::IntegrationAttemptComplete>) -> Answered<()> {
    Opened::of(&call.runtime, call.selector).await?;
    let id = &call.params.attempt_id;
    Ok(call.runtime.complete_attempt(id, call.payload.code).await?)
}

pub(crate) async fn cancel_attempt(call: Call<op::IntegrationAttemptCancel>) -> Answered<()> {
    Opened::of(&call.runtime, call.selector).await?;
    call.runtime.cancel_attempt(&call.params.attempt_id);
    Ok(())
}

pub(crate) async fn update_credential(call: Call<op::CredentialUpdate>) -> Answered<()> {
    Opened::of(&call.runtime, call.selector).await?;
    let (id, label) = (call.params.credential_id, call.payload.label);
    Ok(call.runtime.rename_credential(id, label).await?)
}

pub(crate) async fn remove_credential(call: Call<op::CredentialRemove>) -> Answered<()> {
    Opened::of(&call.runtime, call.selector).await?;
    let id = call.params.credential_id;
    Ok(call.runtime.remove_credential(id).await?)
}
