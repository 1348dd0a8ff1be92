//! The text of a title, and the text that asks for one.

use opencode_schema::display::disturbs;
use opencode_schema::message::{AssistantPart, SessionMessage};

/// Maximum number of characters of a title.
const MAX_TITLE: usize = 100;

/// The end of a title that was cut.
const CUT: &str = "...";

/// Maximum number of characters of the prompt, and of the answer, that the model reads.
const MAX_QUOTED: usize = 4_000;

/// Returns the title in the answer of a model: its first line with text, without blocks of thoughts. `None` if the
/// answer has no such line.
pub(super) fn title(answer: &str) -> Option<String> {
    let answer = without_thoughts(answer);
    let visible = |line: &str| line.chars().filter(|it| !disturbs(*it)).collect::<String>();
    let mut lines = answer.lines().map(|line| visible(line).trim().to_owned());
    let line = lines.find(|line| !line.is_empty())?;
    if line.chars().count() <= MAX_TITLE {
        return Some(line);
    }
    let kept: String = line.chars().take(MAX_TITLE - CUT.len()).collect();
    Some(kept + CUT)
}

/// Removes the blocks `<think>...</think>`. A block without an end reaches to the end of the text.
fn without_thoughts(text: &str) -> String {
    const START: &str = "<think>";
    const END: &str = "</think>";
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, block)) = rest.split_once(START) {
        kept += before;
        rest = block.split_once(END).map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Returns the text that asks for the title of a conversation. `None` unless the messages hold exactly one finished
/// answer: the first one.
pub(super) fn question(messages: &[SessionMessage]) -> Option<String> {
    let answers = messages.iter().filter(|message| is_answer(message));
    if answers.count() != 1 {
        return None;
    }
    let prompt = messages.iter().find_map(|message| match message {
        SessionMessage::User { text, .. } => Some(text.as_str()),
        _ => None,
    })?;
    let answer = messages.iter().filter(|message| is_answer(message));
    let answer: String = answer.flat_map(texts).collect::<Vec<_>>().join("\n");
    Some(format!(
        "Name the conversation that begins with this message:\n\n<message>\n{}\n</message>\n\nIt was answered with:\n\n<answer>\n{}\n</answer>",
        beginning(prompt),
        beginning(&answer)
    ))
}

/// True for an answer after which the model had nothing more to do.
fn is_answer(message: &SessionMessage) -> bool {
    let SessionMessage::Assistant(answer) = message else {
        return false;
    };
    let finish = answer.finish.as_deref();
    finish.is_some_and(|finish| finish != "tool-calls" && finish != "error")
}

fn texts(message: &SessionMessage) -> Vec<&str> {
    let SessionMessage::Assistant(answer) = message else {
        return Vec::new();
    };
    let texts = answer.content.iter().filter_map(|part| match part {
        AssistantPart::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn beginning(text: &str) -> String {
    text.chars().take(MAX_QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_title_is_the_first_line_with_text() {
        let long = "é".repeat(101);
        let cut = format!("{}...", "é".repeat(97));
        let fits = "x".repeat(100);
        for (answer, expected) in [
            ("Fix the parser", Some("Fix the parser")),
            ("\n  \n  Fix it  \nMore", Some("Fix it")),
            ("<think>Hm.\nWhat now?</think>\nFix it", Some("Fix it")),
            ("<think>a</think>Fix<think>b</think> it", Some("Fix it")),
            ("Fix it<think>never ends", Some("Fix it")),
            ("<think>never ends", None),
            ("</think>Fix it", Some("</think>Fix it")),
            ("a\u{0}\u{7}b\u{1b}[31m", Some("ab[31m")),
            ("", None),
            (" \n\t\u{0}", None),
            (&long, Some(&*cut)),
            (&fits, Some(&*fits)),
        ] {
            assert_eq!(title(answer).as_deref(), expected, "{answer:?}");
        }
    }

    fn messages(values: &[Value]) -> Vec<SessionMessage> {
        let read = |value: &Value| serde_json::from_value(value.clone()).unwrap();
        values.iter().map(read).collect()
    }

    #[test]
    fn only_the_first_finished_answer_asks_for_a_title() {
        let user = |text: &str| json!({"type": "user", "id": "msg_u", "time": {"created": 1}, "text": text});
        let answer = |finish: Option<&str>| {
            let model = json!({"id": "m", "providerID": "p"});
            let mut message = json!({"type": "assistant", "id": "msg_a", "time": {"created": 1}, "agent": "a",
                "model": model, "content": [{"type": "text", "id": "t", "text": "Done."}]});
            finish
                .into_iter()
                .for_each(|it| message["finish"] = it.into());
            message
        };
        let (tools, stop, error) = (Some("tool-calls"), Some("stop"), Some("error"));
        for (values, asks) in [
            (vec![], false),
            (vec![user("Hi")], false),
            (vec![answer(stop)], false),
            (vec![user("Hi"), answer(None)], false),
            (vec![user("Hi"), answer(error)], false),
            (vec![user("Hi"), answer(tools)], false),
            (vec![user("Hi"), answer(tools), answer(stop)], true),
            (vec![user("Hi"), user("Steer"), answer(stop)], true),
            (
                vec![user("Hi"), answer(error), user("Again"), answer(stop)],
                true,
            ),
            (
                vec![user("Hi"), answer(stop), user("More"), answer(stop)],
                false,
            ),
        ] {
            let question = question(&messages(&values));
            assert_eq!(question.is_some(), asks, "{values:?}");
        }
        let long = messages(&[user(&"é".repeat(100_000)), answer(stop)]);
        assert!(question(&long).unwrap().len() < 20_000);
    }
}
