//! Detection of requests that did not fit the context window.
//!
//! Providers share no code and no wording for this failure, and wordings change with the versions of servers. So the
//! structure of a sentence decides: it names the window, or the length of the input, and compares it.

use super::report::Report;
use super::words::{Sentence, numbers};

/// Words for the window of a model.
const WINDOW: [&str; 15] = [
    " context length",
    " context len ",
    " context size",
    " context window",
    " context limit",
    " max context",
    " maximum context",
    " model len ",
    " model length",
    " seq len ",
    " sequence len",
    " model max length",
    " n ctx ",
    " kv size",
    " maximum prompt length",
];

/// Words for the input as a whole.
const INPUT: [&str; 12] = [
    " prompt",
    " input",
    " message",
    " conversation",
    " history",
    " request",
    " text ",
    " total tokens",
    " total token count",
    " total number of tokens",
    " number of tokens",
    " total length",
];

/// Words for the input that also count in a sentence about the limit of the answer.
const INPUT_BESIDE_ANSWER: [&str; 5] = [
    " prompt",
    " input",
    " tokens in request",
    " tokens in the request",
    " request tokens",
];

/// Words for the limit of the answer.
const ANSWER: [&str; 7] = [
    " max tokens",
    " max new tokens",
    " max completion tokens",
    " max output tokens",
    " output tokens",
    " completion tokens",
    " max tokens to sample",
];

/// Words that measure.
const MEASURE: [&str; 5] = [" token", " length", " len ", " seq ", " context"];

/// Words that compare.
const RELATION: [&str; 28] = [
    " exceed",
    " overflow",
    " longer than",
    " greater than",
    " larger than",
    " more than",
    " bigger than",
    " higher than",
    " less than",
    " fewer than",
    " too long",
    " too large",
    " too many",
    " too big",
    " over the ",
    " above the ",
    " beyond ",
    " does not fit",
    " do not fit",
    " doesn t fit",
    " cannot fit",
    " surpass",
    " > ",
    " >= ",
    " <= ",
    " only supports up to ",
    " range of ",
    " must not be more",
];

/// Sentences that need no comparison, because they have no other use.
const PHRASES: [&str; 30] = [
    " prompt too long",
    " prompt is too long",
    " input too long",
    " input is too long",
    " inputs too long",
    " conversation is too long",
    " conversation too long",
    " messages are too long",
    " messages too long",
    " reduce the length of the messages",
    " reduce the length of the prompt",
    " reduce the length of the input",
    " context exceeded",
    " context overflow",
    " exceed context",
    " too many tokens",
    " token limit exceeded",
    " tokens limit exceeded",
    " tokens limit reached",
    " too many total text bytes",
    " request too large",
    " request is too large",
    " request body too large",
    " request body is too large",
    " request entity too large",
    " request payload size exceeds",
    " request size exceeds",
    " payload too large",
    " content too large",
    " request exceeds the maximum size",
];

/// Wordings of servers that do not answer in English, without spaces between words.
const PHRASES_WITHOUT_SPACES: [&str; 7] = [
    "超长",
    "上下文长度",
    "长度超",
    "超过最大长度",
    "超出最大长度",
    "输入过长",
    "上下文过长",
];

/// Other things with a limit. A sentence about one of these is no overflow, unless it counts tokens.
const OTHER_LIMITS: [&str; 17] = [
    " image",
    " audio",
    " video",
    " file",
    " document",
    " pdf",
    " tool",
    " function",
    " string ",
    " schema",
    " stop sequence",
    " header",
    " uri ",
    " url ",
    " name ",
    " metadata",
    " temperature",
];

/// Words of throttling, of used-up credit and of an expired wait. Such messages also mention tokens, limits and a context.
const EXCLUDED: [&str; 21] = [
    " throttl",
    " service unavailable",
    " rate limit",
    " ratelimit",
    " too many requests",
    " quota",
    " daily",
    " per min",
    " per sec",
    " per hour",
    " per day",
    " per week",
    " per month",
    " tpm ",
    " rpm ",
    " tpd ",
    " credit",
    " afford ",
    " paid account",
    " billing",
    " deadline exceeded",
];

/// Words for the bound of one parameter.
const PARAMETER: [&str; 2] = [" maximum value for ", " maximum tokens you requested"];

/// Codes that mean an overflow with their providers.
const CODES: [&str; 1] = [
    // z.ai
    "1261",
];

/// The least and the greatest number that can be a window.
const WINDOWS: std::ops::RangeInclusive<u64> = 256..=1_000_000_000;

/// True if a code or a type names the context window. No other text of the report can deny this.
pub(super) fn is_labelled(report: &Report) -> bool {
    report.is_labelled(&CODES)
        || report.label_words.iter().any(|label| {
            label.has(" context")
                && !label.has(" deadline")
                && label.has_any(&[" exceed", " overflow", " too l", " limit"])
        })
}

/// True if the report says that the request did not fit the context window.
pub(super) fn is_told(report: &Report) -> bool {
    if is_labelled(report) {
        return true;
    }
    let all = || report.label_words.iter().chain(&report.sentences);
    !report.says(&EXCLUDED) && all().any(is_overflow)
}

/// True if the text of a provider says that the request did not fit the context window.
#[must_use]
pub fn is_overflow_text(text: &str) -> bool {
    is_told(&Report::of_body(text))
}

/// Returns the window of the model in tokens, if the report names it.
pub(super) fn window(report: &Report) -> Option<u64> {
    let told = report.sentences.iter().find_map(named_window);
    report.window.filter(|it| WINDOWS.contains(it)).or(told)
}

/// True if a refusal names a cause of its own: the limit of the answer, a tool, a file.
pub(super) fn names_other(report: &Report) -> bool {
    const OTHERS: [&str; 9] = [
        " image",
        " audio",
        " video",
        " pdf",
        " tool",
        " function",
        " schema",
        " temperature",
        " unsupported parameter",
    ];
    let is_answer = |it: &Sentence| it.has_any(&ANSWER) && !it.has_any(&INPUT_BESIDE_ANSWER);
    let is_cause = |it: &Sentence| is_answer(it) || is_parameter(it);
    report.says(&OTHERS) || report.sentences.iter().any(is_cause)
}

fn is_overflow(sentence: &Sentence) -> bool {
    !is_parameter(sentence)
        && ((sentence.has_any(&PHRASES) && !is_other(sentence))
            || sentence.has_any(&PHRASES_WITHOUT_SPACES)
            || compares_window(sentence)
            || compares_input(sentence)
            || leaves_no_answer(sentence))
}

/// True if the sentence is about the value of one parameter. `max_tokens: Input should be less than or equal to 8192`
/// compares no input of the model.
fn is_parameter(sentence: &Sentence) -> bool {
    let bound = sentence.after(" input should be ");
    sentence.has_any(&PARAMETER) || bound.is_some_and(|rest| !rest.contains("token"))
}

/// `the context size has been exceeded`, `the maximum context length is 8192`
fn compares_window(sentence: &Sentence) -> bool {
    if !sentence.has_any(&WINDOW) || sentence.has(" schema") {
        return false;
    }
    let is_limit = sentence.has_any(&[" max", " only ", " just ", " configured ", " limit"]);
    sentence.has_any(&RELATION) || (is_limit && sentence.has_number())
}

/// `input length 9000 exceeds the maximum length 8192`
fn compares_input(sentence: &Sentence) -> bool {
    let input = if sentence.has_any(&ANSWER) {
        &INPUT_BESIDE_ANSWER[..]
    } else {
        &INPUT
    };
    !is_other(sentence)
        && sentence.has_any(input)
        && sentence.has_any(&MEASURE)
        && sentence.has_any(&RELATION)
}

/// True if the sentence is about another limit.
fn is_other(sentence: &Sentence) -> bool {
    sentence.has_any(&OTHER_LIMITS) && !sentence.has(" token")
}

/// `max_tokens must be at least 1, got -201`: the server subtracted the input from the window.
fn leaves_no_answer(sentence: &Sentence) -> bool {
    let got = sentence.after(" got ").and_then(|it| it.split(' ').next());
    let got = got.and_then(|number| number.parse::<i64>().ok());
    sentence.has_any(&ANSWER) && sentence.has(" at least ") && got.is_some_and(|it| it <= 0)
}

fn named_window(sentence: &Sentence) -> Option<u64> {
    /// Words that a window follows, before words that any limit follows.
    const MARKS: [&str; 26] = [
        " n ctx ",
        " context length",
        " context size",
        " context window",
        " model len ",
        " model length",
        " seq len ",
        " supported sequence len",
        " sequence len",
        " maximum prompt length",
        " max input tokens",
        " max size",
        " limit is ",
        " limit of ",
        " token limit",
        " maximum length",
        " max length",
        " exceed",
        " longer than",
        " larger than",
        " greater than",
        " more than",
        " less than",
        " up to ",
        " <= ",
        " >= ",
    ];
    if !is_overflow(sentence)
        && !sentence.has_any(&[" limit is ", " max size", " max input tokens"])
    {
        return None;
    }
    if sentence.has_any(&[" bytes", " characters"]) {
        return None;
    }
    let is_window = |number: &u64| WINDOWS.contains(number);
    if sentence.has(" range of input length") {
        return numbers(sentence.after(" range of input length")?).rfind(is_window);
    }
    let has_length = sentence.has(" context length");
    let beyond = sentence.after(" > ").or_else(|| sentence.after(" >= "));
    let beyond = beyond.filter(|_| !has_length);
    let beyond = beyond.and_then(|rest| numbers(rest).find(is_window));
    beyond
        .or_else(|| MARKS.iter().find_map(|mark| number_after(sentence, mark)))
        .or_else(|| {
            let before = sentence.before(" maximum context length")?;
            before.rsplit(' ').next()?.parse().ok().filter(is_window)
        })
}

/// Returns the first number after a mark. `exceeded by 12 tokens` names no limit.
fn number_after(sentence: &Sentence, mark: &str) -> Option<u64> {
    let rest = sentence.after(mark)?;
    let (at, number) = rest
        .split(' ')
        .enumerate()
        .find_map(|(at, word)| Some((at, word.parse::<u64>().ok()?)))?;
    let mut between = rest.split(' ').take(at);
    let is_near =
        at <= 12 && !between.any(|word| matches!(word, "by" | "requested" | "contains" | "got"));
    (is_near && WINDOWS.contains(&number)).then_some(number)
}
