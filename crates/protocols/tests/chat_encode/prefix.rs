//! Each request of a conversation continues the former one.

use opencode_llm::CompatibleServer;

use super::growing::{check_prefix_grows, check_written_as_if_anew, report};
use super::*;

/// A growing conversation with every kind of message.
fn long_conversation() -> Vec<Message> {
    let mut messages = tool_turn();
    messages.extend([
        Message::system("first"),
        Message::assistant([call("i", json!({}))]),
        Message::tool([result(
            "i",
            ToolResultValue::Content(vec![file("image/png")]),
        )]),
        Message::system("second"),
        Message::assistant([]),
        Message::user([Part::text("look"), media("image/png", PNG, None)]),
        Message::system("third"),
        Message::user([Part::text("bye \"ü\"\n")]),
        Message::system("fourth"),
        Message::assistant([Part::text("Bye.")]),
    ]);
    messages
}

#[test]
fn a_growing_conversation_equals_a_new_one() {
    for provider in ["mock", "mistral", "deepseek"] {
        let model = model(|model| model.provider_id = provider.into());
        check_written_as_if_anew(&model, &long_conversation());
    }
    let marked = model(|model| {
        model.compatibility.compatible_server = Some(CompatibleServer::OpenRouter);
        model.id = "anthropic/claude-sonnet-4.5".into();
    });
    check_written_as_if_anew(&marked, &long_conversation());
    check_prefix_grows(&marked, &long_conversation());
}

#[test]
fn each_request_continues_the_one_before() {
    // The closing delimiters of the last message are not part of the prefix.
    let prefix = |body: &[u8]| {
        let text = String::from_utf8(body.to_vec()).unwrap();
        let end = text.find(r#"],"stream""#).unwrap();
        let said = text[..end].trim_end_matches(r#",{"role":"user","content":"Continue."}"#);
        said.trim_end_matches(['}', ']', '"']).to_owned()
    };
    let messages = long_conversation();
    let mut request = request(vec![]);
    let mut before = String::new();
    for end in 1..=messages.len() {
        request.messages = messages[..end].to_vec().into();
        let written = prefix(&bytes(&request));
        assert!(written.starts_with(&before), "{end}: {written}");
        before = written;
    }
}

#[test]
fn a_different_conversation_is_not_continued() {
    let base = request(tool_turn());
    bytes(&base);
    let fresh = |change: &dyn Fn(&mut LlmRequest)| {
        let mut reused = base.clone();
        change(&mut reused);
        let mut anew = request(tool_turn());
        change(&mut anew);
        assert_eq!(bytes(&reused), bytes(&anew));
    };
    fn messages(request: &mut LlmRequest) -> &mut Vec<Message> {
        Arc::make_mut(&mut request.messages)
    }
    fresh(&|request| messages(request)[0] = Message::user([Part::text("other")]));
    fresh(&|request| messages(request).truncate(1));
    fresh(&|request| request.system = vec![SystemPart::new("new")]);
    fresh(&|request| request.model = model(|model| model.provider_id = "mistral".into()));
    fresh(&|request| {
        request.tools = Arc::new([ToolDefinition {
            name: "t".into(),
            description: "d".into(),
            input_schema: json!({}).into(),
        }]);
    });
    fresh(&|request| {
        // A refused request leaves no partial output.
        messages(request).push(Message::tool([Part::text("no")]));
        assert!(
            protocol::adapter(ProtocolId::OpenAiChat)
                .encode(request)
                .is_err()
        );
        messages(request).pop();
    });
}

#[test]
fn every_request_of_a_growing_conversation_contains_the_former_prefix() {
    for provider in ["mock", "mistral"] {
        let model = model(|model| model.provider_id = provider.into());
        // The image of a tool result waits for the end of a sequence that another result may extend.
        check_prefix_grows(&model, &long_conversation());
    }
}

#[test]
fn the_prefix_excludes_the_closing_part_of_the_last_message() {
    let mut request = request(vec![Message::user([Part::text("hi")])]);
    request.system = vec![SystemPart::new("s")];
    request.closing = Some(Message::assistant([Part::text("Summing up.")]));
    let prefix = r#"{"role":"system","content":"s"},{"role":"user","content":"hi"#;
    let told = report(&request, None);
    assert_eq!(told.prefix.bytes, prefix.len() as u64);
    assert!(
        told.prefix
            .sha256
            .starts_with(&opencode_llm::short_hash(prefix.as_bytes()))
    );
    assert_eq!((told.reused, told.same_form), (0, None));
    let sent = String::from_utf8(bytes(&request)).unwrap();
    let closing = r#"\n<system-update>\nSumming up.\n</system-update>"}],"stream""#;
    assert!(sent.contains(&format!("{prefix}{closing}")), "{sent}");
    // The next request does not contain the closing message.
    request.closing = None;
    Arc::make_mut(&mut request.messages).push(Message::assistant([Part::text("Hi.")]));
    assert!(report(&request, Some(&told.prefix)).extends(&told.prefix));
}

#[test]
fn a_missing_former_prefix_is_detected() {
    let base = tool_turn();
    type Change = fn(&mut LlmRequest);
    let rows: [(&str, Change, Option<bool>); 4] = [
        (
            "another end",
            |it| {
                *Arc::make_mut(&mut it.messages).last_mut().unwrap() =
                    Message::user([Part::text("?")]);
            },
            Some(true),
        ),
        (
            "a shorter one",
            |it| Arc::make_mut(&mut it.messages).truncate(1),
            Some(true),
        ),
        (
            "another beginning",
            |it| it.system = vec![SystemPart::new("s")],
            Some(true),
        ),
        (
            "another form",
            |it| {
                it.model = model(|model| {
                    model.compatibility.system_role = Some(SystemRole::User);
                });
            },
            Some(false),
        ),
    ];
    for (name, change, same_form) in rows {
        let mut request = request(base.clone());
        let mut anew = request.clone();
        anew.prefix = PrefixCache::default();
        let former = report(&request, None).prefix;
        let before = String::from_utf8(bytes(&request)).unwrap();
        change(&mut request);
        let told = report(&request, Some(&former));
        let after = String::from_utf8(bytes(&request)).unwrap();
        let array = |body: &str| body.split_once(r#""messages":["#).unwrap().1.to_owned();
        let (before, after) = (array(&before), array(&after));
        let pairs = before.bytes().zip(after.bytes());
        let common = pairs.take_while(|(a, b)| a == b);
        let common = common.count() as u64;
        let expected = common.min(former.bytes).min(told.prefix.bytes);
        assert_eq!(
            (told.reused, told.same_form),
            (expected, same_form),
            "{name}"
        );
        change(&mut anew);
        let anew = report(&anew, Some(&former));
        let all_or_nothing = if expected == former.bytes {
            expected
        } else {
            0
        };
        assert_eq!(
            (anew.prefix, anew.reused),
            (told.prefix, all_or_nothing),
            "{name}"
        );
    }
}
