//! Operations on the prompts of a session that wait to be promoted.

use opencode_protocol::operations as op;
use opencode_schema::prompt::SessionInputAdmitted;

use crate::router::answer::Answered;
use crate::router::operation::Call;

pub(crate) async fn list(call: Call<op::SessionInboxList>) -> Answered<Vec<SessionInputAdmitted>> {
    let inbox = call.runtime.inbox(&call.params.session_id);
    Ok(inbox.await?)
}

pub(crate) async fn withdraw(call: Call<op::SessionInboxWithdraw>) -> Answered<()> {
    let withdrawn = call
        .runtime
        .withdraw(&call.params.session_id, &call.params.message_id);
    withdrawn.await?;
    Ok(())
}

pub(crate) async fn set_delivery(
    call: Call<op::SessionInboxSetDelivery>,
) -> Answered<SessionInputAdmitted> {
    let changed = call.runtime.set_delivery(
        &call.params.session_id,
        &call.params.message_id,
        call.payload.delivery,
    );
    Ok(changed.await?)
}
