//! Values of a document. Other programs wrote it, so every member may be absent or have another type.

use opencode_schema::Record;
use opencode_schema::bounded::{MAX_SAFE_INTEGER, nearest_cost, nearest_count};
use opencode_schema::clock::Millis;
use opencode_schema::model::ModelRef;
use opencode_schema::session::{CacheTokens, Tokens};
use serde_json::Value;

/// Returns a member that is a text.
pub(super) fn text<'a>(record: &'a Record, name: &str) -> Option<&'a str> {
    record.get(name).and_then(Value::as_str)
}

/// Returns a member that is a text, unless it is empty.
pub(super) fn name(record: &Record, member: &str) -> Option<String> {
    text(record, member)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// Returns a member that is an object.
pub(super) fn object<'a>(record: &'a Record, name: &str) -> Option<&'a Record> {
    record.get(name).and_then(Value::as_object)
}

/// Returns true if a member is `true`.
pub(super) fn flag(record: &Record, name: &str) -> bool {
    record.get(name) == Some(&Value::Bool(true))
}

/// Returns a member of `time`, in epoch milliseconds.
pub(super) fn time(record: &Record, member: &str) -> Option<Millis> {
    let number = object(record, "time")?.get(member)?.as_f64()?;
    let largest = MAX_SAFE_INTEGER as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number is limited to integers that a double represents"
    )]
    let millis = number.clamp(0.0, largest) as Millis;
    Some(millis)
}

/// Returns the model that `provider` and `model` name in a record.
pub(super) fn model(record: &Record, id: &str) -> Option<ModelRef> {
    Some(ModelRef {
        id: name(record, id)?,
        provider_id: name(record, "providerID")?,
        variant: name(record, "variant"),
    })
}

/// Returns the cost of a message. An absent cost is 0.
pub(super) fn cost(record: &Record) -> f64 {
    let cost = record.get("cost").and_then(Value::as_f64);
    nearest_cost(cost.unwrap_or_default())
}

/// Returns the token usage of a message. An absent count is 0.
pub(super) fn tokens(record: &Record) -> Tokens {
    let count = |record: Option<&Record>, name: &str| {
        let number = record.and_then(|it| it.get(name)).and_then(Value::as_f64);
        nearest_count(number.unwrap_or_default())
    };
    let tokens = object(record, "tokens");
    let cache = tokens.and_then(|it| object(it, "cache"));
    Tokens {
        input: count(tokens, "input"),
        output: count(tokens, "output"),
        reasoning: count(tokens, "reasoning"),
        cache: CacheTokens {
            read: count(cache, "read"),
            write: count(cache, "write"),
        },
    }
}
