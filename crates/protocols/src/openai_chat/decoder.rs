//! Decodes stream chunks into events.

use std::sync::Arc;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::{BlockId, LlmEvent};
use opencode_llm::canonical::model::CompatibleServer;
use opencode_llm::canonical::request::ToolDefinition;
use opencode_llm::sources::Sources;
use opencode_llm::surrogates;
use serde_json::Value;

use super::calls::Calls;
use super::chunk::{Choice, Chunk, Delta, Reason};
use super::cited::CitedPages;
use super::sealed::Collector;
use super::{failure, usage};
use crate::ends::End;
use crate::failure::is_told;
use crate::framed::{Frames, Sink};
use crate::generated_file;
use crate::openai_annotations::Annotations;
use crate::stream_data::DONE;

/// The state of one reply.
pub(super) struct ChatFrames {
    sources: Sources,
    /// The open text block.
    text: Option<BlockId>,
    text_blocks: u32,
    /// The annotations of the open text block.
    annotations: Annotations,
    /// The pages that the answer cites.
    cited: CitedPages,
    has_images: bool,
    /// The open reasoning block.
    reasoning: Option<BlockId>,
    reasoning_blocks: u32,
    calls: Calls,
    finish: Option<End>,
    /// The last usage report, not parsed, because some servers repeat it in every chunk.
    usage: String,
    /// The server, if it extends the protocol.
    server: Option<CompatibleServer>,
    /// The data of the reasoning that no block has yet.
    sealed: Collector,
    /// True after a delta, even an empty one.
    has_deltas: bool,
    /// True if a finish reason is no text.
    has_odd_finish: bool,
    /// True if the server sent `[DONE]`. A body that only ends does not set this.
    said_done: bool,
}

impl ChatFrames {
    pub(super) fn new(
        sources: Sources,
        server: Option<CompatibleServer>,
        tools: Arc<[ToolDefinition]>,
    ) -> Self {
        Self {
            sources,
            text: None,
            text_blocks: 0,
            annotations: Annotations::default(),
            cited: CitedPages::default(),
            has_images: false,
            reasoning: None,
            reasoning_blocks: 0,
            calls: Calls::new(tools),
            finish: None,
            usage: String::new(),
            server,
            sealed: Collector::new(server),
            has_deltas: false,
            has_odd_finish: false,
            said_done: false,
        }
    }
}

impl Frames for ChatFrames {
    fn frame(&mut self, data: &[u8], sink: &mut Sink<'_>) -> Result<(), LlmError> {
        if data == DONE {
            self.said_done = true;
            return self.end(sink);
        }
        let mut mended = Vec::new();
        let mut chunk: Chunk<'_> = sink.parse(data, &mut mended)?;
        if let Some(failure) = failure::reported(&chunk, data) {
            return sink.emit(failure);
        }
        if let Some(report) = chunk.usage() {
            self.usage.clear();
            self.usage.push_str(report.get());
        }
        self.cited.update(&chunk);
        match chunk.take_choice() {
            Some(choice) => self.choice(choice, sink),
            None => Ok(()),
        }
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let usage = usage::parse(&self.usage, self.server);
        let answered = self.text_blocks > 0 || self.has_images || !self.calls.is_empty();
        let end = match self.finish.take() {
            Some(end) => end,
            // The server considers the reply complete and only omitted the reason.
            None if self.said_done && answered && (usage.is_some() || self.has_odd_finish) => {
                End::UNSAID
            }
            None => return sink.end(),
        };
        let has_calls = !self.calls.is_empty();
        self.calls.complete(Some(end.reason(has_calls)), sink)?;
        self.cited.report(sink)?;
        sink.finish(&end, has_calls, usage, None)
    }

    fn has_reason(&self) -> bool {
        self.finish.is_some()
    }
}

impl ChatFrames {
    fn choice(&mut self, mut choice: Choice<'_>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        match (choice.delta.0.take(), choice.message.0.take()) {
            (Some(delta), _) => {
                self.has_deltas = true;
                self.delta(delta, sink)?;
            }
            // Behind deltas, a message repeats them.
            (None, Some(message)) if !self.has_deltas => self.delta(message, sink)?,
            _ => {}
        }
        self.has_odd_finish |= matches!(choice.finish_reason, Reason::Odd);
        let Some(end) = end_of(&mut choice) else {
            return Ok(());
        };
        if end.is_failure() {
            // The calls of an answer that failed stay incomplete, so they do not run.
            return sink.finish(&end, false, None, None);
        }
        if self.finish.is_none() {
            let reason = end.reason(!self.calls.is_empty());
            self.finish = Some(end);
            self.calls.complete(Some(reason), sink)?;
            // The answer is complete here, even if the connection stays open. The text must end
            // before a call that completes quickly.
            sink.release_calls()?;
            self.close_reasoning(sink)?;
            self.close_text(sink)?;
            if self.sealed.is_filled() {
                // They came after the text of the reasoning.
                self.reasoning(sink)?;
                self.close_reasoning(sink)?;
            }
        }
        Ok(())
    }

    fn delta(&mut self, mut delta: Box<Delta>, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let text = delta.take_reasoning();
        self.sealed.add_opaque(delta.reasoning_opaque.take());
        self.sealed
            .add_details(std::mem::take(&mut delta.reasoning_details.0));
        if let Some(text) = text {
            let id = self.reasoning(sink)?;
            sink.emit(LlmEvent::ReasoningDelta {
                id,
                text,
                provider_metadata: None,
            })?;
        }
        if let Some(text) = delta.take_text() {
            self.close_reasoning(sink)?;
            let id = self.text(sink)?;
            sink.emit(LlmEvent::TextDelta {
                id,
                text,
                provider_metadata: None,
            })?;
        }
        let annotations = std::mem::take(&mut delta.annotations.0);
        self.annotations.add(annotations, sink)?;
        let former = delta.function_call.0.take();
        for call in std::mem::take(&mut delta.tool_calls.0) {
            self.close_reasoning(sink)?;
            self.calls.push(call, sink)?;
        }
        if let Some(former) = former {
            self.close_reasoning(sink)?;
            self.calls.push_former(former, sink)?;
        }
        for (mime, content) in delta.images() {
            self.close_reasoning(sink)?;
            self.close_text(sink)?;
            self.has_images = true;
            let id = self.sources.call_id();
            generated_file::emit(id, mime, content, None, sink)?;
        }
        Ok(())
    }

    fn text(&mut self, sink: &mut Sink<'_>) -> Result<BlockId, LlmError> {
        if let Some(id) = &self.text {
            return Ok(Arc::clone(id));
        }
        let id: BlockId = format!("text-{}", self.text_blocks).into();
        self.text_blocks += 1;
        self.text = Some(Arc::clone(&id));
        sink.emit(LlmEvent::TextStart {
            id: Arc::clone(&id),
            provider_metadata: None,
        })?;
        Ok(id)
    }

    fn close_text(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        match self.text.take() {
            None => Ok(()),
            Some(id) => sink.emit(LlmEvent::TextEnd {
                id,
                provider_metadata: self.annotations.take(),
            }),
        }
    }

    /// Returns the open reasoning block. Reasoning that resumes after text starts another block.
    fn reasoning(&mut self, sink: &mut Sink<'_>) -> Result<BlockId, LlmError> {
        if let Some(id) = &self.reasoning {
            return Ok(Arc::clone(id));
        }
        let id: BlockId = format!("reasoning-{}", self.reasoning_blocks).into();
        self.reasoning_blocks += 1;
        self.reasoning = Some(Arc::clone(&id));
        sink.emit(LlmEvent::ReasoningStart {
            id: Arc::clone(&id),
            provider_metadata: None,
        })?;
        Ok(id)
    }

    fn close_reasoning(&mut self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        match self.reasoning.take() {
            None => Ok(()),
            Some(id) => sink.emit(LlmEvent::ReasoningEnd {
                id,
                provider_metadata: self.sealed.take(),
            }),
        }
    }
}

/// Returns the end that a choice reports. A failure of the choice may come without a name of the end.
fn end_of(choice: &mut Choice<'_>) -> Option<End> {
    let native = choice.native_finish_reason.take();
    let named = match &choice.finish_reason {
        Reason::Named(name) => End::of(name),
        Reason::Odd | Reason::None => None,
    };
    let error = choice
        .error
        .and_then(|error| surrogates::parse(error.get().as_bytes()).ok());
    let error: Value = error.unwrap_or_default();
    let is_failure = is_told(&error);
    let end = match named.map(|end| end.or_worse(native.as_deref())) {
        Some(end) if end.is_failure() || !is_failure => end,
        _ if is_failure => End::failed("error"),
        _ => return None,
    };
    Some(end.with_detail(error))
}
