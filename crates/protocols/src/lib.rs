//! The wire protocols, and the HTTP client that speaks them.
//!
//! Only this crate knows the wire format of each provider, the framing of its stream and the names of its failures. It
//! implements [`opencode_llm::ModelClient`]; the engine does not depend on it.
//!
//! Each protocol is a folder with two pure parts: an encoder from a canonical request to a body,
//! and a decoder from response bytes to canonical events. Neither uses a network, so tests use
//! plain bytes. To add a protocol, add its folder and its arm in [`adapter`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod adapters;
mod alternating;
mod anthropic;
mod bedrock;
mod blank;
mod body;
mod body_start;
mod call_ids;
mod copilot;
mod deviations;
mod ends;
mod failure;
mod framed;
mod gemini;
mod generated_file;
mod identifiers;
mod loose;
mod loose_objects;
mod media;
mod metadata;
mod mid_conversation;
mod open_call;
mod openai;
mod openai_annotations;
mod openai_chat;
mod openai_responses;
mod overlay;
mod pending_surrogates;
mod prefix;
mod program;
mod protocol;
mod published;
mod repaired_input;
mod restored;
mod sse;
mod stream_data;
mod tool_input;
mod tool_schema;
mod transcript;
pub mod transport;
mod waiting_calls;

pub use adapters::adapter;
pub use protocol::{Decoder, Protocol, WireRequest};
pub use transport::{HttpModelClient, HttpOptions};
