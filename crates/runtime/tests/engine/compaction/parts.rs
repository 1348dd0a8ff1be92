//! Histories that are too large for one request for a summary.

use opencode_llm::LlmError;
use opencode_testkit::{Gate, Reply, compact};
use serde_json::json;

use super::*;

/// The material of a request for a summary, before its instructions: the prior summary, and the
/// first words of each message.
fn material(request: &LlmRequest) -> (Option<String>, Vec<String>) {
    let text = compact::messages(request).remove(0);
    let (material, _) = text.split_once("\n\nAbove").expect("it says what to do");
    let material = material.strip_prefix("user: ").expect("a person asks");
    let prior = material.strip_prefix("<prior-summary>\n");
    let (prior, conversation) = match prior {
        None => (None, material),
        Some(rest) => {
            let parted = rest.split_once("\n</prior-summary>\n\n");
            let (prior, conversation) = parted.expect("the conversation follows");
            (Some(prior.to_owned()), conversation)
        }
    };
    let conversation = conversation.strip_prefix("<conversation>\n");
    let conversation = conversation.and_then(|it| it.strip_suffix("\n</conversation>"));
    let conversation = conversation.expect("there is a conversation");
    (prior, conversation.split("\n\n").map(shortened).collect())
}

fn summaries(f: &Fixture) -> Vec<(Option<String>, Vec<String>)> {
    let requests = f.model.requests();
    let requests = requests.iter().filter(|it| is_for_summary(it));
    requests.map(material).collect()
}

fn prior(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Number of turns in `outgrown`. Their prompts and answers are as large as those of `grown`.
const TURNS: usize = 7;

/// A session with a history of four and a half windows. It grew while the window was larger.
async fn outgrown() -> (Fixture, SessionID) {
    let limit = json!({"context": 10 * WINDOW, "output": OUTPUT});
    let (f, session) = with(json!({"limit": limit})).await;
    for turn in 0..TURNS {
        let answer = filler(&format!("beta{turn}"), 8_000);
        f.model.reply(Reply::says(&answer));
        let asked = filler(&format!("alpha{turn}"), 5_000);
        f.ask(&session, &asked).await;
    }
    configure(&f, json!({}));
    let location = f.new_session().location;
    f.runtime().reload_location(&location).await.unwrap();
    (f, session)
}

/// Number of events that `outgrown` records.
const OUTGROWN: usize = TURNS * GROWN;

/// The expected material of each request for a summary. Each request has room for about 18,000 tokens.
fn parts(summary: impl Fn(usize) -> String) -> Vec<(Option<String>, Vec<String>)> {
    let user = |turn: usize| format!("[User]: alpha{turn} alpha{turn} al…");
    let assistant = |turn: usize| format!("[Assistant]: beta{turn} beta{turn}…");
    let part = |part: usize| {
        let first = (part == 0).then(|| user(0));
        let next = (part + 1 < TURNS).then(|| user(part + 1));
        let said = first.into_iter().chain([assistant(part)]).chain(next);
        (part.checked_sub(1).map(&summary), said.collect())
    };
    (0..TURNS).map(part).collect()
}

const STARTED: [&str; 3] = [
    "prompt.admitted Next",
    "prompted Next",
    "compaction.started auto",
];

const ANSWERED: [&str; 4] = [
    "step.started",
    "text.started",
    "text.ended Yes.",
    "step.ended stop",
];

#[tokio::test]
async fn a_history_larger_than_the_window_is_summarised_in_parts() {
    let (f, session) = outgrown().await;
    for part in 0..TURNS {
        let reply = Reply::new().text(&format!("SUM{part}"));
        f.model.reply(reply.text("MARY").stop());
    }
    f.model.reply(Reply::says("Yes."));
    let mut live = f.live();
    f.ask(&session, "Next").await;
    // There is one attempt.
    assert_eq!(
        f.events_after(&session, OUTGROWN).await,
        [&STARTED[..], &["compaction.ended auto SUM6MARY"], &ANSWERED].concat()
    );
    // Each part is merged with the summary of the parts before it.
    assert_eq!(summaries(&f), parts(|part| format!("SUM{part}MARY")));
    // The turn continues from the last summary.
    let last = filler("beta6", 8_000);
    let expected = checkpoint("SUM6MARY", &kept(&last, "Next"));
    assert_eq!(compact::messages(&f.model.last_request()), [expected]);
    // The live deltas contain only the summary that is recorded. An empty one announces the end of a part.
    f.read_until(&mut live, "step.ended stop").await;
    let told = live.events();
    assert_eq!(
        told[2..12],
        [
            "compaction.started auto",
            "compaction.delta",
            "compaction.delta",
            "compaction.delta",
            "compaction.delta",
            "compaction.delta",
            "compaction.delta",
            "compaction.delta SUM6",
            "compaction.delta MARY",
            "compaction.ended auto SUM6MARY",
        ]
    );
}

#[tokio::test]
async fn a_failed_part_is_a_failed_attempt() {
    let lost = || LlmError::invalid_output("mock", "lost");
    for (reply, message) in [
        (Reply::says(" "), "the model answered with nothing"),
        (Reply::fails(lost()), "lost"),
        (Reply::new().begin_text().delta("Half").fail(lost()), "lost"),
        (
            Reply::new().text("Half"),
            "the answer ended without saying that it was done",
        ),
    ] {
        let (f, session) = outgrown().await;
        f.model
            .reply(Reply::says("FIRST"))
            .reply(reply)
            .reply(Reply::says("Yes."));
        let mut live = f.live();
        f.ask(&session, "Next").await;
        assert_eq!(
            f.events_after(&session, OUTGROWN).await,
            [&STARTED[..], &ANSWERED].concat()
        );
        // The turn contains the whole history, and no text of a summary was sent live.
        let requests = asked(&f);
        assert_eq!(requests.last().map(Vec::len), Some(2 * TURNS + 1));
        f.read_until(&mut live, "step.ended stop").await;
        let told = live.events();
        let expected = [
            "compaction.started auto".to_owned(),
            "compaction.delta".to_owned(),
            format!("session.error The history of {session} was not compacted: {message}"),
            "step.started".to_owned(),
        ];
        assert_eq!(told[2..6], expected);
    }
}

/// A session whose second part is being summarised, and the gate that holds the summary.
async fn in_second_part() -> (Fixture, SessionID, Gate) {
    let (f, session) = outgrown().await;
    let gate = Gate::new();
    f.model
        .reply(Reply::says("FIRST"))
        .reply(Reply::new().begin_text().delta("SEC").hold(&gate));
    f.prompt(&session, "Next").await;
    f.reached(&gate).await;
    (f, session, gate)
}

#[tokio::test]
async fn an_interruption_ends_it_at_once() {
    let (f, session, gate) = in_second_part().await;
    let asked = f.model.requests().len();
    f.interrupt(&session).await;
    f.dropped(&gate).await;
    assert_eq!(f.runtime().active(), []);
    let events = f.events_after(&session, OUTGROWN).await;
    assert_eq!(events, [&STARTED[..], &["interrupted"]].concat());
    assert_eq!(f.model.requests().len(), asked);
}

#[tokio::test]
async fn a_process_that_dies_between_parts_leaves_the_history_as_it_was() {
    let (mut f, session, _gate) = in_second_part().await;
    f.kill().await;
    assert_eq!(f.events_after(&session, OUTGROWN).await, STARTED);
    for _ in 0..TURNS {
        f.model.reply(Reply::says("SUMMARY"));
    }
    f.model.reply(Reply::says("Yes."));
    f.run(&session).await;
    // The compaction starts again with the first part.
    let asked = summaries(&f).split_off(2);
    assert_eq!(asked, parts(|_| "SUMMARY".to_owned()));
    let compacted = ["compaction.started auto", "compaction.ended auto SUMMARY"];
    assert_eq!(
        f.events_after(&session, OUTGROWN + STARTED.len()).await,
        [&compacted[..], &ANSWERED].concat()
    );
}

const MINUTE: i64 = 60 * 1_000;

fn given_up(session: &SessionID, seconds: u32) -> String {
    format!(
        "session.error The history of {session} was not compacted: the model did not finish its summary within {seconds} seconds"
    )
}

#[tokio::test]
async fn a_part_that_takes_too_long_is_cancelled() {
    let (f, session, gate) = in_second_part().await;
    let mut live = f.live();
    f.model.reply(Reply::says("Yes."));
    f.clock.advance(10 * MINUTE);
    f.wait(&session).await;
    f.dropped(&gate).await;
    f.read_until(&mut live, &given_up(&session, 600)).await;
}

#[tokio::test]
async fn parts_that_take_too_long_in_total_are_cancelled() {
    let (f, session) = outgrown().await;
    let gates = [(); TURNS].map(|()| Gate::new());
    for gate in &gates {
        f.model.reply(Reply::new().text("SUM").hold(gate).stop());
    }
    f.model.reply(Reply::says("Yes."));
    let mut live = f.live();
    f.prompt(&session, "Next").await;
    for gate in &gates[..TURNS - 1] {
        f.reached(gate).await;
        f.clock.advance(9 * MINUTE);
        gate.release();
    }
    f.reached(&gates[TURNS - 1]).await;
    f.clock.advance(6 * MINUTE);
    f.wait(&session).await;
    f.read_until(&mut live, &given_up(&session, 3_600)).await;
}

#[tokio::test]
async fn a_checkpoint_of_several_parts_is_merged_with_later_messages() {
    let (f, session) = outgrown().await;
    for _ in 0..TURNS {
        f.model.reply(Reply::says("FIRST"));
    }
    let gamma = filler("gamma", 12_500);
    f.model
        .reply(Reply::says(&gamma))
        .reply(Reply::says("SECOND"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    f.ask(&session, "Then").await;
    let asked = summaries(&f);
    let expected = (
        prior("FIRST"),
        vec![
            shortened(
                kept(&filler("beta6", 8_000), "Next")
                    .split_once("\n\n")
                    .unwrap()
                    .0,
            ),
            "[User]: Next".to_owned(),
            shortened("[Assistant]: gamma gamma gamma"),
        ],
    );
    assert_eq!(asked[TURNS..], [expected]);
    assert_eq!(
        compact::messages(&f.model.last_request()),
        [checkpoint("SECOND", &kept(&gamma, "Then"))]
    );
}

#[tokio::test]
async fn a_manual_compaction_also_uses_parts() {
    let (f, session) = outgrown().await;
    for _ in 0..TURNS {
        f.model.reply(Reply::says("SUMMARY"));
    }
    let compacted = f.within("compact", f.runtime().compact(&session)).await;
    compacted.unwrap();
    assert_eq!(
        f.events_after(&session, OUTGROWN).await,
        [
            "compaction.started manual",
            "compaction.ended manual SUMMARY"
        ]
    );
    assert_eq!(summaries(&f).len(), TURNS);
}

#[tokio::test]
async fn a_message_larger_than_a_part_is_cut_in_the_middle_with_a_notice() {
    let (f, session) = open().await;
    f.model
        .reply(Reply::says("Hello."))
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Hi").await;
    // The maximum length of an input.
    let text = format!("{} END", "x".repeat((8 << 20) - 1_000));
    f.ask(&session, &text).await;
    let requests = f.model.requests();
    let [_, asked, turn] = &requests[..] else {
        panic!("{} requests", requests.len())
    };
    let asked = compact::messages(asked).remove(0);
    let before = "user: <conversation>\n[User]: Hi\n\n[Assistant]: Hello.\n\n[User]: ";
    let rest = asked.strip_prefix(before).expect("it comes last");
    let (begin, rest) = rest.split_once("\n[truncated: ").unwrap();
    let (missing, rest) = rest.split_once(" characters]\n").unwrap();
    let (end, _) = rest.split_once("\n</conversation>").unwrap();
    // The marker gives the exact number of missing characters. The last 400 characters stay verbatim.
    let missing: usize = missing.parse().unwrap();
    let kept = 4 * KEEP;
    assert_eq!(begin.len() + missing + end.len() + kept, text.len());
    assert_eq!(
        [begin, end],
        [begin.len(), end.len()].map(|it| "x".repeat(it))
    );
    assert!(
        (70_000..76_000).contains(&(begin.len() + end.len())),
        "{missing}"
    );
    let newest = &text[text.len() - kept..];
    assert_eq!(compact::messages(turn), [checkpoint("SUMMARY", newest)]);
    // The stored message is complete.
    let SessionMessage::User { text: stored, .. } = &f.messages(&session).await[2] else {
        panic!("it is the input")
    };
    assert_eq!(stored, &text);
}

#[tokio::test]
async fn the_kept_messages_fit_the_window() {
    // A verbatim part of this size could never be sent.
    let (f, session) = with(json!({"keep": {"tokens": WINDOW}})).await;
    let [alpha, beta] = grown(&f, &session).await;
    f.model
        .reply(Reply::says("SUMMARY"))
        .reply(Reply::says("Yes."));
    f.ask(&session, "Next").await;
    let ended = f.payloads(&session, "compaction.ended").await.remove(0);
    let recent = ended["recent"].as_str().unwrap();
    let all = format!("[User]: {alpha}\n\n[Assistant]: {beta}\n\n[User]: Next");
    assert!(all.ends_with(recent), "{recent}");
    // Half of the window, plus the separators between the messages.
    assert!(
        recent.len().abs_diff(2 * WINDOW as usize) < 8,
        "{}",
        recent.len()
    );
}
