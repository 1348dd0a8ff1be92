//! Calls with the arguments that their tools expect, whatever the form of their schemas on the wire.

use std::sync::Arc;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::LlmEvent;
use opencode_llm::canonical::model::ResolvedModel;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::{LlmRequest, ToolDefinition};
use opencode_llm::sources::Sources;

use super::protocol::{Decoder, Protocol, WireRequest};
use super::tool_schema;

/// A protocol whose decoder changes arguments back.
pub(super) struct Restored<P>(pub(super) P);

impl<P: Protocol> Protocol for Restored<P> {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        self.0.encode(request)
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        self.0.prefix(request, former)
    }

    fn decoder(&self, request: &LlmRequest, sources: &Sources) -> Box<dyn Decoder> {
        let decoder = self.0.decoder(request, sources);
        if request.tools.is_empty() {
            return decoder;
        }
        Box::new(RestoredCalls {
            decoder,
            model: Arc::clone(&request.model),
            tools: Arc::clone(&request.tools),
        })
    }
}

struct RestoredCalls {
    decoder: Box<dyn Decoder>,
    model: Arc<ResolvedModel>,
    tools: Arc<[ToolDefinition]>,
}

impl RestoredCalls {
    fn restore(&self, events: &mut [LlmEvent]) {
        for event in events {
            let LlmEvent::ToolCall {
                name,
                input,
                provider_executed: false,
                ..
            } = event
            else {
                continue;
            };
            let tool = self.tools.iter().find(|tool| *tool.name == **name);
            if let Some(tool) = tool {
                tool_schema::restore(&self.model, &tool.input_schema, input);
            }
        }
    }
}

impl Decoder for RestoredCalls {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        let known = out.len();
        let outcome = self.decoder.push(chunk, out);
        self.restore(&mut out[known..]);
        outcome
    }

    fn end(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError> {
        let known = out.len();
        let outcome = self.decoder.end(out);
        self.restore(&mut out[known..]);
        outcome
    }

    fn is_over(&self) -> bool {
        self.decoder.is_over()
    }

    fn has_reason(&self) -> bool {
        self.decoder.has_reason()
    }
}
