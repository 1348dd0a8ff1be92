//! Requests that do not fit according to the estimate.

use opencode_testkit::{Gate, Reply, ScriptedSource, compact, output};
use serde_json::json;

use super::*;

#[tokio::test]
async fn a_turn_that_exceeds_the_window_continues_from_a_checkpoint() {
    let (f, session) = open().await;
    let [alpha, beta] = grown(&f, &session).await;
    let mut live = f.live();
    f.model
        .reply(Reply::new().text("## Objective").text("\n- Go on").stop())
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    let summary = "## Objective\n- Go on";
    assert_eq!(
        f.events_after(&session, GROWN).await,
        [
            "prompt.admitted Next",
            "prompted Next",
            "compaction.started auto",
            &format!("compaction.ended auto {summary}"),
            "step.started",
            "text.started",
            "text.ended Yes.",
            "step.ended stop",
        ]
    );
    // The request for the summary.
    let requests = f.model.requests();
    let [first, asked, turn] = &requests[..] else {
        panic!("{} requests", requests.len())
    };
    assert_eq!((asked.system.len(), asked.tools.len()), (0, 0));
    assert_eq!(asked.generation.max_tokens, Some(OUTPUT));
    assert_eq!(asked.http.headers, first.http.headers);
    let [prompt] = &compact::messages(asked)[..] else {
        panic!("{} messages", asked.messages.len())
    };
    let recent = kept(&beta, "Next");
    let older = &beta[..beta.len() - recent.find("\n\n").unwrap()];
    let (conversation, _) = prompt.split_once("\n\nAbove").unwrap();
    assert_eq!(
        conversation,
        format!("user: <conversation>\n[User]: {alpha}\n\n[Assistant]: {older}\n</conversation>")
    );
    // The turn reads the checkpoint instead of the history.
    assert_eq!(turn.system, first.system);
    assert_eq!(compact::messages(turn), [checkpoint(summary, &recent)]);
    // The live events and the stored message.
    f.read_until(&mut live, "step.ended stop").await;
    let told = live.events();
    assert_eq!(
        told[2..6],
        [
            "compaction.started auto",
            "compaction.delta ## Objective",
            "compaction.delta \n- Go on",
            &format!("compaction.ended auto {summary}"),
        ]
    );
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let started = f.payloads(&session, "compaction.started").await.remove(0);
    assert_eq!(ended["messageID"], started["messageID"]);
    let messages = f.messages(&session).await;
    let SessionMessage::Compaction {
        id,
        summary: stored,
        recent: kept,
        ..
    } = &messages[3]
    else {
        panic!("{messages:#?}")
    };
    assert_eq!(json!(id), ended["messageID"]);
    assert_eq!((&**stored, kept), (summary, &recent));
    // The next turn continues from the checkpoint, and all messages are still readable.
    f.model.reply(Reply::says("Done."));
    f.ask(&session, "Then?").await;
    let expected = [CHECKPOINT, "assistant: Yes.", "user: Then?"];
    assert_eq!(asked_for(&f.model.last_request()), expected);
    assert_eq!(f.messages(&session).await.len(), 7);
}

#[tokio::test]
async fn a_second_checkpoint_contains_the_first_and_the_messages_after_it() {
    let (f, session) = open().await;
    let [_, beta] = grown(&f, &session).await;
    let gamma = filler("gamma", 12_500);
    f.model
        .reply(Reply::says("FIRST"))
        .reply(Reply::says(&gamma))
        .reply(Reply::says("SECOND"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    f.ask(&session, "Then").await;
    let requests = f.model.requests();
    let prompt = compact::messages(&requests[3]).remove(0);
    let (material, _) = prompt.split_once("\n\nAbove").unwrap();
    let recent = kept(&gamma, "Then");
    let older = &gamma[..gamma.len() - recent.find("\n\n").unwrap()];
    assert_eq!(
        material,
        format!(
            "user: <prior-summary>\nFIRST\n</prior-summary>\n\n<conversation>\n{}\n\n[Assistant]: {older}\n</conversation>",
            kept(&beta, "Next"),
        )
    );
    assert_eq!(
        compact::messages(&requests[4]),
        [checkpoint("SECOND", &recent)]
    );
    let context = f.runtime().context(&session).await.unwrap();
    assert_eq!(context.len(), 2);
}

#[tokio::test]
async fn small_requests_and_those_without_older_messages_are_unchanged() {
    // The answer is shorter than in `grown`, so everything fits.
    let (f, session) = open().await;
    f.model
        .reply(Reply::says(&filler("beta", 3_000)))
        .reply(Reply::says("Yes."));
    f.ask(&session, &filler("alpha", 5_000)).await;
    f.ask(&session, "Next").await;
    assert_eq!(asked(&f)[1], [ALPHA, BETA, "user: Next"]);
    // A single unanswered input of any length has no older history.
    let session = f.session().await;
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, &filler("alpha", 15_000)).await;
    assert_eq!(asked_for(&f.model.last_request()), [ALPHA]);
    // The whole history is recent.
    let (f, session) = with(json!({"keep": {"tokens": 16_000}})).await;
    grown(&f, &session).await;
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    assert_eq!(asked(&f)[1], [ALPHA, BETA, "user: Next"]);
}

#[tokio::test]
async fn compaction_is_off_if_disabled_or_if_the_window_is_unknown() {
    for settings in [
        json!({"auto": false}),
        json!({"limit": {"context": 0, "output": OUTPUT}}),
    ] {
        let (f, session) = with(settings).await;
        grown(&f, &session).await;
        f.model.reply(Reply::says("Yes."));
        f.ask(&session, "Next").await;
        assert_eq!(asked(&f), [vec![ALPHA], vec![ALPHA, BETA, "user: Next"]]);
    }
}

#[tokio::test]
async fn a_turn_with_open_results_continues_from_a_checkpoint_with_them() {
    let (f, session) = open().await;
    f.tool("echo", |_, _| async {
        output(json!({"out": filler("gamma", 6_000)}))
    });
    let config = json!({
        "agent": {"build": {"prompt": "Build.", "steps": 2}},
        "compaction": {"buffer": 8_000, "keep": {"tokens": KEEP}},
        "provider": {"mock": {"models": {"m1": {"limit": {"context": WINDOW, "output": OUTPUT}}}}},
    });
    f.project.write("opencode.json", &config.to_string());
    f.runtime()
        .reload_location(&f.new_session().location)
        .await
        .unwrap();
    f.model
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Done."));
    f.ask(&session, &filler("alpha", 7_000)).await;
    let events = f.events(&session).await;
    let events: Vec<_> = events.iter().map(|event| shortened(event)).collect();
    assert_eq!(
        events[2..],
        [
            "step.started",
            "tool.input.started c1 ec…",
            "tool.input.ended c1 {}",
            "tool.called c1 echo {}",
            "tool.success c1 {\"out\":\"…",
            "step.ended tool-calls",
            "compaction.started auto",
            "compaction.ended auto SU…",
            "step.started",
            "text.started",
            "text.ended Done.",
            "step.ended stop",
        ]
    );
    // It is the last turn that the agent allows, with or without the compaction.
    let last = f.model.last_request();
    let texts = asked_for(&last);
    assert_eq!(texts[0], CHECKPOINT);
    assert_eq!((texts.len(), last.tools.len()), (2, 0));
    // The result is in the checkpoint, truncated like all material of a summary.
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let recent = ended["recent"].as_str().unwrap();
    assert!(recent.ends_with("\n[truncated]"), "{recent}");
    assert_eq!(recent.len(), KEEP * 4);
}

#[tokio::test]
async fn the_context_is_replaced_together_with_the_history() {
    let (f, session) = open().await;
    let source = ScriptedSource::telling("acme/rules", "one");
    let _contributed = f.contribute(&f.project.directory(), &source);
    grown(&f, &session).await;
    source.set("two");
    f.model
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    let last = f.model.last_request();
    let baseline = last.system.last().unwrap();
    assert!(baseline.text.contains("acme/rules is two"));
    assert_eq!(asked_for(&last), [CHECKPOINT]);
    // The update was admitted before the compaction, so it is part of the compacted history.
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let recent = ended["recent"].as_str().unwrap();
    assert!(recent.ends_with("[User]: Next\n\n[System update]: acme/rules is now two"));
}

#[tokio::test]
async fn a_context_that_cannot_be_replaced_stays_and_causes_no_endless_compaction() {
    let (f, session) = open().await;
    let source = ScriptedSource::telling("acme/rules", "one");
    let _contributed = f.contribute(&f.project.directory(), &source);
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, &filler("alpha", 1_000)).await;
    // The update in this epoch is too large by itself, and it stays until the epoch ends.
    source.set(&filler("rule", 12_500));
    let gate = Gate::new();
    f.model
        .reply(Reply::new().text("FIRST").hold(&gate).stop())
        .reply(Reply::says("Yes."))
        .reply(Reply::says("SECOND"))
        .reply(Reply::says("Yes."));
    f.prompt(&session, "Next").await;
    f.reached(&gate).await;
    source.fail();
    gate.release();
    f.wait(&session).await;
    let told = "system: acme/rules is no…";
    let baseline = |request: &LlmRequest| {
        let baseline = request.system.last().expect("there is a baseline");
        let mut pieces = baseline.text.split("\n\n");
        let rules = pieces.find(|it| it.starts_with("acme/rules"));
        rules.expect("the rules are told").to_owned()
    };
    // The next input causes one compaction again.
    f.ask(&session, "Then").await;
    let expected = [vec!["summary"], vec![told, CHECKPOINT]];
    assert_eq!(asked(&f)[1..], [&expected[..], &expected].concat());
    let last = f.model.last_request();
    assert_eq!(baseline(&last), "acme/rules is one");
    // When the context can be replaced, the update of the former epoch disappears.
    source.set("two");
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "Done?").await;
    let last = f.model.last_request();
    assert_eq!(baseline(&last), "acme/rules is two");
    let expected = [CHECKPOINT, "assistant: Yes.", "user: Done?"];
    assert_eq!(asked_for(&last), expected);
}

#[tokio::test]
async fn outputs_that_are_long_only_in_the_request_are_summarised() {
    // A summary truncates outputs. In that form all of them would fit into the tokens that stay verbatim.
    let (f, session) = with(json!({"keep": {"tokens": 4_000}})).await;
    f.tool("echo", |_, _| async {
        output(json!({"out": filler("gamma", 7_000)}))
    });
    f.model
        .reply(Reply::calls("c1", "echo", json!({"n": 1})))
        .reply(Reply::calls("c2", "echo", json!({"n": 2})))
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Done."));
    f.ask(&session, "Go").await;
    assert_eq!(asked(&f)[2..], [vec!["summary"], vec![CHECKPOINT]]);
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let recent = ended["recent"].as_str().unwrap();
    assert!(recent.contains("echo({\"n\":2})"), "{recent}");
    assert!(!recent.contains("echo({\"n\":1})"), "{recent}");
}

#[tokio::test]
async fn the_window_is_that_of_the_next_model() {
    let f = Fixture::open().await;
    let limit = |context: u64| json!({"limit": {"context": context, "output": OUTPUT}});
    let config = json!({
        "agent": {"build": {"prompt": "Build."}},
        "compaction": {"buffer": 8_000, "keep": {"tokens": KEEP}},
        "provider": {"mock": {"models": {"m1": limit(5 * WINDOW), "m2": limit(WINDOW)}}},
    });
    f.project.write("opencode.json", &config.to_string());
    let session = f.session().await;
    grown(&f, &session).await;
    f.model.reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    f.switch_model(&session, "m2").await;
    f.model
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Then").await;
    let expected = [
        &[ALPHA, BETA, "user: Next"][..],
        &["summary"],
        &[CHECKPOINT],
    ];
    assert_eq!(asked(&f)[1..], expected);
    let requests = f.model.requests();
    let models = requests.iter().map(|it| &*it.model.id);
    assert_eq!(models.collect::<Vec<_>>(), ["m1", "m1", "m2", "m2"]);
}

#[tokio::test]
async fn a_window_smaller_than_the_buffer_is_compacted_once_per_turn() {
    let limit = json!({"context": 6_000, "output": OUTPUT});
    let (f, session) = with(json!({"limit": limit, "buffer": 20_000})).await;
    f.tool("echo", |input, _| async { output(input) });
    let answer = filler("beta", 500);
    f.model
        .reply(Reply::says(&answer))
        .reply(Reply::says("FIRST"))
        .reply(Reply::says(&answer))
        .reply(Reply::says("SECOND"))
        .reply(Reply::calls("c1", "echo", json!({})))
        .reply(Reply::calls("c2", "echo", json!({})))
        .reply(Reply::says("Done."));
    for text in ["One", "Two", "Three"] {
        f.ask(&session, text).await;
    }
    // No compaction is sufficient here, so the turns of one activity are not compacted repeatedly.
    assert_eq!(
        asked(&f),
        [
            vec!["user: One"],
            vec!["summary"],
            vec![CHECKPOINT],
            vec!["summary"],
            vec![CHECKPOINT],
            vec![CHECKPOINT, "assistant: c1 echo{}", "tool: c1 = {}"],
            vec![
                CHECKPOINT,
                "assistant: c1 echo{}",
                "tool: c1 = {}",
                "assistant: c2 echo{}",
                "tool: c2 = {}",
            ],
        ]
    );
}

#[tokio::test]
async fn a_long_activity_is_compacted_as_soon_as_it_has_older_messages() {
    let limit = json!({"context": 6_000, "output": OUTPUT});
    let settings = json!({"limit": limit, "buffer": 20_000, "keep": {"tokens": 600}});
    let (f, session) = with(settings).await;
    f.tool("echo", |_, _| async {
        output(json!({"out": filler("gamma", 300)}))
    });
    f.model
        .reply(Reply::calls("c1", "echo", json!({"n": 1})))
        .reply(Reply::calls("c2", "echo", json!({"n": 2})))
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Done."));
    f.ask(&session, "Go").await;
    let calls = |request: &Vec<String>| request.len();
    assert_eq!(
        asked(&f).iter().map(calls).collect::<Vec<_>>(),
        [1, 3, 1, 1]
    );
    assert_eq!(asked(&f)[2..], [vec!["summary"], vec![CHECKPOINT]]);
}
