//! The conversation in wire form, written strictly by appending.
//!
//! A later request of the same conversation repeats this one and adds to it, so written bytes are
//! never written again or changed. A protocol leaves a message open as long as a later message may
//! still extend it. Only [`Transcript::rest`] writes the closing delimiters.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::json;
use opencode_llm::canonical::request::{Message, Role, SystemPart, ToolDefinition};
use serde::Serialize;
use serde_json::Value;

use super::blank::is_blank;

/// The wire form of a protocol for one model. Equal forms write equal bytes.
pub(super) trait Form: Clone + PartialEq + Send + 'static {
    /// State between two messages: missing delimiters and deferred content.
    type State: Clone + Default + Send + 'static;

    /// Writes the data before the first message. The texts are not empty.
    fn begin(&self, system: &[&str], page: &mut Page<Self::State>);

    /// Writes a message. Its role may carry all its parts.
    fn push(&self, message: &Message, page: &mut Page<Self::State>);

    /// Writes the closing message of a request, which no later request repeats.
    fn push_closing(&self, message: &Message, page: &mut Page<Self::State>);

    /// Writes deferred content, at the latest at the end of the request.
    fn settle(&self, page: &mut Page<Self::State>);

    /// Writes the missing delimiters and the data that servers require at the end of a request.
    fn close(&self, page: &mut Page<Self::State>);

    /// Returns a tool in wire form.
    fn tool(&self, tool: &ToolDefinition) -> Value;
}

/// The output of a protocol and its state.
pub(super) struct Page<S> {
    wire: Vec<u8>,
    /// True if other output precedes `wire`.
    is_continued: bool,
    /// The state of the protocol.
    pub(super) state: S,
}

impl<S> Page<S> {
    /// Appends raw bytes.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.wire.extend_from_slice(bytes);
    }

    /// Appends a value as JSON.
    pub(super) fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        json::write(&mut self.wire, value);
    }

    /// Appends text to an open string.
    pub(super) fn unquoted(&mut self, text: &str) {
        json::write_unquoted(&mut self.wire, text);
    }

    /// Returns the number of written bytes.
    pub(super) fn len(&self) -> usize {
        self.wire.len()
    }

    /// True if there is any output.
    pub(super) fn is_begun(&self) -> bool {
        self.is_continued || !self.wire.is_empty()
    }

    /// Appends a comma if there is any output.
    pub(super) fn separate(&mut self) {
        if self.is_begun() {
            self.wire.push(b',');
        }
    }
}

/// The written part of the conversation.
pub(super) struct Transcript<F: Form> {
    form: F,
    system: Vec<SystemPart>,
    messages: Vec<Message>,
    page: Page<F::State>,
}

impl<F: Form> Transcript<F> {
    /// Returns the approximate size in bytes. The conversation shares the texts of the messages.
    pub(super) fn bytes(&self) -> usize {
        /// Estimated size of the parts of a message without their texts, in bytes.
        const PARTS: usize = 256;
        let system = self.system.iter().map(|part| part.text.len());
        let messages =
            self.messages.capacity() * size_of::<Message>() + self.messages.len() * PARTS;
        self.page.wire.capacity() + system.sum::<usize>() + messages
    }

    /// Creates a conversation with only the opening system text.
    pub(super) fn new(form: F, system: &[SystemPart]) -> Self {
        let mut page = Page {
            wire: Vec::new(),
            is_continued: false,
            state: F::State::default(),
        };
        let texts: Vec<&str> = system
            .iter()
            .map(|part| &*part.text)
            .filter(|text| !is_blank(text))
            .collect();
        form.begin(&texts, &mut page);
        Self {
            form,
            system: system.to_vec(),
            messages: Vec::new(),
            page,
        }
    }

    /// Returns the form of the output.
    pub(super) fn form(&self) -> &F {
        &self.form
    }

    /// Returns the state of the protocol.
    pub(super) fn state(&self) -> &F::State {
        &self.page.state
    }

    /// True if a conversation continues this transcript.
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

    /// Writes the messages that follow this transcript.
    pub(super) fn extend_to(&mut self, messages: &[Message]) -> Result<(), LlmError> {
        for message in &messages[self.messages.len()..] {
            self.check(message)?;
            self.form.push(message, &mut self.page);
            self.messages.push(message.clone());
        }
        Ok(())
    }

    /// Returns the complete data that follows [`Transcript::wire`] in this request. `closing` is
    /// the last message of the request and not part of the conversation.
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

    /// Returns the output so far. A later request continues it.
    pub(super) fn wire(&self) -> &[u8] {
        &self.page.wire
    }

    /// Returns the data that follows the output in this request, without the closing delimiters of
    /// its last message.
    pub(super) fn end(&self) -> Vec<u8> {
        let mut rest = self.continuation();
        self.form.settle(&mut rest);
        rest.wire
    }

    /// Returns a temporary page that continues this one.
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
