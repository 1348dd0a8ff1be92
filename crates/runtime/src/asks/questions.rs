//! Questions that models ask users.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use opencode_schema::display::DisplayText;
use opencode_schema::event::Notice;
use opencode_schema::id::{QuestionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::question::{
    QuestionAnswer, QuestionInfo, QuestionOption, QuestionRejected, QuestionReplied,
    QuestionRequest, QuestionTool,
};
use opencode_tools::{self as tools, QuestionError};

use super::unanswered::{AnswerTimeout, Unanswered};
use crate::asks::notice::RequestNotice;
use crate::asks::permissions::check_size;
use crate::asks::waiting::{Claim, Request, Waiting};
use crate::error::RuntimeError;
use crate::journal::Journal;

/// The questions of a host that wait for answers.
pub(crate) struct Questions {
    journal: Arc<Journal>,
    timeout: AnswerTimeout,
    waiting: Arc<Waiting<Pending>>,
}

/// Questions of one request, which wait together.
struct Pending {
    request: QuestionRequest,
    /// The Location of the session when it asked.
    location: LocationRef,
}

impl Pending {
    fn replied(&self, answers: &[QuestionAnswer]) -> Notice {
        Notice::QuestionReplied(QuestionReplied {
            session_id: self.request.session_id.clone(),
            request_id: self.request.id.clone(),
            answers: answers.to_vec(),
        })
    }
}

impl Request for Pending {
    type Id = QuestionID;
    type Answer = Result<Vec<QuestionAnswer>, QuestionError>;

    fn id(&self) -> &QuestionID {
        &self.request.id
    }

    fn session_id(&self) -> &SessionID {
        &self.request.session_id
    }

    fn location(&self) -> &LocationRef {
        &self.location
    }

    fn asked_notice(&self) -> Notice {
        Notice::QuestionAsked(self.request.clone())
    }

    fn ended_notice(&self) -> Notice {
        Notice::QuestionRejected(QuestionRejected {
            session_id: self.request.session_id.clone(),
            request_id: self.request.id.clone(),
        })
    }
}

impl Questions {
    pub(crate) fn new(journal: Arc<Journal>, timeout: AnswerTimeout) -> Self {
        let waiting = Arc::new(Waiting::new(Arc::clone(&journal.announcer)));
        Self {
            journal,
            timeout,
            waiting,
        }
    }

    /// Returns the waiting requests, then new ones, each once, and the end of each of them.
    pub(crate) fn attend(
        &self,
    ) -> impl Stream<Item = RequestNotice<QuestionRequest, QuestionID>> + Send + use<> {
        self.waiting.attend().map(|notice| match notice {
            RequestNotice::Asked(asked) => RequestNotice::Asked(asked.request.clone()),
            RequestNotice::Ended(ended) => RequestNotice::Ended(ended.request.id.clone()),
        })
    }

    /// Gives up all waiting requests and refuses all later ones.
    pub(crate) fn end(&self) {
        self.waiting.end();
    }

    /// Gives up the waiting requests of a session.
    pub(crate) fn withdraw(&self, session: &SessionID) {
        self.waiting.withdraw(session);
    }

    /// Returns the waiting requests of a session.
    pub(crate) fn of_session(&self, session: &SessionID) -> Vec<QuestionRequest> {
        self.shown(|pending| pending.request.session_id == *session)
    }

    /// Returns the waiting requests that came from a Location, of all sessions.
    pub(crate) fn of_location(&self, location: &LocationRef) -> Vec<QuestionRequest> {
        self.shown(|pending| pending.location == *location)
    }

    fn shown(&self, fits: impl Fn(&Pending) -> bool) -> Vec<QuestionRequest> {
        let waiting = self.waiting.list(fits);
        waiting.iter().map(|it| it.request.clone()).collect()
    }
}

impl Questions {
    /// Answers questions with any labels. Publishes the event before the effect.
    pub(crate) async fn reply_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
        answers: Vec<QuestionAnswer>,
    ) -> Result<(), RuntimeError> {
        let claim = self.claim_question(session, id).await?;
        check_size(&answers)?;
        let notice = claim.request().replied(&answers);
        claim.answer(notice, Ok(answers));
        Ok(())
    }

    /// Refuses to answer. Publishes the event before the effect.
    pub(crate) async fn reject_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
    ) -> Result<(), RuntimeError> {
        let claim = self.claim_question(session, id).await?;
        let notice = claim.request().ended_notice();
        claim.answer(notice, Err(QuestionError::Rejected));
        Ok(())
    }

    async fn claim_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
    ) -> Result<Claim<Pending>, RuntimeError> {
        self.journal.session(session).await?;
        let claim = self.waiting.claim(session, id);
        claim.ok_or_else(|| RuntimeError::QuestionNotFound(id.clone()))
    }

    async fn ask_question(&self, pending: Pending) -> Result<Vec<QuestionAnswer>, QuestionError> {
        if self.timeout.unanswered == Unanswered::Deny {
            self.waiting.refuse(&pending);
            return Err(QuestionError::Unanswered);
        }
        let timeout = self.timeout.wait();
        let asked = self.waiting.ask(pending).map_err(|reason| {
            tracing::warn!(?reason, "questions cannot be asked");
            QuestionError::Unanswered
        })?;
        let answer = asked.answer(timeout).await;
        answer.unwrap_or(Err(QuestionError::Unanswered))
    }
}

/// The question as users read it.
fn shown(asked: QuestionInfo) -> QuestionInfo {
    let options = asked.options.into_iter().map(|option| QuestionOption {
        label: DisplayText::line(option.label).into_string(),
        description: DisplayText::block(option.description).into_string(),
    });
    QuestionInfo {
        question: DisplayText::block(asked.question).into_string(),
        header: DisplayText::line(asked.header).into_string(),
        options: options.collect(),
        ..asked
    }
}

/// Asks the questions of the tools of one turn.
pub(crate) struct TurnQuestions {
    pub(crate) questions: Arc<Questions>,
    /// The Location of the session.
    pub(crate) place: LocationRef,
}

impl tools::Questions for TurnQuestions {
    fn ask(
        &self,
        asked: tools::QuestionRequest,
    ) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, QuestionError>> {
        let redaction = self.questions.journal.announcer.redaction();
        let questions: Vec<_> = asked.questions.into_iter().map(shown).collect();
        let request = QuestionRequest {
            id: QuestionID::generate(&self.questions.journal.ids),
            session_id: asked.source.session_id,
            questions: redaction.shown(&questions),
            tool: Some(QuestionTool {
                message_id: asked.source.message_id,
                call_id: asked.source.call_id,
            }),
        };
        let location = self.place.clone();
        Box::pin(self.questions.ask_question(Pending { request, location }))
    }
}
