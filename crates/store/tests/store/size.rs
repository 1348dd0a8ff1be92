//! Size of a transcript in the file, in bytes.

use opencode_schema::Record;
use opencode_schema::event::SessionEvent;
use opencode_schema::id::{IdSource, MessageID};
use opencode_store::{Abort, Draft, LifecycleConflict, SessionRow, Store};
use serde_json::json;

use crate::harness::{Bench, admitted, event, ids, prompted, step_started, with};

/// The texts of a turn, as lengths in bytes.
#[derive(Debug, Clone, Copy)]
struct Turn {
    prompt: usize,
    answer: usize,
    /// Maximum length of an answer beyond `answer`. Each answer has a different length.
    spread: usize,
    /// Length of the tool output before the answer.
    output: Option<usize>,
}

/// Returns the stored bytes of a transcript divided by the bytes of its messages.
async fn ratio(sessions: usize, turns: usize, turn: Turn) -> f64 {
    let bench = Bench::new().await;
    let empty = used(&bench);
    let ids = ids();
    let mut rows = Vec::new();
    for at in 0..sessions {
        rows.push(bench.session(&format!("ses_{at:026}")).await);
    }
    for at in 0..turns {
        let time = 1_795_179_302_007 + at as i64 * 60_000;
        for session in &rows {
            let turn = Turn {
                answer: turn.answer + at * 977 % turn.spread,
                ..turn
            };
            write(&bench.store, session, time, events(&ids, turn)).await;
        }
    }
    let mut transcript = 0;
    for session in &rows {
        for message in bench.messages(session).await {
            transcript += message.to_string().len();
        }
    }
    (used(&bench) - empty) as f64 / transcript as f64
}

/// Returns the bytes of the used pages after a checkpoint.
fn used(bench: &Bench) -> i64 {
    let raw = bench.raw();
    raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let number = |name| -> i64 {
        raw.pragma_query_value(None, name, |row| row.get(0))
            .unwrap()
    };
    (number("page_count") - number("freelist_count")) * number("page_size")
}

async fn write(store: &Store, session: &SessionRow, time: i64, events: Vec<SessionEvent>) {
    let id = session.info.id.clone();
    let write = store.write(move |transaction| {
        for (after, payload) in events.into_iter().enumerate() {
            let metadata = matches!(payload, SessionEvent::StepEnded(_)).then(|| prefix(time));
            let draft = Draft {
                metadata,
                ..Draft::new(time + 10 * (after as i64 / 2), payload)
            };
            transaction.append(&id, None, draft)?;
        }
        Ok::<_, Abort<LifecycleConflict>>(())
    });
    write.await.unwrap();
}

fn events(ids: &IdSource, turn: Turn) -> Vec<SessionEvent> {
    let user = MessageID::generate(ids).to_string();
    let question = text(turn.prompt);
    let mut events = vec![
        admitted(&user, &question, "steer"),
        prompted(&user, &question, "steer"),
    ];
    if let Some(output) = turn.output {
        let assistant = MessageID::generate(ids).to_string();
        let own =
            json!({"assistantMessageID": assistant, "callID": "toolu_01A09q90qw90lq917835lq9"});
        let of = |name, payload| event(name, with(own.clone(), payload));
        let input = json!({"path": "src/components/button/index.ts", "offset": 1, "limit": 200});
        let provider = json!({"executed": false});
        events.extend([
            step_started(&assistant),
            of("tool.input.started", json!({"name": "read"})),
            of("tool.input.ended", json!({"text": input.to_string()})),
            of(
                "tool.called",
                json!({"tool": "read", "input": input, "provider": provider}),
            ),
            of(
                "tool.success",
                json!({
                    "structured": {"uri": "file:///project/src/components/button/index.ts"},
                    "content": [{"type": "text", "text": text(output)}],
                    "outputPaths": [], "provider": provider,
                }),
            ),
            step_ended(&assistant, "tool-calls"),
        ]);
    }
    let assistant = MessageID::generate(ids).to_string();
    let own = json!({"assistantMessageID": assistant, "textID": "text-0"});
    let of = |name, payload| event(name, with(own.clone(), payload));
    events.extend([
        step_started(&assistant),
        of("text.started", json!({})),
        of("text.ended", json!({"text": text(turn.answer)})),
        step_ended(&assistant, "stop"),
    ]);
    events
}

fn step_ended(message: &str, finish: &str) -> SessionEvent {
    let cache = json!({"read": 20480, "write": 512});
    let tokens = json!({"input": 1234, "output": 210, "reasoning": 0, "cache": cache});
    event(
        "step.ended",
        json!({"assistantMessageID": message, "finish": finish, "cost": 0.00432, "tokens": tokens}),
    )
}

/// Returns the metadata of a step about its request.
fn prefix(time: i64) -> Record {
    let report = json!({
        "sha256": format!("{time:064x}"), "bytes": 123_456, "reused": 122_987,
        "agent": "0a1b2c3d", "baseline": "4e5f6a7b", "tools": "8c9d0e1f",
    });
    Record::from_iter([("prefix".to_owned(), report)])
}

fn text(length: usize) -> String {
    let mut text =
        "Some function takes a slice and returns its \"middle\".\n".repeat(length / 54 + 1);
    text.truncate(length);
    text
}

#[tokio::test]
async fn a_transcript_takes_less_than_twice_its_bytes() {
    let plain = |prompt, answer| Turn {
        prompt,
        answer,
        spread: 1,
        output: None,
    };
    let varied = |output| Turn {
        spread: 4000,
        output,
        ..plain(200, 200)
    };
    for (sessions, turns, turn) in [
        (1, 1000, plain(200, 800)),
        // One short line for each text.
        (1, 500, plain(30, 60)),
        // The entries of concurrent sessions are interleaved.
        (20, 50, plain(200, 800)),
        // Lengths that fill pages badly.
        (1, 200, plain(100, 400)),
        (1, 200, plain(200, 1200)),
        (1, 200, plain(200, 2100)),
        (1, 200, plain(200, 5000)),
        (10, 20, plain(1500, 1500)),
        // Typical lengths.
        (1, 200, varied(None)),
        (1, 200, varied(Some(1500))),
        (1, 200, varied(Some(20_000))),
    ] {
        let ratio = ratio(sessions, turns, turn).await;
        assert!(ratio < 2.0, "{sessions} x {turns} x {turn:?}: {ratio}");
    }
}
