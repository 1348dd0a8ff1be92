use opencode_schema::id::SessionID;
use opencode_schema::prompt::{Delivery, PromptInput};

use super::*;
use crate::input::{
    EventsQuery, HistoryQuery, LocationQuery, LocationSelection, MessageParams, MessagesQuery,
    Nothing, Order, PromptPayload, SessionCreatePayload, SessionPrunePayload, SessionUpdatePayload,
    SessionsQuery,
};

fn query<T: DeserializeOwned + JsonSchema>(pairs: &[(&str, &str)]) -> Result<T, String> {
    let decoded = Decoder::<T>::new(Channel::Query).pairs(pairs);
    decoded.map_err(|failure| failure.message().to_owned())
}

fn body<T: DeserializeOwned + JsonSchema>(text: &str) -> Result<T, String> {
    let decoded = Decoder::<T>::new(Channel::Payload).body(text.as_bytes());
    decoded.map_err(|failure| failure.message().to_owned())
}

#[test]
fn numbers_in_queries_are_decimal() {
    for (text, after) in [("", 0), ("1", 1), ("1e1", 10)] {
        assert_eq!(
            query(&[("after", text)]),
            Ok(EventsQuery { after: Some(after) })
        );
    }
    for (name, text, message) in [
        ("limit", "abc", "Expected an integer, got NaN"),
        ("limit", "0x10", "Expected an integer, got NaN"),
        ("limit", " 1", "Expected an integer, got NaN"),
        ("limit", "1.5", "Expected an integer, got 1.5"),
        ("limit", "0", "Expected a value greater than 0, got 0"),
        (
            "limit",
            "101",
            "Expected a value less than or equal to 100, got 101",
        ),
        (
            "after",
            "-1",
            "Expected a value greater than or equal to 0, got -1",
        ),
        ("after", "1e300", "Expected an integer, got 1e+300"),
    ] {
        assert_eq!(
            query::<HistoryQuery>(&[(name, text)]),
            Err(format!("{message}\n  at [\"{name}\"]"))
        );
    }
    assert_eq!(
        query::<MessagesQuery>(&[("limit", "0")]),
        Err("Expected a value greater than or equal to 1, got 0\n  at [\"limit\"]".into())
    );
    assert_eq!(
        query::<SessionsQuery>(&[("limit", "-1")]),
        Err("Expected a value greater than 0, got -1\n  at [\"limit\"]".into())
    );
}

#[test]
fn fields_of_queries_are_given_once_and_others_ignored() {
    assert_eq!(
        query::<MessagesQuery>(&[("limit", "1"), ("limit", "2")]),
        Err("Expected string | undefined, got [\"1\",\"2\"]\n  at [\"limit\"]".into())
    );
    assert_eq!(
        query(&[("limit[]", "x"), ("directory", "/w"), ("order", "asc")]),
        Ok(MessagesQuery {
            order: Some(Order::Asc),
            ..MessagesQuery::default()
        })
    );
    assert_eq!(
        query::<MessagesQuery>(&[("order", "up")]),
        Err("Expected \"asc\" | \"desc\", got \"up\"\n  at [\"order\"]".into())
    );
    assert_eq!(query(&[("a", "b")]), Ok(Nothing {}));
}

#[test]
fn a_location_is_given_member_by_member() {
    let location = |directory: &str| {
        Ok(LocationSelection {
            location: Some(LocationQuery {
                directory: Some(directory.into()),
                workspace: None,
            }),
        })
    };
    for (pairs, expected) in [
        (&[("location[directory]", "/w")][..], location("/w")),
        (
            &[("location[directory]", "/a"), ("location[directory]", "/b")],
            location("/a"),
        ),
        (
            &[("location[more]", "x"), ("location[directory]", "/w")],
            location("/w"),
        ),
        (
            &[("directory", "/w"), ("location.directory", "/w")],
            Ok(LocationSelection::default()),
        ),
        (
            &[("location", "{}")],
            Err("Expected LocationQuery | null, got \"{}\"\n  at [\"location\"]".into()),
        ),
        (
            &[("location[workspace]", "x")],
            Err("Expected a string starting with \"wrk\", got \"x\"\n  at [\"location\"][\"workspace\"]".into()),
        ),
    ] {
        assert_eq!(query(pairs), expected, "{pairs:?}");
    }
}

#[test]
fn identifiers_in_paths_are_checked() {
    let decoder = Decoder::<MessageParams>::new(Channel::Params);
    assert_eq!(
        decoder.pairs(&[("sessionID", "ses_1"), ("messageID", "foo")]),
        Err(Failure::InvalidRequest {
            message: "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"messageID\"]"
                .into(),
            kind: Some(Channel::Params),
            field: None,
        })
    );
    let long = format!("msg_{}", "x".repeat(300));
    let failure = decoder.pairs(&[("sessionID", "ses_1"), ("messageID", &long)]);
    assert_eq!(
        failure.unwrap_err().message(),
        "Expected an identifier of at most 256 bytes, got 304"
    );
}

#[test]
fn bodies_are_decoded_and_problems_reported() {
    let prompt = PromptPayload {
        id: None,
        prompt: PromptInput {
            text: "hi".into(),
            files: None,
            agents: None,
        },
        delivery: Some(Delivery::Queue),
        resume: None,
        system: None,
        tools: None,
        agent: None,
        model: None,
        variant: None,
        output: None,
        mentions: None,
    };
    assert_eq!(
        body(r#"{"id":null,"prompt":{"text":"hi","x":1},"delivery":"queue","resume":null,"y":2}"#),
        Ok(prompt)
    );
    assert_eq!(
        body(r#"{"id":"ses_a","id":"ses_b"}"#),
        Ok(SessionCreatePayload {
            id: SessionID::parse("ses_b").ok(),
            ..SessionCreatePayload::default()
        })
    );
    for (text, message) in [
        ("", "Expected object, got undefined"),
        ("null", "Expected object, got null"),
        ("[]", "Expected object, got []"),
        ("{}", "Missing key\n  at [\"prompt\"]"),
        (
            r#"{"prompt":null}"#,
            "Expected PromptInput, got null\n  at [\"prompt\"]",
        ),
        (
            r#"{"prompt":"hi"}"#,
            "Expected PromptInput, got \"hi\"; write prompt: { text: \"hi\" }\n  at [\"prompt\"]",
        ),
        (
            r#"{"prompt":{"text":"","files":[{"uri":1}]}}"#,
            "Expected string, got 1\n  at [\"prompt\"][\"files\"][0][\"uri\"]",
        ),
        (
            r#"{"prompt":{"text":""},"tools":{"read":"no"}}"#,
            "Expected boolean, got \"no\"\n  at [\"tools\"][\"read\"]",
        ),
        (
            r#"{"prompt":{"text":""},"output":{"schema":{},"retries":11}}"#,
            "Expected a value less than or equal to 10, got 11\n  at [\"output\"][\"retries\"]",
        ),
        (
            r#"{"prompt":{"text":""},"output":{"schema":{},"retries":null}}"#,
            "Expected number, got null\n  at [\"output\"][\"retries\"]",
        ),
        (
            r#"{"prompt":{"text":""},"tools":null}"#,
            "Expected object, got null\n  at [\"tools\"]",
        ),
        (
            r#"{"prompt":{"text":""},"delivery":"later"}"#,
            "Expected \"steer\" | \"queue\", got \"later\"\n  at [\"delivery\"]",
        ),
    ] {
        assert_eq!(body::<PromptPayload>(text), Err(message.into()), "{text}");
    }
    let long = format!(r#"{{"prompt":"{}"}}"#, "x".repeat(5000));
    assert_eq!(
        body::<PromptPayload>(&long),
        Err("Expected PromptInput, got a string; write prompt: { text: \"...\" }\n  at [\"prompt\"]".into())
    );
    for (model, shape) in [
        ("fake/m1", r#"{ providerID: "fake", id: "m1" }"#),
        ("m1", r#"{ providerID: "...", id: "m1" }"#),
    ] {
        assert_eq!(
            body::<SessionCreatePayload>(&format!(r#"{{"model":"{model}"}}"#)),
            Err(format!(
                "Expected ModelRef, got \"{model}\"; write model: {shape}\n  at [\"model\"]"
            ))
        );
    }
    for (text, what) in [
        (
            r#"{"olderThan":null,"keepLast":3}"#,
            "number, got null\n  at [\"olderThan\"]",
        ),
        (
            r#"{"olderThan":1,"keepLast":null}"#,
            "number, got null\n  at [\"keepLast\"]",
        ),
        (
            r#"{"archived":null}"#,
            "boolean, got null\n  at [\"archived\"]",
        ),
    ] {
        let refused = Err(format!("Expected {what}"));
        assert_eq!(body::<SessionPrunePayload>(text), refused, "{text}");
    }
    for (text, what) in [
        (
            r#"{"permission":null}"#,
            "array, got null\n  at [\"permission\"]",
        ),
        (
            r#"{"budget":null}"#,
            "SessionBudget, got null\n  at [\"budget\"]",
        ),
        (
            r#"{"budget":{"tokens":null}}"#,
            "number, got null\n  at [\"budget\"][\"tokens\"]",
        ),
        (
            r#"{"budget":{"cost":null}}"#,
            "number, got null\n  at [\"budget\"][\"cost\"]",
        ),
        (
            r#"{"budget":{"turns":null}}"#,
            "number, got null\n  at [\"budget\"][\"turns\"]",
        ),
        (
            r#"{"budget":{"durationMs":null}}"#,
            "number, got null\n  at [\"budget\"][\"durationMs\"]",
        ),
    ] {
        let refused = Err(format!("Expected {what}"));
        assert_eq!(body::<SessionCreatePayload>(text), refused, "{text}");
        let refused = Err(format!("Expected {what}"));
        assert_eq!(body::<SessionUpdatePayload>(text), refused, "{text}");
    }
    assert!(
        body::<SessionPrunePayload>("{}").is_ok() && body::<SessionCreatePayload>("{}").is_ok()
    );
    for text in ["{", "\u{feff}{}", &"[".repeat(100_000)] {
        let message = body::<PromptPayload>(text).unwrap_err();
        assert!(message.starts_with("Malformed JSON: "), "{message}");
    }
}

#[test]
fn the_number_of_values_in_a_body_is_bounded() {
    // The body, its prompt, the text and the list are values too.
    let with = |ones: usize| {
        let more = vec!["1"; ones].join(",");
        format!(r#"{{"prompt":{{"text":"\\\",[{{"}},"more":[{more}]}}"#)
    };
    let decode = |text: &str| body::<PromptPayload>(text).map(|payload| payload.prompt.text);
    assert_eq!(decode(&with(MAX_VALUES - 4)), Ok("\\\",[{".into()));
    assert_eq!(
        decode(&with(MAX_VALUES - 3)),
        Err("Expected at most 262144 values, got more".into())
    );
}
