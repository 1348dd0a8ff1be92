//! Operations on permissions: requests that wait for an answer, and saved approvals.

use opencode_protocol::operations as op;
use opencode_protocol::output::{Located, PermissionDecision};
use opencode_runtime::{AskPermission, SavedScope};
use opencode_schema::permission::{PermissionRequest, SavedPermissionInfo};

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

/// Lists the permissions of all directories for the embedding program, and for other clients those that count in their
/// Location.
pub(crate) async fn saved(
    call: Call<op::PermissionSavedList>,
) -> Answered<Vec<SavedPermissionInfo>> {
    let project = call.query.project_id;
    if call.is_host {
        let saved = call.runtime.saved_permissions(SavedScope::Host(project));
        return Ok(saved.await?);
    }
    let Opened { location, .. } = Opened::of(&call.runtime, call.selector).await?;
    if project.is_some_and(|project| project != location.project.id) {
        return Ok(Vec::new());
    }
    let place = location.approvals().to_owned();
    let saved = call.runtime.saved_permissions(SavedScope::Place(place));
    Ok(saved.await?)
}

/// Removes any permission for the embedding program, and for other clients one that counts in their Location.
pub(crate) async fn remove_saved(call: Call<op::PermissionSavedRemove>) -> Answered<()> {
    let place = if call.is_host {
        None
    } else {
        let opened = Opened::of(&call.runtime, call.selector).await?;
        Some(opened.location.approvals().to_owned())
    };
    let removed = call.runtime.remove_permission(call.params.id, place);
    removed.await?;
    Ok(())
}
