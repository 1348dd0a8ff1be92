//! The answer to the request of one HTTP exchange. The exchange tells which request an answer belongs to, so an error
//! without the id of the request ends that request, too.

mod introduction;

use std::borrow::Cow;

use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::limits::{MAX_ERROR, cut};
use crate::link::{Link, Waiting};

pub(crate) use introduction::has_unclear_tools;

/// The member that holds a result. The library reads results as the first type that fits, and drops all members that this
/// type does not have. No type has this member, so a result in it arrives as the server sent it.
const RESULT: &str = "opencode/result";

/// The text of an answer that belongs to another request.
const FOREIGN: &str = "The server answered another request.";

/// A message of a server.
pub(super) enum Read {
    /// The answer to the request.
    Answer {
        /// The answer, with the id of the request.
        message: Box<ServerJsonRpcMessage>,
        /// True if the server gave it that id.
        has_id: bool,
    },
    /// A request or a notification of the server.
    Other,
    /// No message of the protocol.
    Unknown,
}

/// Returns a message as text, with the repairs that change no meaning: without a byte order mark, with replacements for
/// bytes that are not UTF-8 and for unpaired surrogates.
pub(super) fn text_of(message: &[u8]) -> Cow<'_, str> {
    let message = message.strip_prefix(b"\xef\xbb\xbf").unwrap_or(message);
    opencode_llm::surrogates::repaired(message)
}

/// Returns a message with each member once, the last one of several equal ones, and with an integer as its id if the id
/// is a number like 7.0. `None` if that is the same text, or no object.
pub(super) fn normal(message: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(message).ok()?;
    let id = value.as_object_mut()?.get_mut("id");
    if let Some(id) = id
        && let Some(integer) = integer(id)
    {
        *id = Value::from(integer);
    }
    let normal = value.to_string();
    (normal != message.trim()).then_some(normal)
}

/// Returns the integer that a number with a fraction of 0 is.
fn integer(number: &Value) -> Option<i64> {
    let number = number.as_f64().filter(|_| number.is_f64())?;
    let is_exact = number.fract() == 0.0 && number.abs() < 9e15;
    is_exact.then_some(number as i64)
}

/// Reads a message. `is_typed` if it answers the handshake, because the library must know the type of that result.
pub(super) fn read(body: &[u8], id: &RequestId, is_typed: bool) -> Read {
    let body = text_of(body);
    match serde_json::from_str(&body) {
        Ok(Value::Array(batch)) => {
            let mut messages = batch.into_iter();
            let is_own = |message: &Value| is_answer(message) && is_id(message.get("id"), id);
            match messages.as_slice().iter().position(is_own) {
                Some(at) => messages
                    .nth(at)
                    .map_or(Read::Unknown, |it| one(it, id, is_typed)),
                None => messages
                    .find(is_answer)
                    .map_or(Read::Unknown, |it| one(it, id, is_typed)),
            }
        }
        Ok(message) => one(message, id, is_typed),
        Err(error) => match serde_json::from_str::<Head<'_>>(&body) {
            Ok(head) if head.is_answer() => Read::Answer {
                message: Box::new(unreadable(&error, id)),
                has_id: head.id.as_ref() == Some(id),
            },
            _ => Read::Unknown,
        },
    }
}

/// The parts of a message that decide what it is.
#[derive(Deserialize)]
struct Head<'a> {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

impl Head<'_> {
    fn is_answer(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }
}

/// Returns a message with a result, in the form in which the library keeps the whole result. `None` for other messages.
pub(super) fn with_whole_result(message: &str) -> Option<(RequestId, String)> {
    let head: Head<'_> = serde_json::from_str(message).ok()?;
    let (id, result) = (head.id?, head.result?);
    if head.method.is_some() || head.error.is_some() {
        return None;
    }
    let shown = serde_json::to_string(&id).ok()?;
    let message = format!(r#"{{"jsonrpc":"2.0","id":{shown},"result":{{"{RESULT}":{result}}}}}"#);
    Some((id, message))
}

/// Returns the result that the server sent.
pub(crate) fn whole_result(mut result: Value) -> Value {
    match result.get_mut(RESULT) {
        Some(whole) => whole.take(),
        None => result,
    }
}

/// Returns the data of an event in the form in which it answers the request, or another one that waits. `None` if it
/// stays.
pub(super) fn event(data: &str, id: &RequestId, is_typed: bool, link: &Link) -> Option<String> {
    if !is_typed
        && let Some((given, message)) = with_whole_result(data)
        && (given == *id || link.is_waiting(&given))
    {
        return readable(message, &given);
    }
    let head = serde_json::from_str::<Head<'_>>(data).ok();
    if head.as_ref().is_some_and(|it| {
        it.method.is_some() || !is_typed && it.result.is_some() && it.id.as_ref() == Some(id)
    }) {
        return None;
    }
    let other = head.and_then(|it| it.id);
    match other.filter(|other| !is_typed && link.is_waiting(other)) {
        Some(other) => answered(data, &other, false),
        None => answered(data, id, is_typed),
    }
}

/// Returns the data of an event of a stream without a request, in the form in which it answers a request that waits.
/// `None` if it stays.
pub(super) fn streamed(data: &str, link: &Link) -> Option<String> {
    if let Some((given, message)) = with_whole_result(data) {
        return match link.is_waiting(&given) {
            true => readable(message, &given),
            false => None,
        };
    }
    let Ok(head) = serde_json::from_str::<Head<'_>>(data) else {
        let normal = normal(data)?;
        return Some(streamed(&normal, link).unwrap_or(normal));
    };
    if head.method.is_some() || head.error.is_none() {
        return None;
    }
    match (head.id, link.waiting()) {
        // The library drops an error without a code or a message, and its request would wait.
        (Some(given), _) if link.is_waiting(&given) => answered(data, &given, false),
        (None, Waiting::One(id)) => answered(data, &id, false),
        _ => None,
    }
}

/// Returns the message. The library drops a message that it cannot read, so the request of such a message fails.
fn readable(message: String, id: &RequestId) -> Option<String> {
    match serde_json::from_str::<Value>(&message) {
        Ok(_) => Some(message),
        Err(error) => serde_json::to_string(&unreadable(&error, id)).ok(),
    }
}

fn answered(data: &str, id: &RequestId, is_typed: bool) -> Option<String> {
    match read(data.as_bytes(), id, is_typed) {
        Read::Answer { message, .. } => serde_json::to_string(&message).ok(),
        Read::Other | Read::Unknown => None,
    }
}

fn one(mut message: Value, id: &RequestId, is_typed: bool) -> Read {
    if has_method(&message) {
        return Read::Other;
    }
    let has_id = is_id(message.get("id"), id);
    let answer = |message| Read::Answer {
        message: Box::new(message),
        has_id,
    };
    if let Some(error) = message.get_mut("error").map(Value::take)
        && !error.is_null()
    {
        return answer(refused(&error, id));
    }
    let Some(result) = message.get_mut("result").map(Value::take) else {
        return Read::Unknown;
    };
    // A result without an id can only belong to the request of the exchange.
    if !has_id && message.get("id").is_some_and(|given| !given.is_null()) {
        return answer(failure(FOREIGN, id));
    }
    let result = match is_typed {
        true => introduction::introduction(&result)
            .unwrap_or_else(|| ServerResult::CustomResult(CustomResult(result))),
        false => ServerResult::CustomResult(CustomResult(json!({ RESULT: result }))),
    };
    answer(ServerJsonRpcMessage::response(result, id.clone()))
}

/// Returns the message of an answer that is an error.
pub(super) fn refusal(answer: &ServerJsonRpcMessage) -> Option<&str> {
    match answer {
        JsonRpcMessage::Error(error) => Some(&error.error.message),
        _ => None,
    }
}

fn refused(error: &Value, id: &RequestId) -> ServerJsonRpcMessage {
    let code = error.get("code").and_then(Value::as_i64);
    let code = code.and_then(|code| i32::try_from(code).ok());
    let code = code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
    let message = text(error).unwrap_or_else(|| error.to_string());
    let error = ErrorData::new(code, printable(&message), None);
    ServerJsonRpcMessage::error(error, Some(id.clone()))
}

fn unreadable(error: &serde_json::Error, id: &RequestId) -> ServerJsonRpcMessage {
    let reason = format!("The answer of the server cannot be read: {error}");
    failure(reason, id)
}

/// Returns an error as the answer to the request.
pub(super) fn failure(reason: impl Into<String>, id: &RequestId) -> ServerJsonRpcMessage {
    let error = ErrorData::internal_error(reason.into(), None);
    ServerJsonRpcMessage::error(error, Some(id.clone()))
}

/// Returns the text for users in a body that is no message: of its JSON, or the body itself.
pub(super) fn body_text(body: &[u8]) -> String {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(value) => text(&value).unwrap_or_else(|| value.to_string()),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    printable(&text)
}

/// Returns the first text of an error in one of the forms that servers use.
fn text(error: &Value) -> Option<String> {
    let known = ["message", "error_description", "detail", "error", "title"];
    match error {
        Value::String(text) => Some(text.clone()),
        Value::Array(errors) => errors.first().and_then(text),
        Value::Object(members) => known
            .iter()
            .find_map(|name| members.get(*name).and_then(text)),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// Returns a bounded text without control characters.
fn printable(text: &str) -> String {
    let start = &text[..text.floor_char_boundary(4 * MAX_ERROR)];
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let words: String = start.chars().map(clean).collect();
    cut(
        words.split_whitespace().collect::<Vec<_>>().join(" "),
        MAX_ERROR,
    )
}

fn has_method(message: &Value) -> bool {
    message
        .get("method")
        .is_some_and(|method| !method.is_null())
}

fn is_answer(message: &Value) -> bool {
    !has_method(message) && (message.get("result").is_some() || message.get("error").is_some())
}

/// True for the id of the request. Some servers return the number as a text.
fn is_id(given: Option<&Value>, id: &RequestId) -> bool {
    match given {
        Some(Value::String(text)) => *text == id.to_string(),
        Some(Value::Number(number)) => match id {
            RequestId::Number(id) => number.as_f64() == Some(*id as f64),
            RequestId::String(_) => false,
        },
        _ => false,
    }
}

/// True if the text says that the server does not know the session.
pub(super) fn forgets_session(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let states = [
        "not found",
        "no valid",
        "invalid",
        "expired",
        "unknown",
        "terminated",
        "not exist",
        "no longer",
        "missing",
        "no session",
        "no such",
        "no active",
        "not initialized",
        "not recognized",
        "not valid",
        "closed",
        "required",
        "not available",
    ];
    let is_about_session = text.contains("session");
    let is_uninitialized = text.contains("server not initialized")
        || text.contains("not been initialized")
        || text.contains("before initialization");
    is_uninitialized || is_about_session && states.iter().any(|state| text.contains(state))
}

#[cfg(test)]
mod tests;
