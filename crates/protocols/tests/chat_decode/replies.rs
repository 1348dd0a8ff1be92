//! Valid replies: their events, any split into chunks, and the decoding time.

use std::time::Duration;

use super::*;

/// A reply with all parts: reasoning, text, two parallel calls, usage.
fn full_reply() -> (Vec<Value>, Vec<LlmEvent>) {
    let raw = json!({"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}});
    let chunks = vec![
        delta(json!({"role": "assistant", "content": null, "reasoning_content": "Hm"})),
        delta(json!({"content": "", "reasoning_content": "m."})),
        delta(json!({"content": "Grüße 🌍"})),
        delta(json!({"content": " \"x\"\n"})),
        tool(Some(0), Some("call_a"), Some("read"), json!("")),
        tool(Some(1), Some("call_b"), Some("grep"), json!("{}")),
        tool(Some(0), None, None, json!("{\"path\":")),
        tool(Some(0), None, None, json!("\"a\"}")),
        stop("tool_calls"),
        json!({"choices": [], "usage": raw}),
    ];
    let events = [
        vec![start()],
        reasoning("reasoning-0", &["Hm", "m."]),
        vec![reasoning_end("reasoning-0")],
        text(&["Grüße 🌍", " \"x\"\n"]),
        // The name of the first call may be incomplete until its input begins.
        input("call_b", "grep", &["{}"]),
        input("call_a", "read", &["{\"path\":", "\"a\"}"]),
        called("call_a", "read", json!({"path": "a"})),
        called("call_b", "grep", json!({})),
        vec![text_end()],
        finished(FinishReason::ToolCalls, usage(100, 10, Some(40), raw)),
    ]
    .concat();
    (chunks, events)
}

#[test]
fn a_full_reply_is_read_for_every_split() {
    let (chunks, expected) = full_reply();
    let plain = sse(&chunks);
    let noisy = format!(
        "\u{feff}: open\n\n{}",
        plain
            .replace("data: {", "event: x\nid: 7\ndata:{")
            .replace("\n\n", "\n\n: ping\n\n")
    );
    let wires = [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        noisy,
        plain.trim_end().to_owned(),
        plain.replace("data: [DONE]\n\n", ""),
        format!("{plain}data: not json\n\n"),
    ];
    for wire in wires {
        let bytes = wire.as_bytes();
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(
                decode(&[head, tail]),
                (expected.clone(), Ok(())),
                "split at {at}"
            );
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), (expected.clone(), Ok(())));
    }
}

#[test]
fn finish_reasons() {
    let rows = [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("end_turn", FinishReason::Stop),
        ("eos", FinishReason::Stop),
    ];
    for (wire, reason) in rows {
        let expected = [vec![start()], finished(reason, None)].concat();
        assert_eq!(events_of(&[stop(wire)]), expected);
    }
    let with_call = [
        tool(Some(0), Some("c"), Some("read"), json!("{}")),
        stop("stop"),
    ];
    assert!(matches!(
        events_of(&with_call).last(),
        Some(LlmEvent::Finish {
            reason: FinishReason::ToolCalls,
            ..
        })
    ));
}

#[test]
fn usage_is_read_from_every_place() {
    let report = |output: u64| json!({"prompt_tokens": 5, "completion_tokens": output});
    let hello = || delta(json!({"content": "Hi"}));
    let with_usage = |mut chunk: Value, output: u64| {
        chunk["usage"] = report(output);
        chunk
    };
    let rows = [
        vec![hello(), with_usage(stop("stop"), 2)],
        vec![
            hello(),
            stop("stop"),
            json!({"choices": [], "usage": report(2)}),
        ],
        vec![hello(), stop("stop"), with_usage(stop("stop"), 2)],
        vec![with_usage(hello(), 1), with_usage(stop("stop"), 2)],
        vec![
            hello(),
            stop("stop"),
            json!({"usage": report(2)}),
            json!({"choices": null, "usage": null}),
        ],
    ];
    let expected = [
        vec![start()],
        text(&["Hi"]),
        vec![text_end()],
        finished(FinishReason::Stop, usage(5, 2, None, report(2))),
    ]
    .concat();
    for chunks in rows {
        assert_eq!(events_of(&chunks), expected, "{chunks:?}");
    }
}

/// Returns the CPU time of this thread, which does not depend on the load of the machine. Returns
/// `None` if the system does not report it.
fn computed() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = times.split(' ').next()?;
    Some(Duration::from_nanos(nanoseconds.parse().ok()?))
}

#[test]
fn twenty_thousand_deltas_are_decoded_quickly() {
    let one = format!("data: {}\n\n", delta(json!({"content": "word "})));
    let wire = one.repeat(20_000) + &sse(&[stop("stop")]);
    let run = || {
        let begin = computed();
        let mut decoder = decoder();
        let mut count = 0;
        for chunk in wire.as_bytes().chunks(16 << 10) {
            let mut events = Vec::new();
            decoder.push(chunk, &mut events).unwrap();
            count += events.len();
        }
        assert_eq!(count, 20_000 + 5);
        Some(computed()? - begin?)
    };
    // The minimum of several runs, because other processes also use the CPU caches.
    let best = (0..5).filter_map(|_| run()).min();
    // A debug build is about ten times slower than a release build.
    let budget = if cfg!(debug_assertions) { 600 } else { 40 };
    let budget = Duration::from_millis(budget);
    assert!(best.is_none_or(|best| best < budget), "{best:?}");
}

#[test]
fn text_ends_with_the_finish_reason_and_before_the_end_of_the_body() {
    let mut decoder = decoder();
    let mut out = Vec::new();
    let body = sse(&[
        delta(json!({"content": "Look."})),
        tool(Some(0), Some("call_1"), Some("read"), json!("{}")),
        stop("tool_calls"),
    ]);
    let told = body.strip_suffix("data: [DONE]\n\n").unwrap_or(&body);
    decoder.push(told.as_bytes(), &mut out).unwrap();
    assert_eq!(out.last(), Some(&text_end()), "{out:?}");
}
