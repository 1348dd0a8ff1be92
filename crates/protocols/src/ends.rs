//! The ends of answers, by the names that providers give them.
//!
//! One table serves all protocols, because gateways pass the names of one protocol on in another. A name that is not
//! in the table is read by its words. A name that tells nothing of a regular end means that the answer failed: an
//! answer that broke off must not look complete.

use opencode_llm::canonical::error::{ErrorKind, bounded};
use opencode_llm::canonical::event::{FinishReason, LlmEvent};
use serde_json::Value;

use super::failure;

/// Maximum number of characters of a name in a message.
const MAX_NAME: usize = 100;

/// The members of an error object that tell what happened.
const TELLING: [&str; 4] = ["code", "type", "message", "detail"];

/// The meaning of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The answer is complete, or complete up to a limit or a filter.
    Finished(FinishReason),
    /// The context window of the model is full.
    WindowFull,
    /// The answer failed.
    Failed(ErrorKind),
    /// The answer has not ended, or has ended without a reason.
    Unsaid,
}

/// The end of an answer, as the provider reports it.
#[derive(Clone, Debug)]
pub(super) struct End {
    meaning: Meaning,
    /// The name of the provider, shortened.
    name: String,
    /// The addition of the provider to the name: a text, or an error object.
    detail: Value,
}

impl End {
    /// The end of an answer that the provider considers complete without giving a reason.
    pub(super) const UNSAID: Self = Self {
        meaning: Meaning::Finished(FinishReason::Unknown),
        name: String::new(),
        detail: Value::Null,
    };

    /// Reads the name of an end. Returns `None` if the name tells of no end.
    pub(super) fn of(name: &str) -> Option<Self> {
        let meaning = meaning(name);
        (meaning != Meaning::Unsaid).then(|| Self {
            meaning,
            name: name.trim().chars().take(MAX_NAME).collect(),
            detail: Value::Null,
        })
    }

    /// The end of an answer that failed. `name` is the word with which the protocol says it.
    pub(super) fn failed(name: &str) -> Self {
        Self {
            meaning: Meaning::Failed(ErrorKind::Overloaded),
            name: name.to_owned(),
            detail: Value::Null,
        }
    }

    /// Adds the name that the model's own provider gives to the same end. Gateways translate it, and some of them
    /// translate an answer that is not complete into one that is. It counts only if it is in the table.
    pub(super) fn or_worse(self, native: Option<&str>) -> Self {
        let told = native.filter(|name| in_table(&words(name)).is_some());
        match told.and_then(Self::of) {
            Some(told) if self.is_complete() && !told.is_complete() => told,
            _ => self,
        }
    }

    /// Adds what the provider says about the end: a text, or an error object.
    pub(super) fn with_detail(self, detail: Value) -> Self {
        Self { detail, ..self }
    }

    /// True if the answer failed.
    pub(super) const fn is_failure(&self) -> bool {
        matches!(self.meaning, Meaning::Failed(_))
    }

    const fn is_complete(&self) -> bool {
        use FinishReason as R;
        matches!(
            self.meaning,
            Meaning::Finished(R::Stop | R::ToolCalls | R::Unknown)
        )
    }

    /// Returns the reason of an answer that did not fail. A model that stops after a call waits for its result.
    pub(super) const fn reason(&self, has_calls: bool) -> FinishReason {
        match self.meaning {
            Meaning::Finished(FinishReason::Stop) if has_calls => FinishReason::ToolCalls,
            Meaning::Finished(reason) => reason,
            Meaning::WindowFull => FinishReason::Length,
            Meaning::Failed(_) | Meaning::Unsaid => FinishReason::Unknown,
        }
    }

    /// Returns the failure of an answer whose end announces a call, but which has none. Such an answer broke off: the
    /// model waits for a result that no tool can give.
    pub(super) fn without_call(&self) -> LlmEvent {
        let message = format!(
            "The provider ended its answer with {:?}: it announced a tool call and sent none",
            self.name
        );
        LlmEvent::ProviderError {
            message,
            kind: ErrorKind::InvalidOutput,
            retryable: true,
            provider_metadata: None,
        }
    }

    /// Returns the failure of the answer, if it failed. A window that is full before any output is a refusal of the
    /// request because of its size.
    pub(super) fn failure(&self, has_output: bool) -> Option<LlmEvent> {
        let kind = match self.meaning {
            Meaning::Failed(kind) => kind,
            Meaning::WindowFull if !has_output => ErrorKind::ContextOverflow,
            _ => return None,
        };
        let mut message = format!("The provider ended its answer with {:?}", self.name);
        let mut named = None;
        match &self.detail {
            // A text may be one of the model, so its words name no kind of failure.
            Value::String(text) if !text.is_empty() => message = format!("{message}: {text}"),
            Value::Object(error) if TELLING.iter().any(|member| error.contains_key(*member)) => {
                if let LlmEvent::ProviderError {
                    message: told,
                    kind,
                    ..
                } = failure::event(&self.detail)
                {
                    message = told;
                    named = Some(kind).filter(|kind| *kind != ErrorKind::Unknown);
                }
            }
            _ => {}
        }
        Some(LlmEvent::ProviderError {
            message: bounded(&message),
            kind: named.unwrap_or(kind),
            // Whatever broke the answer, the same request may succeed. An error object may say that it cannot.
            retryable: named.map_or_else(|| self.is_failure(), ErrorKind::is_retryable),
            provider_metadata: None,
        })
    }
}

fn meaning(name: &str) -> Meaning {
    let words = words(name);
    in_table(&words).unwrap_or_else(|| by_words(&words))
}

/// Returns the lower-case words of a name. `stopSequence`, `STOP_SEQUENCE`, `FINISH_REASON_STOP_SEQUENCE` and
/// `<|stop_sequence|>` have the same ones.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for letter in name.chars().take(MAX_NAME) {
        if letter.is_alphanumeric() {
            let is_next = before.is_lowercase() && letter.is_uppercase();
            if is_next || !before.is_alphanumeric() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        before = letter;
    }
    // Some lists of values repeat their own name.
    let own = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["finish" | "stop" | "done", "reason", _, ..] => 2,
        ["reason", _, ..] => 1,
        _ => 0,
    };
    words.split_off(own)
}

/// The names that providers document, and others that servers and gateways are known to send.
const TABLE: [(Meaning, &str); 11] = [
    // A member that every piece has is filled with such a value before the end.
    (
        Meaning::Unsaid,
        "null none nil undefined unspecified not_finished in_progress queued",
    ),
    // After `pause_turn` and `compaction` the provider expects another request, which continues the answer.
    (
        Meaning::Finished(FinishReason::Stop),
        "stop stop_sequence stop_sequences stop_token stop_word stop_words stop_str end end_id end_turn end_of_turn \
         end_of_text end_of_sequence eos eos_token eos_id eot eom eog im_end s complete completed completion done \
         finish finished success succeeded normal ok pause_turn compaction",
    ),
    (
        Meaning::Finished(FinishReason::ToolCalls),
        "tool_calls tool_call tool_use tools function_call function_calls requires_action",
    ),
    (
        Meaning::Finished(FinishReason::Length),
        "length limit max_tokens max_token max_output_tokens max_output max_completion_tokens max_new_tokens \
         max_length max_len token_limit output_limit length_limit model_length continuation",
    ),
    (
        Meaning::WindowFull,
        "model_context_window_exceeded context_window_exceeded context_length_exceeded context_length context_limit \
         max_context max_prompt_tokens error_limit",
    ),
    (
        Meaning::Finished(FinishReason::ContentFilter),
        "content_filter content_filtered guardrail_intervened guardrails refusal refused sensitive safety recitation \
         language blocklist prohibited_content spii model_armor jailbreak image_safety image_prohibited_content \
         image_recitation error_toxic moderation blocked flagged",
    ),
    (
        Meaning::Failed(ErrorKind::InvalidOutput),
        "malformed_function_call malformed_response malformed_model_output malformed_tool_use unexpected_tool_call \
         too_many_tool_calls missing_thought_signature no_image image_other",
    ),
    (Meaning::Failed(ErrorKind::Transport), "network_error"),
    (
        Meaning::Failed(ErrorKind::Timeout),
        "timeout timed_out time_limit",
    ),
    (
        Meaning::Failed(ErrorKind::RateLimit),
        "rate_limit rate_limited rate_limit_exceeded",
    ),
    (
        Meaning::Failed(ErrorKind::Overloaded),
        "error errored server_error failed failure other unknown abort aborted cancel cancelled canceled user_cancel \
         interrupted incomplete insufficient_system_resource load unload",
    ),
];

/// Finds a name, with any spelling of its words.
fn in_table(words: &[String]) -> Option<Meaning> {
    let name = words.concat();
    if name.is_empty() {
        return Some(Meaning::Unsaid);
    }
    let is_name = |known: &str| known.split('_').flat_map(str::chars).eq(name.chars());
    let mut rows = TABLE.iter();
    let row = rows.find(|(_, names)| names.split(' ').any(is_name));
    row.map(|(meaning, _)| *meaning)
}

/// Reads a name that is not in the table. Words of a failure count before all others, because `stopped_by_error` and
/// `not_completed` also have a word of a regular end.
fn by_words(words: &[String]) -> Meaning {
    use ErrorKind as E;
    use FinishReason as R;
    use Meaning::{Failed, Finished, WindowFull};
    const ROWS: [(Meaning, &str); 10] = [
        (Failed(E::Transport), "network connection disconnect"),
        (Failed(E::Timeout), "timeout timed time"),
        (Failed(E::RateLimit), "rate quota"),
        (
            Failed(E::InvalidOutput),
            "malformed invalid unexpected missing unpars too",
        ),
        (
            Failed(E::Overloaded),
            "error fail abort cancel interrupt exception crash insufficient overload unavailable incomplete \
             unfinished kill preempt not no",
        ),
        (WindowFull, "context window"),
        (
            Finished(R::ContentFilter),
            "filter safety moderat sensitiv refus prohibit guardrail policy block recitation",
        ),
        (Finished(R::Length), "length max limit"),
        (Finished(R::ToolCalls), "tool function"),
        (
            Finished(R::Stop),
            "stop end ended eos eot eom eog complet done finish success succeed normal",
        ),
    ];
    // Short words are whole ones: `not` is not the beginning of `notice`.
    let is_of = |word: &str, with: &str| word == with || (with.len() > 3 && word.starts_with(with));
    let has = |with: &str| {
        words
            .iter()
            .any(|word| with.split(' ').any(|it| is_of(word, it)))
    };
    let row = ROWS.iter().find(|(_, with)| has(with));
    row.map_or(Failed(E::Overloaded), |(meaning, _)| *meaning)
}
