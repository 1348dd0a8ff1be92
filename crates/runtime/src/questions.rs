//! Questions that models ask people.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use opencode_schema::event::Notice;
use opencode_schema::id::{IdSource, QuestionID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::question::{
    QuestionAnswer, QuestionRejected, QuestionReplied, QuestionRequest,
};
use opencode_tools::{self as tools, QuestionError};

use crate::attended::Attended;
use crate::core::Core;
use crate::error::RuntimeError;
use crate::live::LiveEvents;
use crate::permissions::check_size;
use crate::waiting::{Claim, Request, Waiting};

/// The questions of a host that wait for their answers.
pub(crate) struct Questions {
    waiting: Arc<Waiting<Pending>>,
}

/// Questions that wait together.
struct Pending {
    request: QuestionRequest,
    /// Where the session was when it asked.
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

    fn asked(&self) -> Notice {
        Notice::QuestionAsked(self.request.clone())
    }

    fn given_up(&self) -> Notice {
        Notice::QuestionRejected(QuestionRejected {
            session_id: self.request.session_id.clone(),
            request_id: self.request.id.clone(),
        })
    }
}

impl Questions {
    pub(crate) fn new(live: &Arc<LiveEvents>, ids: &Arc<IdSource>) -> Self {
        let waiting = Waiting::new(Arc::clone(live), Arc::clone(ids));
        Self {
            waiting: Arc::new(waiting),
        }
    }

    /// The requests that wait, then those that come, each once, and the end of each of them.
    pub(crate) fn attend(
        &self,
    ) -> impl Stream<Item = Attended<QuestionRequest, QuestionID>> + Send + use<> {
        self.waiting.attend().map(|notice| match notice {
            Attended::Asked(asked) => Attended::Asked(asked.request.clone()),
            Attended::Ended(ended) => Attended::Ended(ended.request.id.clone()),
        })
    }

    /// Gives up everything that waits, and whatever is asked from now on.
    pub(crate) fn end(&self) {
        self.waiting.end();
    }

    /// What waits in a session.
    pub(crate) fn of_session(&self, session: &SessionID) -> Vec<QuestionRequest> {
        self.shown(|pending| pending.request.session_id == *session)
    }

    /// What waits and came from a Location, in whichever session.
    pub(crate) fn of_location(&self, location: &LocationRef) -> Vec<QuestionRequest> {
        self.shown(|pending| pending.location == *location)
    }

    fn shown(&self, fits: impl Fn(&Pending) -> bool) -> Vec<QuestionRequest> {
        let waiting = self.waiting.list(fits);
        waiting.iter().map(|it| it.request.clone()).collect()
    }
}

impl Core {
    /// Gives questions their answers, whatever labels these hold. The event precedes the effect.
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

    /// Refuses to answer. The event precedes the effect.
    pub(crate) async fn reject_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
    ) -> Result<(), RuntimeError> {
        let claim = self.claim_question(session, id).await?;
        let notice = claim.request().given_up();
        claim.answer(notice, Err(QuestionError::Rejected));
        Ok(())
    }

    async fn claim_question(
        &self,
        session: &SessionID,
        id: &QuestionID,
    ) -> Result<Claim<Pending>, RuntimeError> {
        self.session(session).await?;
        let claim = self.questions.waiting.claim(session, id);
        claim.ok_or_else(|| RuntimeError::QuestionNotFound(id.clone()))
    }

    async fn ask_question(&self, pending: Pending) -> Result<Vec<QuestionAnswer>, QuestionError> {
        let patience = self.patience();
        let asked = self.questions.waiting.ask(pending).map_err(|reason| {
            tracing::warn!(?reason, "questions cannot be asked");
            QuestionError::Unanswered
        })?;
        let answer = asked.answer(patience).await;
        answer.unwrap_or(Err(QuestionError::Unanswered))
    }
}

/// Asks what the tools of one turn want to know.
pub(crate) struct TurnQuestions {
    pub(crate) core: Arc<Core>,
    /// Where the session is.
    pub(crate) place: LocationRef,
}

impl tools::Questions for TurnQuestions {
    fn ask(
        &self,
        asked: tools::QuestionRequest,
    ) -> BoxFuture<'_, Result<Vec<QuestionAnswer>, QuestionError>> {
        let request = QuestionRequest {
            id: QuestionID::generate(&self.core.ids),
            session_id: asked.session_id,
            questions: asked.questions,
            tool: Some(asked.source),
        };
        let location = self.place.clone();
        Box::pin(self.core.ask_question(Pending { request, location }))
    }
}
