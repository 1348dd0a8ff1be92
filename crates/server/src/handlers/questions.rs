//! Operations on the questions that models ask people.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::{Data, Located};
use opencode_schema::question::QuestionRequest;

use crate::router::operation::{Answer, Call};
use crate::router::selector::Opened;
use crate::wire::failure::failure;

type Answered<T> = Result<Answer<T>, Failure>;

pub(crate) async fn list(
    call: Call<op::SessionQuestionList>,
) -> Answered<Data<Vec<QuestionRequest>>> {
    let waiting = call.runtime.questions(&call.params.session_id);
    let data = waiting.await.map_err(failure)?;
    Ok(Answer::Value(Data { data }))
}

pub(crate) async fn reply(call: Call<op::SessionQuestionReply>) -> Answered<()> {
    let params = call.params;
    let replied =
        call.runtime
            .reply_question(&params.session_id, &params.request_id, call.payload.answers);
    replied.await.map_err(failure)?;
    Ok(Answer::Nothing)
}

pub(crate) async fn reject(call: Call<op::SessionQuestionReject>) -> Answered<()> {
    let params = call.params;
    let rejected = call
        .runtime
        .reject_question(&params.session_id, &params.request_id);
    rejected.await.map_err(failure)?;
    Ok(Answer::Nothing)
}

pub(crate) async fn requests(
    call: Call<op::QuestionRequestList>,
) -> Answered<Located<Vec<QuestionRequest>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let waiting = call.runtime.question_requests(&opened.place());
    Ok(Answer::Value(opened.with(waiting)))
}
