//! Operations on permissions: requests that wait for an answer, and saved approvals.

use opencode_protocol::operations as op;
use opencode_protocol::output::{Located, PermissionDecision};
use opencode_runtime::AskPermission;
use opencode_schema::permission::{PermissionRequest, SavedPermission};

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn list(
    call: Call<op::SessionPermissionList>,
) -> Answered<Vec<PermissionRequest>> {
    let waiting = call.runtime.permissions(&call.params.session_id);
    Ok(waiting.await?)
}

pub(crate) async fn get(call: Call<op::SessionPermissionGet>) -> Answered<PermissionRequest> {
    let params = call.params;
    let found = call
        .runtime
        .permission(&params.session_id, &params.request_id);
    Ok(found.await?)
}

pub(crate) async fn create(
    call: Call<op::SessionPermissionCreate>,
) -> Answered<PermissionDecision> {
    let payload = call.payload;
    let decided = call.runtime.ask_permission(AskPermission {
        session_id: call.params.session_id,
        id: payload.id,
        action: payload.action,
        resources: payload.resources,
        save: payload.save,
        metadata: payload.metadata,
        source: payload.source,
        agent: payload.agent,
    });
    let decided = decided.await?;
    let data = PermissionDecision {
        id: decided.id,
        effect: decided.effect,
    };
    Ok(data)
}

pub(crate) async fn reply(call: Call<op::SessionPermissionReply>) -> Answered<()> {
    let (params, payload) = (call.params, call.payload);
    let replied = call.runtime.reply_permission(
        &params.session_id,
        &params.request_id,
        payload.reply,
        payload.message,
    );
    replied.await?;
    Ok(())
}

pub(crate) async fn requests(
    call: Call<op::PermissionRequestList>,
) -> Answered<Located<Vec<PermissionRequest>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let waiting = call.runtime.permission_requests(&opened.place());
    Ok(opened.with(waiting))
}

pub(crate) async fn saved(call: Call<op::PermissionSavedList>) -> Answered<Vec<SavedPermission>> {
    let saved = match call.query.project_id {
        Some(project) => call.runtime.saved_permissions_of_project(project).await,
        None => {
            let opened = Opened::of(&call.runtime, call.selector).await?;
            let project = opened.location.approvals().to_owned();
            call.runtime.saved_permissions(project).await
        }
    };
    Ok(saved?)
}

pub(crate) async fn remove_saved(call: Call<op::PermissionSavedRemove>) -> Answered<()> {
    let removed = call.runtime.remove_permission(call.params.id);
    removed.await?;
    Ok(())
}
