//! Operations on sessions whose activity was interrupted.

use opencode_protocol::operations as op;
use opencode_protocol::output::{InterruptedSession, InterruptedState};
use opencode_runtime::Interrupted;

use crate::router::answer::Answered;
use crate::router::operation::Call;

pub(crate) async fn resume(call: Call<op::SessionResume>) -> Answered<()> {
    let resumed = call.runtime.resume(&call.params.session_id);
    resumed.await?;
    Ok(())
}

pub(crate) async fn interrupted(
    call: Call<op::SessionInterrupted>,
) -> Answered<Vec<InterruptedSession>> {
    let interrupted = call.runtime.interrupted().await?;
    Ok(interrupted.into_iter().map(to_wire).collect())
}

fn to_wire(cut: Interrupted) -> InterruptedSession {
    use opencode_runtime::InterruptedState as Cut;
    InterruptedSession {
        session_id: cut.session_id,
        state: match cut.state {
            Cut::InputUnanswered => InterruptedState::InputUnanswered,
            Cut::StepOpen => InterruptedState::StepOpen,
            Cut::ContinuationDue => InterruptedState::ContinuationDue,
        },
        message_id: cut.message_id,
        seq: cut.seq.into(),
        time: cut.time,
    }
}
