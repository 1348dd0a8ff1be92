//! Prompts and their changes before the promotion.

use futures::future::join_all;
use opencode_runtime::{Order, PromptRequest, RuntimeError};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::prompt::{
    Delivery, PromptInput, PromptInputFileAttachment, PromptSettings, SessionInputAdmitted,
};

use super::{Driver, problem};
use crate::line::{Asked, Line, SeenInput, say};
use crate::model::SILENT;

impl Asked {
    /// The request. It is equal for each attempt.
    #[must_use]
    pub fn request(&self) -> PromptRequest {
        PromptRequest {
            session_id: self.session.clone(),
            id: self.id.clone(),
            prompt: self.prompt.clone(),
            delivery: self.delivery,
            resume: self.resume,
            settings: PromptSettings::default(),
            mentions: true,
            command: None,
        }
    }
}

impl Driver {
    /// Admits a prompt with steer delivery, and waits for its answer in half of the cases.
    pub(super) async fn steer(&mut self) {
        let asked = self.new_prompt(Delivery::Steer, true);
        self.ask(&asked).await;
        if self.random.below(2) == 0 {
            self.wait(&asked.session).await;
        }
    }

    /// Admits a prompt to this session and waits until the session is idle.
    pub(super) async fn prompt_and_wait(&mut self, session: &SessionID) {
        self.prompt_in(session).await;
        self.wait(session).await;
    }

    /// Admits a prompt to this session.
    pub(super) async fn prompt_in(&mut self, session: &SessionID) {
        let asked = Asked {
            session: session.clone(),
            ..self.new_prompt(Delivery::Steer, true)
        };
        self.ask(&asked).await;
    }

    /// Admits several prompts at once. One of them starts the drain.
    pub(super) async fn steer_together(&mut self) {
        let first = self.new_prompt(Delivery::Steer, true);
        let asked: Vec<_> = (0..3)
            .map(|_| Asked {
                session: first.session.clone(),
                ..self.new_prompt(Delivery::Steer, true)
            })
            .chain([first.clone()])
            .collect();
        join_all(asked.iter().map(|asked| self.admit(asked))).await;
        self.asked.extend(asked);
    }

    /// Admits a prompt that waits for the end of the activity, and one that steers.
    pub(super) async fn queue(&mut self) {
        let queued = self.new_prompt(Delivery::Queue, true);
        self.ask(&queued).await;
        self.pause().await;
        let steer = Asked {
            session: queued.session,
            ..self.new_prompt(Delivery::Steer, true)
        };
        self.ask(&steer).await;
    }

    /// Admits two prompts that do not wake the session. They stay pending until another call wakes it.
    pub(super) async fn leave_and_wait(&mut self) {
        let session = self.leave(Delivery::Queue).await;
        self.leave_in(&session, Delivery::Steer).await;
    }

    async fn leave_in(&mut self, session: &SessionID, delivery: Delivery) {
        let asked = Asked {
            session: session.clone(),
            ..self.new_prompt(delivery, false)
        };
        self.ask(&asked).await;
    }

    async fn leave(&mut self, delivery: Delivery) -> SessionID {
        let asked = self.new_prompt(delivery, false);
        self.ask(&asked).await;
        asked.session
    }

    /// Retries an admitted prompt. Its receipt must be the same.
    pub(super) async fn retry(&mut self) {
        if self.asked.is_empty() {
            return self.steer().await;
        }
        let asked = self.random.choose(&self.asked).clone();
        if asked.id.is_some() {
            self.admit(&asked).await;
        }
    }

    /// Admits the same prompt several times at once. Only one admission takes effect.
    pub(super) async fn retry_at_once(&mut self) {
        let asked = self.new_prompt(Delivery::Queue, true);
        let id = self.message_id();
        let asked = Asked {
            id: Some(id),
            ..asked
        };
        join_all((0..3).map(|_| self.admit(&asked))).await;
        self.asked.push(asked);
    }

    /// Withdraws a pending input.
    pub(super) async fn withdraw(&mut self) {
        let Some(pending) = self.some_pending().await else {
            return;
        };
        let input = seen(&pending);
        say(&Line::Withdrawing(input.clone()));
        let withdrawn = self.runtime.withdraw(&pending.session_id, &pending.id);
        match withdrawn.await {
            Ok(()) => {
                self.asked.retain(|asked| asked.prompt.text != input.text);
                say(&Line::Withdrawn(input));
            }
            Err(RuntimeError::InputPromoted(_)) => say(&Line::TooLate(input)),
            Err(error) => problem("withdraw", &error),
        }
    }

    /// Changes the delivery of a pending input.
    pub(super) async fn redeliver(&mut self) {
        let Some(pending) = self.some_pending().await else {
            return;
        };
        let delivery = match pending.delivery {
            Delivery::Steer => Delivery::Queue,
            Delivery::Queue => Delivery::Steer,
        };
        let input = seen(&pending);
        let session = pending.session_id;
        say(&Line::Waking {
            session: session.clone(),
        });
        say(&Line::Redelivering {
            input: input.clone(),
            delivery,
        });
        let changed = self.runtime.set_delivery(&session, &pending.id, delivery);
        match changed.await {
            Ok(_) => say(&Line::Redelivered { input, delivery }),
            Err(RuntimeError::InputPromoted(_)) => say(&Line::TooLate(input)),
            Err(error) => problem("set_delivery", &error),
        }
    }

    /// A pending input in a session of this driver.
    async fn some_pending(&mut self) -> Option<SessionInputAdmitted> {
        let mut session = self.leave(Delivery::Steer).await;
        let mut inbox = self.runtime.inbox(&session).await;
        if inbox.as_ref().is_ok_and(Vec::is_empty) {
            // A running drain has promoted it. In a new session nothing runs.
            self.create().await;
            session.clone_from(self.sessions.last()?);
            self.leave_in(&session, Delivery::Steer).await;
            inbox = self.runtime.inbox(&session).await;
        }
        let inbox = self.done("inbox", inbox)?;
        Some(self.random.choose(&inbox).clone())
    }

    /// Interrupts running work at an arbitrary point.
    pub(super) async fn interrupt(&mut self) {
        let asked = self.new_prompt(Delivery::Steer, true);
        self.ask(&asked).await;
        self.pause().await;
        self.stop(asked.session).await;
    }

    /// Interrupts a session between the promotion of a prompt and the first output. In a new
    /// session nothing else runs.
    pub(super) async fn interrupt_unanswered(&mut self) {
        self.create().await;
        let asked = Asked {
            session: self.sessions.last().expect("there is a session").clone(),
            id: Some(self.message_id()),
            prompt: PromptInput {
                text: format!("Prompt {}{SILENT}", self.fresh_name()),
                files: None,
                agents: None,
            },
            delivery: Delivery::Steer,
            resume: true,
        };
        self.ask(&asked).await;
        while !self.is_promoted(&asked.session).await {
            self.pause().await;
        }
        self.stop(asked.session).await;
    }

    /// True if the session has a promoted prompt, or if its messages cannot be read.
    async fn is_promoted(&self, session: &SessionID) -> bool {
        let messages = self.runtime.messages(session, Order::Descending, None, 1);
        let messages = self.done("messages", messages.await);
        messages.is_none_or(|messages| !messages.is_empty())
    }

    async fn stop(&self, session: SessionID) {
        if self
            .done("interrupt", self.runtime.interrupt(&session).await)
            .is_some()
        {
            say(&Line::Quiet { session });
        }
    }

    /// Admits a prompt that does not wake the session, and then resumes the session.
    pub(super) async fn resume(&mut self) {
        let session = self.leave(Delivery::Steer).await;
        say(&Line::Waking {
            session: session.clone(),
        });
        self.done("resume", self.runtime.resume(&session).await);
    }

    async fn ask(&mut self, asked: &Asked) {
        if self.admit(asked).await {
            self.asked.push(asked.clone());
        }
    }

    /// Returns true if the prompt was admitted, now or earlier.
    pub(super) async fn admit(&self, asked: &Asked) -> bool {
        say(&Line::Asked(asked.clone()));
        let answer = self.runtime.prompt(asked.request()).await;
        let receipt = self.done("prompt", answer);
        let is_admitted = receipt.is_some();
        if let Some(receipt) = receipt {
            say(&Line::Admitted { receipt });
        }
        is_admitted
    }

    fn new_prompt(&mut self, delivery: Delivery, resume: bool) -> Asked {
        let text = format!("Prompt {} \u{fc}\u{1f980}", self.fresh_name());
        let file = PromptInputFileAttachment {
            uri: "data:text/plain;base64,SGVsbG8=".to_owned(),
            name: Some("hello.txt".to_owned()),
            description: None,
            source: None,
        };
        let has_file = self.random.below(4) == 0;
        let has_id = self.random.below(4) > 0;
        Asked {
            session: self.any_session(),
            id: has_id.then(|| self.message_id()),
            prompt: PromptInput {
                text,
                files: has_file.then(|| vec![file]),
                agents: None,
            },
            delivery,
            resume,
        }
    }

    pub(super) fn message_id(&mut self) -> MessageID {
        MessageID::parse(&format!("msg_{}", self.fresh_name())).expect("it is an id")
    }
}

fn seen(pending: &SessionInputAdmitted) -> SeenInput {
    SeenInput {
        id: pending.id.clone(),
        text: pending.prompt.text.clone(),
    }
}
