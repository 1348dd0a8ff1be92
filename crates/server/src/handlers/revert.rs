//! Operations that revert a session to an earlier message.

use opencode_protocol::operations as op;
use opencode_runtime::StageRevert;
use opencode_schema::session::RevertState;

use crate::router::answer::Answered;
use crate::router::operation::Call;

pub(crate) async fn stage(call: Call<op::SessionRevertStage>) -> Answered<RevertState> {
    let payload = call.payload;
    let staged = call.runtime.stage_revert(StageRevert {
        session_id: call.params.session_id,
        message_id: payload.message_id,
        part_id: payload.part_id,
        exact: payload.exact.unwrap_or(false),
        files: payload.files.unwrap_or(true),
    });
    Ok(staged.await?)
}

pub(crate) async fn clear(call: Call<op::SessionRevertClear>) -> Answered<()> {
    let cleared = call.runtime.clear_revert(&call.params.session_id);
    cleared.await?;
    Ok(())
}

pub(crate) async fn commit(call: Call<op::SessionRevertCommit>) -> Answered<()> {
    let committed = call.runtime.commit_revert(&call.params.session_id);
    committed.await?;
    Ok(())
}
