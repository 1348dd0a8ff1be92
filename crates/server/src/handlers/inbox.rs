//! Operations on the prompts of a session that wait to be promoted.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Data;
use opencode_schema::prompt::SessionInputAdmitted;

use crate::router::operation::{Answer, Call};
use crate::wire::failure::failure;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn list(
    call: Call<op::SessionInboxList>,
) -> Answered<Data<Vec<SessionInputAdmitted>>> {
    let inbox = call.runtime.inbox(&call.params.session_id);
    let data = inbox.await.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn withdraw(call: Call<op::SessionInboxWithdraw>) -> Answered<()> {
    let withdrawn = call
        .runtime
        .withdraw(&call.params.session_id, &call.params.message_id);
    withdrawn.await.map_err(failure)?;
    Ok(Answer::Nothing)
}

pub(crate) async fn set_delivery(
    call: Call<op::SessionInboxSetDelivery>,
) -> Answered<Data<SessionInputAdmitted>> {
    let changed = call.runtime.set_delivery(
        &call.params.session_id,
        &call.params.message_id,
        call.payload.delivery,
    );
    let data = changed.await.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}
