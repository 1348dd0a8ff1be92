//! Operations on sessions whose activity was cut.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::{Data, InterruptedSession, InterruptedState};
use opencode_runtime::Interrupted;

use crate::router::operation::{Answer, Call};
use crate::wire::failure::failure;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn resume(call: Call<op::SessionResume>) -> Answered<()> {
    let resumed = call.runtime.resume(&call.params.session_id);
    resumed.await.map_err(failure)?;
    Ok(Answer::Nothing)
}

pub(crate) async fn interrupted(
    call: Call<op::SessionInterrupted>,
) -> Answered<Data<Vec<InterruptedSession>>> {
    let interrupted = call.runtime.interrupted().await.map_err(failure)?;
    let data = interrupted.into_iter().map(told).collect();
    Ok(Answer::Value(Data { data }))
}

fn told(cut: Interrupted) -> InterruptedSession {
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
