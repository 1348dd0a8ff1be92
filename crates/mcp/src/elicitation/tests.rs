//! Forms become questions, and answers become contents.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::json::any_json;

proptest! {
    /// The content of a form has only its fields, and each option of a question is a valid answer.
    #[test]
    fn every_form_is_asked_or_refused(properties in any_json(), words in prop::collection::vec(".{0,5}", 0..3)) {
        let schema = json!({ "type": "object", "properties": properties });
        if let Ok(form) = Form::new("m", &schema) {
            let questions = form.questions(None);
            let answers = vec![words; questions.len()];
            if let Ok(Some(Value::Object(content))) = form.content(&answers) {
                prop_assert!(content.keys().all(|key| properties.get(key).is_some()));
            }
            for (index, question) in questions.iter().enumerate() {
                let limited = question.multiple == Some(true);
                for option in question.options.iter().filter(|_| !limited && !form.fields.is_empty()) {
                    let answer = [option.label.clone()];
                    prop_assert!(form.fields[index].value(&answer).is_ok(), "{option:?}");
                }
            }
        }
    }
}

fn form(properties: Value, required: Value) -> Form {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Form::new("Tell me", &schema).unwrap()
}

fn answers(given: &[&[&str]]) -> Vec<QuestionAnswer> {
    let answer = |texts: &&[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    given.iter().map(answer).collect()
}

#[test]
fn fields_become_questions() {
    let form = form(
        json!({
            "name": {"type": "string", "title": "Your name", "description": "As in the passport"},
            "age": {"type": "integer", "default": 7},
            "sure": {"type": "boolean"},
            "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            "sizes": {"type": "array", "items": {"anyOf": [{"const": "s", "title": "Small"}, {"const": "l"}]}},
        }),
        json!(["name", "sure"]),
    );
    let shown: Vec<_> = form
        .questions(None)
        .into_iter()
        .map(|it| {
            let labels: Vec<_> = it.options.into_iter().map(|option| option.label).collect();
            (
                it.question,
                it.header,
                labels.join("|"),
                it.multiple,
                it.custom,
            )
        })
        .collect();
    let row = |question: &str, header: &str, labels: &str, multiple, custom| {
        let [question, header, labels] = [question, header, labels].map(str::to_owned);
        (question, header, labels, multiple, Some(custom))
    };
    assert_eq!(
        shown,
        [
            row(
                "Tell me\n\nYour name: As in the passport",
                "Your name",
                "",
                None,
                true
            ),
            row("age (a whole number, default: 7)", "age", "", None, true),
            row("sure", "sure", "Yes|No", None, false),
            row("colour (optional)", "colour", "Red|Green", None, false),
            row("sizes (optional)", "sizes", "Small|l", Some(true), false),
        ]
    );
    let again = form.questions(Some("age needs an answer."));
    assert!(
        again[0]
            .question
            .starts_with("age needs an answer.\n\nTell me\n\n")
    );
}

#[test]
fn answers_become_contents() {
    let one = |schema: Value, answer: &[&str]| {
        let form = form(json!({"it": schema}), json!([]));
        let content = form.content(&answers(&[answer]));
        content.map(|content| content.unwrap().get("it").cloned())
    };
    let valid = |schema: Value, answer: &[&str], value: Value| {
        let shown = schema.to_string();
        assert_eq!(one(schema, answer), Ok(Some(value)), "{shown} {answer:?}");
    };
    let wrong = |schema: Value, answer: &[&str]| {
        let shown = schema.to_string();
        let message = "The answer to it is not valid.".to_owned();
        assert_eq!(one(schema, answer), Err(message), "{shown} {answer:?}");
    };
    let string = |more: (&str, Value)| json!({"type": "string", more.0: more.1});
    valid(json!({"type": "string"}), &[" a b "], json!(" a b "));
    valid(string(("maxLength", json!(2))), &["éé"], json!("éé"));
    wrong(string(("maxLength", json!(2))), &["abc"]);
    wrong(string(("minLength", json!(2))), &["a"]);
    wrong(json!({"type": "string"}), &["a", "b"]);
    for (format, good, bad) in [
        ("email", "a@b.example", "a@"),
        ("uri", "https://a.example/", "a b"),
        ("date", "2025-01-31", "2025-1-31"),
        ("date-time", "2025-01-31T10:00:00.25+02:00", "2025-01-31"),
    ] {
        valid(string(("format", json!(format))), &[good], json!(good));
        wrong(string(("format", json!(format))), &[bad]);
    }
    valid(json!({"type": "integer"}), &[" 12 "], json!(12));
    wrong(json!({"type": "integer"}), &["1.5"]);
    valid(json!({"type": "number"}), &["1.5"], json!(1.5));
    wrong(json!({"type": "number"}), &["NaN"]);
    wrong(json!({"type": "number", "minimum": 2}), &["1"]);
    wrong(json!({"type": "number", "maximum": 2}), &["3"]);
    valid(json!({"type": "boolean"}), &["Yes"], json!(true));
    valid(json!({"type": "boolean"}), &["no"], json!(false));
    wrong(json!({"type": "boolean"}), &["maybe"]);
    let colours = json!({"type": "string", "oneOf": [
        {"const": "r", "title": "Red"}, {"const": "s", "title": "Red"}]});
    valid(colours.clone(), &["Red"], json!("r"));
    valid(colours.clone(), &["Red (s)"], json!("s"));
    wrong(colours, &["Blue"]);
    let blank = json!({"type": "string", "enum": ["", "a"]});
    valid(blank, &["\"\""], json!(""));
    let sizes = |more: (&str, Value)| json!({"type": "array", "items": {"type": "string", "enum": ["s", "m"]}, more.0: more.1});
    valid(
        sizes(("minItems", json!(1))),
        &["m", "s", "m"],
        json!(["m", "s"]),
    );
    wrong(sizes(("maxItems", json!(1))), &["m", "s"]);
    wrong(sizes(("minItems", json!(1))), &["x"]);
}

#[test]
fn a_missing_answer_is_the_default_or_absent() {
    let form = form(
        json!({
            "a": {"type": "string", "default": "x"},
            "b": {"type": "string"},
            "c": {"type": "string"},
        }),
        json!(["a", "c"]),
    );
    assert_eq!(
        form.content(&answers(&[&[], &[], &["1"]])),
        Ok(Some(json!({"a": "x", "c": "1"})))
    );
    assert_eq!(
        form.content(&answers(&[&["y"]])),
        Err("c needs an answer.".to_owned())
    );
}

#[test]
fn a_form_without_fields_is_a_confirmation() {
    let form = form(json!({}), json!([]));
    let questions = form.questions(None);
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].question, "Tell me");
    assert_eq!(
        form.content(&answers(&[&["Continue"]])),
        Ok(Some(json!({})))
    );
    assert_eq!(form.content(&answers(&[&["Decline"]])), Ok(None));
    assert_eq!(form.content(&[]), Ok(None));
}

#[test]
fn a_form_that_cannot_be_asked_is_refused() {
    let many: Map<String, Value> = (0..=MAX_FIELDS)
        .map(|number| (number.to_string(), json!({"type": "string"})))
        .collect();
    let values: Vec<_> = (0..101).map(|number| number.to_string()).collect();
    for properties in [
        json!([]),
        json!(many),
        json!({"a": {}}),
        json!({"a": 5}),
        json!({"a": {"type": "object"}}),
        json!({"a": {"type": "array"}}),
        json!({"a": {"type": "string", "enum": []}}),
        json!({"a": {"type": "string", "enum": ["x", "x"]}}),
        json!({"a": {"type": "string", "enum": values}}),
        json!({"x".repeat(300): {"type": "string"}}),
    ] {
        let schema = json!({"type": "object", "properties": properties});
        assert_eq!(
            Form::new("", &schema).err(),
            Some(Unsupported),
            "{properties}"
        );
    }
}
