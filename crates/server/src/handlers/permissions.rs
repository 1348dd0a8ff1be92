//! Operations on permissions: what waits for an answer, and what was answered for good.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::{Data, Located, PermissionDecision};
use opencode_runtime::AskPermission;
use opencode_schema::permission::{PermissionRequest, SavedPermission};

use crate::router::operation::{Answer, Call};
use crate::router::selector::Opened;
use crate::wire::failure::failure;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn list(
    call: Call<op::SessionPermissionList>,
) -> Answered<Data<Vec<PermissionRequest>>> {
    let waiting = call.runtime.permissions(&call.params.session_id);
    let data = waiting.await.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn get(call: Call<op::SessionPermissionGet>) -> Answered<Data<PermissionRequest>> {
    let params = call.params;
    let found = call
        .runtime
        .permission(&params.session_id, &params.request_id);
    let data = found.await.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn create(
    call: Call<op::SessionPermissionCreate>,
) -> Answered<Data<PermissionDecision>> {
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
    let decided = decided.await.map_err(failure)?;
    let data = PermissionDecision {
        id: decided.id,
        effect: decided.effect,
    };
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn reply(call: Call<op::SessionPermissionReply>) -> Answered<()> {
    let (params, payload) = (call.params, call.payload);
    let replied = call.runtime.reply_permission(
        &params.session_id,
        &params.request_id,
        payload.reply,
        payload.message,
    );
    replied.await.map_err(failure)?;
    Ok(Answer::Nothing)
}

pub(crate) async fn requests(
    call: Call<op::PermissionRequestList>,
) -> Answered<Located<Vec<PermissionRequest>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let waiting = call.runtime.permission_requests(&opened.place());
    Ok(Answer::Value(opened.with(waiting)))
}

pub(crate) async fn saved(
    call: Call<op::PermissionSavedList>,
) -> Answered<Data<Vec<SavedPermission>>> {
    let saved = match call.query.project_id {
        Some(project) => call.runtime.saved_permissions_of_project(project).await,
        None => {
            let opened = Opened::of(&call.runtime, call.selector).await?;
            let project = opened.location.approvals().to_owned();
            call.runtime.saved_permissions(project).await
        }
    };
    let data = saved.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn remove_saved(call: Call<op::PermissionSavedRemove>) -> Answered<()> {
    let removed = call.runtime.remove_permission(call.params.id);
    removed.await.map_err(failure)?;
    Ok(Answer::Nothing)
}
