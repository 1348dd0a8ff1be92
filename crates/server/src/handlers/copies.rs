//! The shared copy of a session, and the files that its steps changed.

use opencode_protocol::operations as op;
use opencode_schema::session::{FileDiff, SessionInfo};

use crate::router::answer::Answered;
use crate::router::operation::Call;

pub(crate) async fn diff(call: Call<op::SessionDiff>) -> Answered<Vec<FileDiff>> {
    let diff = call
        .runtime
        .diff(&call.params.session_id, call.query.message_id);
    Ok(diff.await?)
}

pub(crate) async fn share(call: Call<op::SessionShare>) -> Answered<SessionInfo> {
    Ok(call.runtime.share(&call.params.session_id).await?)
}

pub(crate) async fn unshare(call: Call<op::SessionUnshare>) -> Answered<SessionInfo> {
    Ok(call.runtime.unshare(&call.params.session_id).await?)
}
