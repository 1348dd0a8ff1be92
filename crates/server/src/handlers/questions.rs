//! Operations on the questions that models ask people.

use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_schema::question::QuestionRequest;

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn list(call: Call<op::SessionQuestionList>) -> Answered<Vec<QuestionRequest>> {
    let waiting = call.runtime.questions(&call.params.session_id);
    Ok(waiting.await?)
}

pub(crate) async fn reply(call: Call<op::SessionQuestionReply>) -> Answered<()> {
    let params = call.params;
    let replied =
        call.runtime
            .reply_question(&params.session_id, &params.request_id, call.payload.answers);
    replied.await?;
    Ok(())
}

pub(crate) async fn reject(call: Call<op::SessionQuestionReject>) -> Answered<()> {
    let params = call.params;
    let rejected = call
        .runtime
        .reject_question(&params.session_id, &params.request_id);
    rejected.await?;
    Ok(())
}

pub(crate) async fn requests(
    call: Call<op::QuestionRequestList>,
) -> Answered<Located<Vec<QuestionRequest>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let waiting = call.runtime.question_requests(&opened.place());
    Ok(opened.with(waiting))
}
