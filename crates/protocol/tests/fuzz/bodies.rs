//! Bodies.

use std::sync::LazyLock;

use opencode_protocol::decode::Decoder;
use opencode_protocol::input::PromptPayload;
use opencode_protocol::operation::Channel;
use opencode_schema::id::MessageID;
use opencode_schema::prompt::{
    Delivery, PromptAgentAttachment, PromptInput, PromptInputFileAttachment, PromptOutput,
    PromptSettings, PromptSource,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::corpus::{inputs, mutated};
use crate::properties::bodies::check;

const CORPUS: &str = include_str!("corpus/bodies.txt");

#[test]
fn the_corpus_is_read_or_refused() {
    for body in inputs(CORPUS) {
        check(&body);
    }
}

static PROMPT: LazyLock<Decoder<PromptPayload>> = LazyLock::new(|| Decoder::new(Channel::Payload));

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bodies_are_read_or_refused(body in mutated(CORPUS)) {
        check(&body);
    }

    #[test]
    fn bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&body);
    }

    #[test]
    fn any_value_is_read_or_refused(body in value()) {
        check(body.to_string().as_bytes());
    }

    #[test]
    fn a_prompt_is_read_as_written(prompt in prompt(), more in members()) {
        let mut body = Map::new();
        // Undeclared members are before and after the declared ones.
        body.extend(more.clone());
        body.extend(written(&prompt));
        let decoder = &*PROMPT;
        let decoded = decoder.body(Value::Object(body.clone()).to_string().as_bytes());
        prop_assert_eq!(&decoded, &Ok(prompt.clone()));
        // If a member occurs twice, the last one counts.
        let written = Value::Object(body).to_string();
        let twice = format!(r#"{{"prompt":5,"delivery":"later","id":[],{}"#, &written[1..]);
        prop_assert_eq!(decoder.body(twice.as_bytes()), Ok(prompt));
    }
}

/// Any JSON value of moderate size, which often contains declared names.
fn value() -> impl Strategy<Value = Value> {
    let name = || {
        prop_oneof![
            "[a-z_]{0,6}",
            proptest::sample::select(NAMES).prop_map(str::to_owned),
        ]
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        proptest::sample::select(TEXTS).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((name(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

const NAMES: &[&str] = &[
    "id",
    "prompt",
    "text",
    "files",
    "agents",
    "uri",
    "name",
    "source",
    "start",
    "end",
    "delivery",
    "resume",
    "system",
    "tools",
    "output",
    "schema",
    "retries",
    "agent",
    "model",
    "providerID",
    "variant",
    "location",
    "directory",
    "workspaceID",
    "__proto__",
];

const TEXTS: &[&str] = &["ses_a", "msg_a", "wrk_a", "steer", "queue", "/w", "data:,x"];

/// Members under names that no operation declares.
fn members() -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::vec(("x[a-z]{0,4}", value()), 0..4)
        .prop_map(|members| members.into_iter().collect())
}

fn source() -> impl Strategy<Value = Option<PromptSource>> {
    let source =
        (0..1_000_000u32, 0..1_000_000u32, ".{0,8}").prop_map(|(start, end, text)| PromptSource {
            start: start.into(),
            end: end.into(),
            text,
        });
    proptest::option::of(source)
}

prop_compose! {
    fn file()(
        uri in ".{0,20}",
        name in proptest::option::of(".{0,8}"),
        description in proptest::option::of(".{0,8}"),
        source in source(),
    ) -> PromptInputFileAttachment {
        PromptInputFileAttachment { uri, name, description, source }
    }
}

fn output() -> impl Strategy<Value = PromptOutput> {
    let name = proptest::option::of(".{0,8}");
    let retries = proptest::option::of(0..=10u32);
    let schema = proptest::collection::vec(("x[a-z]{0,4}", ".{0,8}"), 0..4);
    (schema, name, retries).prop_map(|(schema, name, retries)| PromptOutput {
        schema: schema
            .into_iter()
            .map(|(key, text)| (key, text.into()))
            .collect(),
        name,
        retries,
    })
}

prop_compose! {
    fn settings()(
        system in proptest::option::of(".{0,20}"),
        tools in proptest::option::of(proptest::collection::btree_map(".{0,8}", any::<bool>(), 0..4)),
        agent in proptest::option::of(".{0,8}"),
        variant in proptest::option::of(".{0,8}"),
        output in proptest::option::of(output()),
    ) -> PromptSettings {
        PromptSettings { system, tools, agent, model: None, variant, output }
    }
}

prop_compose! {
    fn prompt()(
        id in proptest::option::of("msg_.{0,20}"),
        text in ".{0,40}",
        files in proptest::option::of(proptest::collection::vec(file(), 0..3)),
        agents in proptest::option::of(proptest::collection::vec((".{0,8}", source()), 0..3)),
        delivery in proptest::option::of(prop_oneof![Just(Delivery::Steer), Just(Delivery::Queue)]),
        resume in proptest::option::of(any::<bool>()),
        settings in settings(),
        mentions in proptest::option::of(any::<bool>()),
    ) -> PromptPayload {
        let agents = agents.map(|all| {
            all.into_iter().map(|(name, source)| PromptAgentAttachment { name, source }).collect()
        });
        PromptPayload {
            id: id.map(|text| MessageID::parse(&text).unwrap()),
            prompt: PromptInput { text, files, agents },
            delivery,
            resume,
            system: settings.system,
            tools: settings.tools,
            agent: settings.agent,
            model: settings.model,
            variant: settings.variant,
            output: settings.output,
            mentions,
        }
    }
}

/// The members of a body with this value.
fn written(prompt: &PromptPayload) -> Map<String, Value> {
    let body = json!({
        "id": prompt.id,
        "prompt": prompt.prompt,
        "delivery": prompt.delivery,
        "resume": prompt.resume,
        "system": prompt.system,
        "tools": prompt.tools,
        "agent": prompt.agent,
        "model": prompt.model,
        "variant": prompt.variant,
        "output": prompt.output,
        "mentions": prompt.mentions,
    });
    match body {
        Value::Object(mut members) => {
            // A null is not the same as no rule.
            if prompt.tools.is_none() {
                members.remove("tools");
            }
            members
        }
        other => panic!("{other}"),
    }
}
