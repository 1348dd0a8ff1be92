//! Operations that go back in a session.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Data;
use opencode_runtime::StageRevert;
use opencode_schema::session::RevertState;

use crate::router::operation::{Answer, Call};
use crate::wire::failure::failure;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn stage(call: Call<op::SessionRevertStage>) -> Answered<Data<RevertState>> {
    let payload = call.payload;
    let staged = call.runtime.stage_revert(StageRevert {
        session_id: call.params.session_id,
        message_id: payload.message_id,
        part_id: payload.part_id,
        files: payload.files.unwrap_or(true),
    });
    let data = staged.await.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn clear(call: Call<op::SessionRevertClear>) -> Answered<()> {
    let cleared = call.runtime.clear_revert(&call.params.session_id);
    cleared.await.map_err(failure)?;
    Ok(Answer::Nothing)
}

pub(crate) async fn commit(call: Call<op::SessionRevertCommit>) -> Answered<()> {
    let committed = call.runtime.commit_revert(&call.params.session_id);
    committed.await.map_err(failure)?;
    Ok(Answer::Nothing)
}
