//! Options about providers that do not answer: retries and deadlines.

use std::time::Duration;

use opencode_llm::RetryPolicy;
use opencode_llm::model::Timeouts;
use serde::Deserialize;

/// Time that a Provider Turn waits for a provider that temporarily refuses its request. `false` sends each request once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ValueOrFalse<RetryForm>")]
pub struct RetryOptions {
    /// From the first request to the last one, in milliseconds.
    pub max_elapsed_ms: u64,
    /// Requests in all, the first one included.
    pub max_attempts: u64,
    /// The longest wait in milliseconds if the provider names none.
    pub max_delay_ms: u64,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            max_elapsed_ms: 300_000,
            max_attempts: u64::MAX,
            max_delay_ms: 30_000,
        }
    }
}

/// The members that a program gives of the option `retry`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RetryForm {
    max_elapsed_ms: Option<u64>,
    max_attempts: Option<u64>,
    max_delay_ms: Option<u64>,
}

impl TryFrom<ValueOrFalse<RetryForm>> for RetryOptions {
    type Error = &'static str;

    fn try_from(given: ValueOrFalse<RetryForm>) -> Result<Self, &'static str> {
        let default = Self::default();
        Ok(match given.value()? {
            Some(form) => Self {
                max_elapsed_ms: form.max_elapsed_ms.unwrap_or(default.max_elapsed_ms),
                max_attempts: form.max_attempts.unwrap_or(default.max_attempts),
                max_delay_ms: form.max_delay_ms.unwrap_or(default.max_delay_ms),
            },
            None => Self {
                max_elapsed_ms: 0,
                max_attempts: 1,
                max_delay_ms: 0,
            },
        })
    }
}

/// A value, or `false` for none.
#[derive(Deserialize)]
#[serde(untagged)]
enum ValueOrFalse<T> {
    Off(bool),
    On(T),
}

impl<T> ValueOrFalse<T> {
    /// Returns the value, or `None` for `false`.
    fn value(self) -> Result<Option<T>, &'static str> {
        match self {
            Self::On(value) => Ok(Some(value)),
            Self::Off(false) => Ok(None),
            Self::Off(true) => Err("must be false or a value"),
        }
    }
}

impl From<RetryOptions> for RetryPolicy {
    fn from(options: RetryOptions) -> Self {
        Self {
            max_elapsed: Duration::from_millis(options.max_elapsed_ms),
            max_attempts: u32::try_from(options.max_attempts).unwrap_or(u32::MAX),
            max_delay: Duration::from_millis(options.max_delay_ms),
            ..Self::default()
        }
    }
}

/// Time limits of providers, in milliseconds. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "DeadlineForm")]
pub struct DeadlineOptions {
    /// Until the connection is established.
    pub connect_ms: Option<u64>,
    /// From the request to the headers of the answer.
    pub first_byte_ms: Option<u64>,
    /// Between two pieces of the answer.
    pub idle_ms: Option<u64>,
    /// From the request to the end of the answer.
    pub request_ms: Option<u64>,
}

impl Default for DeadlineOptions {
    fn default() -> Self {
        Self {
            connect_ms: Some(10_000),
            first_byte_ms: None,
            idle_ms: None,
            request_ms: None,
        }
    }
}

/// The forms of the option `deadlines`.
#[derive(Deserialize)]
#[serde(untagged)]
enum DeadlineForm {
    Named(NamedDeadlines),
    Each(DeadlineMembers),
}

/// A name for deadlines.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum NamedDeadlines {
    /// For programs with a waiting user.
    Interactive,
}

/// The members that a program gives of the option `deadlines`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DeadlineMembers {
    connect_ms: Option<ValueOrFalse<u64>>,
    first_byte_ms: Option<ValueOrFalse<u64>>,
    idle_ms: Option<ValueOrFalse<u64>>,
    request_ms: Option<ValueOrFalse<u64>>,
}

impl TryFrom<DeadlineForm> for DeadlineOptions {
    type Error = &'static str;

    fn try_from(form: DeadlineForm) -> Result<Self, &'static str> {
        let default = Self::default();
        let given = match form {
            DeadlineForm::Named(NamedDeadlines::Interactive) => {
                return Ok(Self {
                    first_byte_ms: Some(120_000),
                    idle_ms: Some(60_000),
                    ..default
                });
            }
            DeadlineForm::Each(given) => given,
        };
        let limit = |given: Option<ValueOrFalse<u64>>, default| {
            given.map_or(Ok(default), ValueOrFalse::value)
        };
        Ok(Self {
            connect_ms: limit(given.connect_ms, default.connect_ms)?,
            first_byte_ms: limit(given.first_byte_ms, default.first_byte_ms)?,
            idle_ms: limit(given.idle_ms, default.idle_ms)?,
            request_ms: limit(given.request_ms, default.request_ms)?,
        })
    }
}

impl DeadlineOptions {
    pub(crate) fn connect(self) -> Option<Duration> {
        self.connect_ms.map(Duration::from_millis)
    }

    pub(crate) fn timeouts(self) -> Timeouts {
        Timeouts {
            header: self.first_byte_ms.map(Duration::from_millis),
            chunk: self.idle_ms.map(Duration::from_millis),
            total: self.request_ms.map(Duration::from_millis),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn retry(given: Value) -> Result<(u64, u64, u64), String> {
        let options: RetryOptions =
            serde_json::from_value(given).map_err(|error| error.to_string())?;
        Ok((
            options.max_elapsed_ms,
            options.max_attempts,
            options.max_delay_ms,
        ))
    }

    #[test]
    fn a_member_without_a_value_has_its_default() {
        assert_eq!(retry(json!({})), Ok((300_000, u64::MAX, 30_000)));
        assert_eq!(retry(json!({ "maxAttempts": 2 })), Ok((300_000, 2, 30_000)));
        assert_eq!(retry(json!(false)), Ok((0, 1, 0)));
        for wrong in [json!(true), json!({ "maxAttempt": 2 }), json!("no")] {
            assert!(retry(wrong.clone()).is_err(), "{wrong}");
        }
    }

    fn deadlines(given: Value) -> Result<[Option<u64>; 4], String> {
        let options: DeadlineOptions =
            serde_json::from_value(given).map_err(|error| error.to_string())?;
        Ok([
            options.connect_ms,
            options.first_byte_ms,
            options.idle_ms,
            options.request_ms,
        ])
    }

    #[test]
    fn false_is_no_deadline_and_an_absent_one_has_its_default() {
        assert_eq!(deadlines(json!({})), Ok([Some(10_000), None, None, None]));
        assert_eq!(
            deadlines(json!({ "connectMs": false, "idleMs": 5 })),
            Ok([None, None, Some(5), None])
        );
        assert_eq!(
            deadlines(json!("interactive")),
            Ok([Some(10_000), Some(120_000), Some(60_000), None])
        );
        for wrong in [
            json!("slow"),
            json!({ "connectMs": true }),
            json!({ "idle": 1 }),
            json!(false),
        ] {
            assert!(deadlines(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
