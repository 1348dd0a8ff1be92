//! The streams in the tests of the official SDKs: every decoder reads them as those SDKs do. `data/README.md` says
//! where they come from.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod anthropic;
mod bedrock;
mod google;
mod openai;
#[path = "../common/run.rs"]
mod run;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use opencode_llm::{
    BlockId, CallProblem, LlmEvent, LlmRequest, ProtocolId, ResolvedModel, Sources, ToolResultValue,
};
use opencode_protocols::{self as protocol, Decoder};

use self::run::{Outcome, decode_by};

/// A stream, and the lines that [`outline`] returns for it.
type Row = (&'static str, &'static [&'static str]);

fn decoder(id: ProtocolId) -> Box<dyn Decoder> {
    let model = ResolvedModel::new("mock", "m1", id, "http://localhost:1");
    let request = LlmRequest::new(Arc::new(model));
    protocol::adapter(id).decoder(&request, &Sources::default())
}

/// Checks every stream of a folder, whole and byte by byte. A file without a row is an error.
fn check(folder: &str, id: ProtocolId, rows: &[Row]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/sdk_streams/data")
        .join(folder);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut named: Vec<_> = rows.iter().map(|(name, _)| format!("{name}.sse")).collect();
    named.sort();
    assert_eq!(files, named);
    for (name, expected) in rows {
        let stream = fs::read(folder.join(format!("{name}.sse"))).unwrap();
        let whole = decode(id, [stream.as_slice()]);
        let in_bytes = decode(id, stream.chunks(1));
        assert_eq!(outline(&whole), *expected, "{name}");
        assert_eq!(outline(&in_bytes), *expected, "{name}, byte by byte");
    }
}

fn decode<'a>(id: ProtocolId, chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    decode_by(decoder(id), chunks)
}

/// Returns one line for every block, call and result, one for the end with the counts (input, output, reasoning, read
/// from and written to the cache), and one for a failure.
fn outline((events, end): &Outcome) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut lines_of_blocks: HashMap<&BlockId, usize> = HashMap::new();
    for event in events {
        match event {
            LlmEvent::TextStart { id, .. } => {
                lines_of_blocks.insert(id, lines.len());
                lines.push("text ".to_owned());
            }
            LlmEvent::ReasoningStart { id, .. } => {
                lines_of_blocks.insert(id, lines.len());
                lines.push("reasoning ".to_owned());
            }
            LlmEvent::TextDelta { id, text, .. } | LlmEvent::ReasoningDelta { id, text, .. } => {
                lines[lines_of_blocks[id]].push_str(text);
            }
            LlmEvent::TextEnd {
                id,
                provider_metadata: Some(metadata),
                ..
            }
            | LlmEvent::ReasoningEnd {
                id,
                provider_metadata: Some(metadata),
                ..
            } => {
                let names: Vec<_> = metadata
                    .values()
                    .flat_map(|it| it.as_object().unwrap().keys().cloned())
                    .collect();
                write!(lines[lines_of_blocks[id]], " + {}", names.join(", ")).unwrap();
            }
            LlmEvent::ToolCall {
                id,
                name,
                input,
                provider_executed,
                ..
            } => {
                let kind = ["call", "hosted call"][usize::from(*provider_executed)];
                lines.push(format!("{kind} {id} {name} {input}"));
            }
            LlmEvent::InvalidToolCall {
                id, name, problem, ..
            } => {
                let reason = match problem {
                    CallProblem::Name(reason) | CallProblem::Input { reason, .. } => reason,
                };
                lines.push(format!("invalid call {id} {name}: {reason}"));
            }
            LlmEvent::ToolResult {
                id, name, result, ..
            } => lines.push(format!("result {id} {name} {}", kind_of(result))),
            LlmEvent::ToolError {
                id, name, message, ..
            } => lines.push(format!("failed call {id} {name} {message}")),
            LlmEvent::Cited(source) => {
                lines.push(format!("source {}", serde_json::to_string(source).unwrap()));
            }
            LlmEvent::Finish {
                reason,
                usage,
                provider_metadata,
            } => {
                let counts = usage.as_ref().map(|usage| {
                    let it = usage.counts();
                    let (read, written) = (it.cache_read, it.cache_write);
                    format!(
                        "{} {} {} {read} {written}",
                        it.input, it.output, it.reasoning
                    )
                });
                let counts = counts.unwrap_or_else(|| "no counts".to_owned());
                lines.push(format!("{} {counts}", reason.as_str()));
                if let Some(metadata) = provider_metadata {
                    for about in metadata.values() {
                        lines.push(format!("about {about}"));
                    }
                }
            }
            LlmEvent::ProviderError { message, kind, .. } => {
                lines.push(format!("{kind:?} {message}"));
            }
            _ => {}
        }
    }
    lines.extend(end.as_ref().err().map(|error| format!("error {error}")));
    lines
}

fn kind_of(result: &ToolResultValue) -> String {
    match result {
        ToolResultValue::Json(value) => {
            let size = value.as_array().map_or(1, Vec::len);
            format!("json of {size}")
        }
        ToolResultValue::Error(value) => format!("error {value}"),
        other => format!("{other:?}"),
    }
}
