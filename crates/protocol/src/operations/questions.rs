//! Questions of models to users.

use opencode_schema::question::{QuestionReply, QuestionRequest};

use crate::input::{LocationSelection, QuestionParams, SessionParams};
use crate::operation::operations;
use crate::output::Located;

operations! {
    /// Lists the questions of a session that wait for an answer.
    SessionQuestionList = "v2.session.question.list" => "questions.list" {
        Get "/api/session/{sessionID}/question",
        params: SessionParams,
        success: value(Vec<QuestionRequest>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Answers questions.
    SessionQuestionReply = "v2.session.question.reply" => "questions.reply" {
        Post "/api/session/{sessionID}/question/{requestID}/reply",
        params: QuestionParams,
        payload: QuestionReply,
        success: void,
        errors: [SessionNotFound, QuestionNotFound],
        middleware: [Authorization, Session],
    }

    /// Refuses to answer questions. The activity that asked them ends.
    SessionQuestionReject = "v2.session.question.reject" => "questions.reject" {
        Post "/api/session/{sessionID}/question/{requestID}/reject",
        params: QuestionParams,
        success: void,
        errors: [SessionNotFound, QuestionNotFound],
        middleware: [Authorization, Session],
    }

    /// Lists the questions of all sessions of a Location that wait for an answer.
    QuestionRequestList = "v2.question.request.list" => "questions.listRequests" {
        Get "/api/question/request",
        query: LocationSelection,
        success: whole(Located<Vec<QuestionRequest>>),
        errors: [],
        middleware: [Authorization, Location],
    }
}
