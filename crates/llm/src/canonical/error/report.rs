//! The statements of a provider about a failure: the codes, texts and numbers of an error body in any of the known forms.

use serde_json::{Map, Value};

use super::words::{Sentence, sentences};

/// Maximum nesting of members and of JSON inside strings.
const MAX_DEPTH: usize = 10;

/// Maximum number of strings that are read.
const MAX_STRINGS: usize = 64;

/// Maximum number of characters that are read of one text.
const MAX_TEXT: usize = 8_192;

/// Members with a code, a type or a status. Names are compared in lower case without separators.
const LABELS: [&str; 14] = [
    "code",
    "type",
    "status",
    "reason",
    "statuscode",
    "errorcode",
    "errcode",
    "errortype",
    "kind",
    "quotaid",
    "quotametric",
    "exception",
    "xamznerrortype",
    "name",
];

/// Members with a text, or with a part of the report. Other members may repeat the request, whose words say nothing
/// about the failure.
const PARTS: [&str; 30] = [
    "error",
    "errors",
    "message",
    "msg",
    "detail",
    "details",
    "errormessage",
    "errormsg",
    "errordescription",
    "description",
    "title",
    "statusmsg",
    "reason",
    "cause",
    "raw",
    "body",
    "response",
    "metadata",
    "innererror",
    "baseresp",
    "violations",
    "fault",
    "faultstring",
    "originalerror",
    "upstreamerror",
    "providererror",
    "exception",
    "originalmessage",
    "data",
    "errormessages",
];

/// Members with the context window in tokens.
const WINDOWS: [&str; 6] = [
    "nctx",
    "contextlength",
    "maxcontextlength",
    "maxmodellen",
    "contextwindow",
    "contextsize",
];

/// The report of a failure.
#[derive(Default)]
pub(super) struct Report {
    /// Codes, types and statuses as they were sent.
    pub(super) labels: Vec<String>,
    /// The first text for a user.
    pub(super) message: Option<String>,
    /// The labels, each as one sentence.
    pub(super) label_words: Vec<Sentence>,
    /// The sentences of all texts.
    pub(super) sentences: Vec<Sentence>,
    /// The context window, if a member of its own names it.
    pub(super) window: Option<u64>,
    /// The wait that the body asks for, in milliseconds.
    pub(super) wait_ms: Option<u64>,
    strings: usize,
}

impl Report {
    /// Reads the body of a response: JSON, a page, an event of a stream, or plain text.
    pub(super) fn of_body(body: &str) -> Self {
        let mut report = Self::default();
        report.read_text(&without_tags(body), 0);
        report
    }

    /// Reads an error that arrived as JSON.
    pub(super) fn of_value(value: &Value) -> Self {
        let mut report = Self::default();
        report.read(value, 0);
        report
    }

    /// Reads an error that arrived in parts.
    pub(super) fn of_parts(code: &str, error_type: &str, message: &str) -> Self {
        let mut report = Self::default();
        report.label(code);
        report.label(error_type);
        report.read_text(message, 0);
        report
    }

    /// The HTTP status that a label names.
    pub(super) fn status(&self) -> Option<u16> {
        let mut numbers = self.labels.iter().filter_map(|label| label.parse().ok());
        numbers.find(|status| (300..600).contains(status))
    }

    /// True if a label is this code.
    pub(super) fn is_labelled(&self, codes: &[&str]) -> bool {
        self.labels
            .iter()
            .any(|label| codes.contains(&label.as_str()))
    }

    /// True if one of the phrases occurs in a label or in a text.
    pub(super) fn says(&self, phrases: &[&str]) -> bool {
        let mut all = self.label_words.iter().chain(&self.sentences);
        all.any(|sentence| sentence.has_any(phrases))
    }

    /// True if one of the phrases occurs in a label, or in a text that does not quote the name of a tool or of another
    /// thing that the request chose.
    pub(super) fn says_apart_from_names(&self, phrases: &[&str]) -> bool {
        const NAMING: [&str; 2] = [" schema for ", " does not exist "];
        let texts = self.sentences.iter().filter(|it| !it.has_any(&NAMING));
        let mut all = self.label_words.iter().chain(texts);
        all.any(|sentence| sentence.has_any(phrases))
    }

    fn read(&mut self, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::String(text) => self.read_text(text, depth),
            Value::Array(values) => {
                for value in values {
                    self.read(value, depth + 1);
                }
            }
            Value::Object(members) => self.read_members(members, depth),
            _ => {}
        }
    }

    fn read_members(&mut self, members: &Map<String, Value>, depth: usize) {
        for (name, value) in members {
            let name: String = name
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|it| it.to_ascii_lowercase())
                .collect();
            let name = name.as_str();
            if LABELS.contains(&name) {
                match value {
                    Value::String(text) => self.label(text),
                    Value::Number(number) => self.label(&number.to_string()),
                    _ => {}
                }
            }
            if PARTS.contains(&name) {
                self.read(value, depth + 1);
            }
            if WINDOWS.contains(&name) {
                self.window = self.window.or(value.as_u64());
            }
            if name == "retrydelay" {
                self.wait_ms = self.wait_ms.or_else(|| seconds(value.as_str()?));
            }
        }
    }

    fn label(&mut self, label: &str) {
        if label.is_empty() || label.len() > MAX_TEXT || self.is_full() {
            return;
        }
        self.labels.push(label.to_owned());
        self.label_words.extend(sentences(&label.replace('.', " ")));
    }

    fn read_text(&mut self, text: &str, depth: usize) {
        let text = text.trim();
        if text.is_empty() || self.is_full() {
            return;
        }
        // Servers between the provider and the host repeat its answer as a text, with words before it.
        let inner = json_in(text).filter(|_| depth <= MAX_DEPTH);
        let own = inner.as_ref().map_or(text, |(before, _)| before.trim());
        if !own.is_empty() {
            let own: String = own.chars().take(MAX_TEXT).collect();
            self.sentences.extend(sentences(&own));
            self.message
                .get_or_insert_with(|| text.chars().take(MAX_TEXT).collect());
        }
        if let Some((_, value)) = inner {
            self.read(&value, depth + 1);
        }
    }

    fn is_full(&mut self) -> bool {
        self.strings += 1;
        self.strings > MAX_STRINGS
    }
}

/// Returns the JSON object or list in a text, from its first bracket to its last one, and the text before it.
fn json_in(text: &str) -> Option<(&str, Value)> {
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?;
    let value: Value = serde_json::from_str(text.get(start..=end)?).ok()?;
    // A list of numbers is a part of a sentence.
    let is_report = match &value {
        Value::Array(values) => values.iter().any(Value::is_object),
        Value::Object(_) => true,
        _ => false,
    };
    is_report.then(|| (&text[..start], value))
}

/// Returns the text of a page. Other texts are returned unchanged.
fn without_tags(body: &str) -> String {
    let text = body.trim_start();
    if !text.starts_with('<') {
        return body.to_owned();
    }
    let mut shown = String::new();
    let mut is_tag = false;
    for character in text.chars().take(MAX_TEXT) {
        match character {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                shown.push('\n');
            }
            _ if !is_tag => shown.push(character),
            _ => {}
        }
    }
    for (escaped, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#39;", "'"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ] {
        shown = shown.replace(escaped, character);
    }
    shown
}

/// Returns the milliseconds of a duration such as `20.5s`.
fn seconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    let wait = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(wait.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_wherever_it_stands() {
        let told = "Prompt exceeds max length";
        let nested = serde_json::json!({"error": {"message": told}}).to_string();
        for body in [
            format!(r#"{{"error":{{"message":"{told}"}}}}"#),
            format!(r#"{{"error":"{told}"}}"#),
            format!(r#"{{"message":"{told}"}}"#),
            format!(r#"{{"Message":"{told}"}}"#),
            format!(r#"{{"detail":"{told}"}}"#),
            format!(r#"{{"detail":[{{"msg":"{told}","input":"x"}}]}}"#),
            format!(r#"[{{"error":{{"message":"{told}"}}}}]"#),
            format!(r#"{{"errors":[{{"message":"{told}"}}],"success":false}}"#),
            format!("<html><head><title>{told}</title></head></html>"),
            format!("event: error\ndata: {nested}\n\n"),
            format!("litellm.BadRequestError: OpenAIException - {nested}"),
            serde_json::json!({"error": {"message": "x", "metadata": {"raw": nested}}}).to_string(),
            told.to_owned(),
        ] {
            let report = Report::of_body(&body);
            assert!(report.says(&[" prompt exceeds max length "]), "{body}");
        }
    }

    #[test]
    fn the_words_of_the_request_are_not_read() {
        let body = r#"{"detail":[{"msg":"Field required","input":{"messages":"prompt is too long"}}],"flagged_input":"no credits"}"#;
        let report = Report::of_body(body);
        assert_eq!(report.message.as_deref(), Some("Field required"));
        assert!(!report.says(&["prompt", "credits"]));
    }

    #[test]
    fn codes_numbers_and_waits_are_read() {
        let body = r#"{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":8192,
            "details":[{"@type":"x.RetryInfo","retryDelay":"20.5s"}]}}"#;
        let report = Report::of_body(body);
        assert_eq!(report.status(), Some(400));
        assert_eq!((report.window, report.wait_ms), (Some(8192), Some(20_500)));
        assert!(report.is_labelled(&["exceed_context_size_error"]));
    }

    #[test]
    fn a_hostile_body_is_bounded() {
        let deep = "[{\"error\":".repeat(100_000);
        let wide = format!("[{}]", vec![r#"{"error":"no"}"#; 100_000].join(","));
        for body in [deep, wide] {
            assert!(Report::of_body(&body).sentences.len() <= MAX_TEXT);
        }
    }
}
