//! The conversation in wire form, written strictly by appending.
//!
//! A following request of the same conversation repeats this one and adds to it. So what was written
//! is never written again, and never differently: a protocol leaves open what a later message may
//! still be added to, and only [`Transcript::rest`] writes the closing delimiters.

use serde::Serialize;
use serde_json::Value;

use crate::canonical::error::LlmError;
use crate::canonical::json;
use crate::canonical::request::{Message, Role, SystemPart, ToolDefinition};

/// How a protocol writes for one model. Equal forms write equal bytes.
pub(super) trait Form: Clone + PartialEq + Send + 'static {
    /// What is known between two messages: what the last one lacks, and what waits for its place.
    type State: Clone + Default + Send + 'static;

    /// Writes what stands before the first message. No text is empty.
    fn begin(&self, system: &[&str], page: &mut Page<Self::State>);

    /// Writes a message whose parts its role may carry.
    fn push(&self, message: &Message, page: &mut Page<Self::State>);

    /// Writes the message that closes a request, which no later request repeats.
    fn push_closing(&self, message: &Message, page: &mut Page<Self::State>);

    /// Writes what waits for its place. It has none later than the end of the request.
    fn settle(&self, page: &mut Page<Self::State>);

    /// Writes what must not be left open at the end of a request, and anything servers want there.
    fn close(&self, page: &mut Page<Self::State>);

    /// A tool as it is offered.
    fn tool(&self, tool: &ToolDefinition) -> Value;
}

/// What is written, and where it stands.
pub(super) struct Page<S> {
    wire: Vec<u8>,
    /// Something stands before `wire`.
    is_continued: bool,
    /// What the protocol has to know.
    pub(super) state: S,
}

impl<S> Page<S> {
    /// Appends bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.wire.extend_from_slice(bytes);
    }

    /// Appends a value as JSON.
    pub(super) fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        json::write(&mut self.wire, value);
    }

    /// Appends to a string that is open.
    pub(super) fn unquoted(&mut self, text: &str) {
        json::write_unquoted(&mut self.wire, text);
    }

    /// How many bytes are written.
    pub(super) fn len(&self) -> usize {
        self.wire.len()
    }

    /// Whether anything is written.
    pub(super) fn is_begun(&self) -> bool {
        self.is_continued || !self.wire.is_empty()
    }

    /// Appends a comma behind what is written.
    pub(super) fn separate(&mut self) {
        if self.is_begun() {
            self.wire.push(b',');
        }
    }
}

/// The conversation so far.
pub(super) struct Transcript<F: Form> {
    form: F,
    system: Vec<SystemPart>,
    messages: Vec<Message>,
    page: Page<F::State>,
}

impl<F: Form> Transcript<F> {
    /// About what it takes. The texts of the messages are shared with the conversation.
    pub(super) fn bytes(&self) -> usize {
        /// The parts of a message, without their texts.
        const PARTS: usize = 256;
        let system = self.system.iter().map(|part| part.text.len());
        let messages =
            self.messages.capacity() * size_of::<Message>() + self.messages.len() * PARTS;
        self.page.wire.capacity() + system.sum::<usize>() + messages
    }

    /// A conversation of nothing but the opening system text.
    pub(super) fn new(form: F, system: &[SystemPart]) -> Self {
        let mut page = Page {
            wire: Vec::new(),
            is_continued: false,
            state: F::State::default(),
        };
        let texts: Vec<&str> = system
            .iter()
            .map(|part| &*part.text)
            .filter(|text| !text.is_empty())
            .collect();
        form.begin(&texts, &mut page);
        Self {
            form,
            system: system.to_vec(),
            messages: Vec::new(),
            page,
        }
    }

    /// The form it is written in.
    pub(super) fn form(&self) -> &F {
        &self.form
    }

    /// What the protocol knows of what is written.
    pub(super) fn state(&self) -> &F::State {
        &self.page.state
    }

    /// Whether a conversation goes on where this one stopped.
    pub(super) fn is_prefix_of(
        &self,
        form: &F,
        system: &[SystemPart],
        messages: &[Message],
    ) -> bool {
        self.form == *form
            && self.system == system
            && self.messages.len() <= messages.len()
            && self
                .messages
                .iter()
                .zip(messages)
                .all(|(written, given)| written.is_same(given))
    }

    /// Writes what the conversation has beyond this transcript.
    pub(super) fn extend_to(&mut self, messages: &[Message]) -> Result<(), LlmError> {
        for message in &messages[self.messages.len()..] {
            self.check(message)?;
            self.form.push(message, &mut self.page);
            self.messages.push(message.clone());
        }
        Ok(())
    }

    /// What comes behind [`Transcript::wire`] in this request, complete. `closing` is the last
    /// message of it and no part of the conversation.
    pub(super) fn rest(&self, closing: Option<&Message>) -> Result<Vec<u8>, LlmError> {
        let mut rest = self.continuation();
        if let Some(message) = closing {
            self.check(message)?;
            self.form.push_closing(message, &mut rest);
        }
        self.form.settle(&mut rest);
        self.form.close(&mut rest);
        Ok(rest.wire)
    }

    /// What is written so far. A following request goes on from there.
    pub(super) fn wire(&self) -> &[u8] {
        &self.page.wire
    }

    /// What this request says behind that, without what closes its last message.
    pub(super) fn end(&self) -> Vec<u8> {
        let mut rest = self.continuation();
        self.form.settle(&mut rest);
        rest.wire
    }

    /// A page that goes on from this one and is thrown away.
    fn continuation(&self) -> Page<F::State> {
        Page {
            wire: Vec::new(),
            is_continued: !self.page.wire.is_empty(),
            state: self.page.state.clone(),
        }
    }

    fn check(&self, message: &Message) -> Result<(), LlmError> {
        message.check()?;
        let last = self.messages.last().map(|last| last.role);
        if (last, message.role) == (Some(Role::System), Role::Tool) {
            return Err(LlmError::invalid_request(
                "a system message cannot stand between a tool call and its result",
            ));
        }
        Ok(())
    }
}
