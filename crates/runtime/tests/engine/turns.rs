//! Ordinary Provider Turns: their events, requests and announcements.

use std::sync::{Arc, Mutex};

use opencode_llm::{FinishReason, Usage};
use opencode_runtime::Moment;
use opencode_schema::session::{CacheTokens, Tokens};
use opencode_testkit::{Fixture, Reply, compact, output, test_hook};
use serde_json::json;

/// A prompt and the answer to it.
const ONE_TURN: [&str; 6] = [
    "prompt.admitted Hi",
    "prompted Hi",
    "step.started",
    "text.started",
    "text.ended Hello.",
    "step.ended stop",
];

fn usage(input: u64, output: u64) -> Usage {
    Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        ..Usage::default()
    }
}

#[tokio::test]
async fn a_prompt_is_admitted_promoted_and_answered() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    let asked = f.ask(&session, "Hi").await;
    assert_eq!(f.events(&session).await, ONE_TURN);
    let messages = f.messages(&session).await;
    let messages = serde_json::to_value(messages).unwrap();
    assert_eq!(
        messages,
        json!([
            {
                "type": "user",
                "id": asked.id,
                "time": {"created": asked.time_created},
                "text": "Hi",
            },
            {
                "type": "assistant",
                "id": messages[1]["id"],
                // Other tests check the report about the request.
                "metadata": {"prefix": messages[1]["metadata"]["prefix"]},
                "time": {"created": asked.time_created, "completed": asked.time_created},
                "agent": "build",
                "model": {"id": "m1", "providerID": "mock"},
                "content": [{"type": "text", "id": "text-0", "text": "Hello."}],
                "finish": "stop",
                "cost": 0.0,
                "tokens": {
                    "input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0},
                },
            },
        ])
    );
}

#[tokio::test]
async fn a_request_names_its_session_and_its_location() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::says("Hello."));
    f.tool("look", |_, _| async {
        unreachable!("the model does not call it")
    });
    f.ask(&session, "Hi").await;
    let request = f.model.last_request();
    assert_eq!(compact::messages(&request), ["user: Hi"]);
    let headers = [
        ("x-session-affinity".to_owned(), session.to_string()),
        ("X-Session-Id".to_owned(), session.to_string()),
    ];
    assert_eq!(request.http.headers, headers);
    assert_eq!(
        (&*request.model.provider_id, &*request.model.id),
        ("mock", "m1")
    );
    assert_eq!((request.tool_choice, request.tools.len()), (None, 1));
    assert_eq!(
        serde_json::to_value(&request.tools[0]).unwrap(),
        json!({
            "name": "look",
            "description": "Scripted by a test.",
            "inputSchema": {"type": "object"},
        })
    );
    // The text of the agent comes first.
    let [_, baseline] = &request.system[..] else {
        panic!("{:?}", request.system)
    };
    let directory = f.project.directory();
    assert!(baseline.text.contains(&directory), "{}", baseline.text);
}

#[tokio::test]
async fn an_answer_without_content_is_still_a_step() {
    let f = Fixture::open().await;
    let session = f.session().await;
    f.model.reply(Reply::new().stop());
    f.ask(&session, "Hi").await;
    assert_eq!(
        f.events_after(&session, 2).await,
        ["step.started", "step.ended stop"]
    );
}

#[tokio::test]
async fn the_end_of_a_step_ends_open_parts_in_their_order() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let reply = Reply::new()
        .begin_text()
        .delta("one ")
        .begin_text()
        .delta("two")
        .stop();
    f.model.reply(reply);
    f.ask(&session, "Hi").await;
    assert_eq!(
        f.events_after(&session, 2).await,
        [
            "step.started",
            "text.started",
            "text.started",
            "text.ended one ",
            "text.ended two",
            "step.ended stop",
        ]
    );
}

#[tokio::test]
async fn every_finish_reason_is_recorded() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let reasons = [
        (FinishReason::Stop, "stop"),
        (FinishReason::Length, "length"),
        (FinishReason::ToolCalls, "tool-calls"),
        (FinishReason::ContentFilter, "content-filter"),
        (FinishReason::Unknown, "unknown"),
    ];
    for (reason, name) in reasons {
        let before = f.events(&session).await.len();
        f.model.reply(Reply::new().finish(reason));
        f.ask(&session, "Hi").await;
        let ended = format!("step.ended {name}");
        assert_eq!(
            f.events_after(&session, before + 2).await,
            ["step.started", &ended]
        );
    }
    assert_eq!(f.model.requests().len(), reasons.len());
}

#[tokio::test]
async fn tokens_and_cost_are_recorded_with_the_step_and_summed_over_the_session() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let cached = Usage {
        cache_read_input_tokens: Some(60),
        cache_write_input_tokens: Some(40),
        reasoning_tokens: Some(5),
        ..usage(200, 25)
    };
    f.model.reply(Reply::new().usage(cached).stop());
    f.ask(&session, "One").await;
    f.switch_model(&session, "m2").await;
    f.model.reply(Reply::new().usage(usage(7, 3)).stop());
    f.ask(&session, "Two").await;
    let tokens = |input, output, reasoning, read, write| Tokens {
        input,
        output,
        reasoning,
        cache: CacheTokens { read, write },
    };
    let steps = f.payloads(&session, "step.ended").await;
    let steps: Vec<_> = steps
        .iter()
        .map(|step| json!([step["cost"], step["tokens"]]))
        .collect();
    assert_eq!(
        steps,
        [
            json!([0.000_843, tokens(100, 20, 5, 60, 40)]),
            // The second model has no prices.
            json!([0.0, tokens(7, 3, 0, 0, 0)]),
        ]
    );
    let info = f.info(&session).await;
    assert_eq!(
        (info.cost, info.tokens),
        (0.000_843, tokens(107, 23, 5, 60, 40))
    );
}

#[tokio::test]
async fn fragments_are_announced_between_their_records_and_never_stored() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let mut live = f.live();
    let reply = Reply::new()
        .reasoning("Hm.", None)
        .begin_text()
        .delta("Hel")
        .delta("lo.")
        .end_text()
        .stop();
    // The result does not depend on the pieces of network input.
    f.model.reply(reply.clone()).reply(reply.in_one_piece());
    let expected = |prompt: &str| {
        [
            &format!("prompt.admitted {prompt}"),
            &format!("prompted {prompt}"),
            "step.started",
            "reasoning.started",
            "reasoning.delta Hm.",
            "reasoning.ended Hm.",
            "text.started",
            "text.delta Hel",
            "text.delta lo.",
            "text.ended Hello.",
            "step.ended stop",
        ]
        .map(str::to_owned)
    };
    f.ask(&session, "One").await;
    f.ask(&session, "Two").await;
    f.close().await;
    f.read_to_end(&mut live).await;
    let mut all = expected("One").to_vec();
    all.extend(expected("Two"));
    all.push("global.disposed".to_owned());
    assert_eq!(live.events(), all);
    let drain = ["busy", "idle", "session.idle"];
    assert_eq!(live.statuses(), [drain, drain].concat());
    let location = json!({"directory": f.project.directory()});
    for event in &live.values()[..all.len() - 1] {
        let is_fragment = event["type"].as_str().unwrap().ends_with(".delta");
        assert_eq!(event.get("durable").is_none(), is_fragment, "{event}");
        assert_eq!(event["location"], location, "{event}");
        assert_eq!(event["data"]["sessionID"], json!(session), "{event}");
    }
}

#[tokio::test]
async fn stored_events_are_the_announced_ones_without_the_fragments() {
    let f = Fixture::open().await;
    let session = f.session().await;
    let mut live = f.live();
    f.model.reply(Reply::says("Hello."));
    f.ask(&session, "Hi").await;
    f.read_until(&mut live, "step.ended stop").await;
    let announced: Vec<_> = live
        .values()
        .iter()
        .filter(|event| event.get("durable").is_some())
        .map(|event| (event["id"].clone(), event["durable"]["seq"].clone()))
        .collect();
    let stored = f.stored(&session).await;
    let stored: Vec<_> = stored
        .iter()
        .map(|it| (json!(it.id), json!(u64::from(it.seq))))
        .collect();
    assert_eq!(announced, stored);
    let seqs: Vec<_> = stored.iter().map(|(_, seq)| seq.clone()).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn calls_of_one_piece_share_a_commit_and_their_fragments_keep_their_places() {
    let commits = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&commits);
    let test_hook = test_hook(move |moment| {
        if let Moment::Committed(entries) = moment {
            let names = entries.iter().map(|entry| entry.event.payload.name());
            seen.lock().unwrap().push(names.collect::<Vec<_>>());
        }
        Ok(())
    });
    let f = Fixture::with(move |options| options.test_hook = Some(Arc::clone(&test_hook))).await;
    let session = f.session().await;
    f.tool("look", |input, _| async { output(input) });
    let calls = (0..3).fold(Reply::new(), |reply, at| {
        reply.call(&format!("c{at}"), "look", json!({"at": at}))
    });
    f.model.reply(calls.tool_calls().in_one_piece());
    f.model.reply(Reply::says("Done."));
    let mut live = f.live();
    f.ask(&session, "Go").await;
    f.read_until(&mut live, "step.ended tool-calls").await;
    let events = live.events();
    let places =
        |event: &String| event.starts_with("tool.input") || event.starts_with("tool.called");
    let streamed: Vec<_> = events.iter().filter(|event| places(event)).collect();
    let expected = (0..3).flat_map(|at| {
        [
            format!("tool.input.started c{at} look"),
            format!(r#"tool.input.delta c{at} {{"at":{at}}}"#),
            format!(r#"tool.input.ended c{at} {{"at":{at}}}"#),
            format!(r#"tool.called c{at} look {{"at":{at}}}"#),
        ]
    });
    assert_eq!(
        streamed,
        expected.collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    let commits = commits.lock().unwrap();
    let called = |names: &&Vec<&str>| names.contains(&"session.next.tool.called");
    assert_eq!(commits.iter().filter(called).count(), 1, "{commits:?}");
}
