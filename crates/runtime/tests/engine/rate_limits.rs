//! A rate limit of a provider holds for all sessions of a host.

use std::time::Duration;

use opencode_llm::{LlmError, LlmErrorReason, RetryPolicy};
use opencode_schema::id::SessionID;
use opencode_testkit::{Fixture, Gate, LiveLog, Reply};

async fn sessions(count: usize) -> (Fixture, Vec<SessionID>) {
    let f = Fixture::with(|options| {
        options.retry = RetryPolicy {
            jitter: 0.0,
            ..RetryPolicy::default()
        };
    })
    .await;
    let mut sessions = Vec::new();
    for _ in 0..count {
        sessions.push(f.session().await);
    }
    (f, sessions)
}

/// Reads up to the next status `retry`.
async fn until_waiting(f: &Fixture, live: &mut LiveLog) {
    let waiting = |live: &LiveLog| live.statuses().iter().filter(|it| *it == "retry").count();
    let before = waiting(live);
    while waiting(live) == before {
        f.read_until(live, "session.status").await;
    }
}

fn slow_down(ms: u64) -> Reply {
    let reason = LlmErrorReason::RateLimit {
        retry_after_ms: Some(ms),
    };
    Reply::fails(LlmError::new(reason, "slow down"))
}

#[tokio::test]
async fn other_sessions_wait_with_the_refused_one_and_follow_in_growing_groups() {
    let (f, sessions) = sessions(4).await;
    let mut live = f.live();
    f.model.reply(slow_down(60_000));
    f.prompt(&sessions[0], "Hi").await;
    f.read_until(&mut live, "retried 1").await;
    until_waiting(&f, &mut live).await;
    for session in &sessions[1..] {
        f.prompt(session, "Hi").await;
        until_waiting(&f, &mut live).await;
    }
    assert_eq!(f.model.requests().len(), 1, "no other request is sent");

    // The first request after the limit goes alone.
    let gate = Gate::new();
    f.model
        .reply(Reply::nothing().hold(&gate).events([]).text("Hello").stop());
    f.model.otherwise(|_| Reply::says("Hello"));
    f.clock.advance(60_000);
    f.asked(2).await;
    f.reached(&gate).await;
    assert_eq!(f.model.requests().len(), 2);
    gate.release();
    for session in &sessions {
        f.wait(session).await;
        assert_eq!(f.events(session).await.last().unwrap(), "step.ended stop");
    }
    assert_eq!(f.model.requests().len(), 5);
    // The limit is over.
    f.ask(&sessions[3], "Again").await;
    assert_eq!(f.model.requests().len(), 6);
}

#[tokio::test]
async fn an_interrupted_session_leaves_the_queue() {
    let (f, sessions) = sessions(3).await;
    let mut live = f.live();
    f.model.reply(slow_down(60_000));
    f.prompt(&sessions[0], "Hi").await;
    f.read_until(&mut live, "retried 1").await;
    until_waiting(&f, &mut live).await;
    for session in &sessions[1..] {
        f.prompt(session, "Hi").await;
        until_waiting(&f, &mut live).await;
    }
    f.interrupt(&sessions[0]).await;
    f.interrupt(&sessions[1]).await;
    f.model.reply(Reply::says("Hello"));
    f.clock.advance(60_000);
    f.wait(&sessions[2]).await;
    assert_eq!(f.model.requests().len(), 2);
}

#[tokio::test]
async fn no_session_waits_longer_than_its_retries_may_take() {
    let (f, sessions) = sessions(2).await;
    let longest = RetryPolicy::default().max_elapsed;
    let mut live = f.live();
    let almost = u64::try_from(longest.as_millis()).unwrap();
    f.model.reply(slow_down(almost));
    f.prompt(&sessions[0], "Hi").await;
    f.read_until(&mut live, "retried 1").await;
    until_waiting(&f, &mut live).await;
    f.prompt(&sessions[1], "Hi").await;
    until_waiting(&f, &mut live).await;
    f.model.otherwise(|_| Reply::says("Hello"));
    f.clock
        .advance(i64::try_from((longest + Duration::from_secs(1)).as_millis()).unwrap());
    for session in &sessions {
        f.wait(session).await;
        assert_eq!(f.events(session).await.last().unwrap(), "step.ended stop");
    }
}

/// Prompts sessions, the first of which is refused for a minute. The others wait for the end of the limit.
async fn limited(f: &Fixture, sessions: &[SessionID], live: &mut LiveLog) {
    f.model.reply(slow_down(60_000));
    f.prompt(&sessions[0], "Hi").await;
    f.read_until(live, "retried 1").await;
    until_waiting(f, live).await;
    for session in &sessions[1..] {
        f.prompt(session, "Hi").await;
        until_waiting(f, live).await;
    }
}

#[tokio::test]
async fn a_request_without_an_answer_gives_its_place_back() {
    let (f, sessions) = sessions(4).await;
    let mut live = f.live();
    limited(&f, &sessions[..3], &mut live).await;
    let (first, second) = (Gate::new(), Gate::new());
    for gate in [&first, &second] {
        f.model
            .reply(Reply::nothing().hold(gate).events([]).text("Late").stop());
    }
    f.model.otherwise(|_| Reply::says("Hello"));
    f.clock.advance(60_000);
    f.asked(2).await;
    f.reached(&first).await;
    // One place at a time: the second request hangs like the first one.
    f.clock.advance(5_000);
    f.asked(3).await;
    f.reached(&second).await;
    f.clock.advance(5_000);
    f.asked(4).await;
    // Another prompt does not wait again.
    f.ask(&sessions[3], "Hi").await;
    first.release();
    second.release();
    for session in &sessions {
        f.wait(session).await;
        assert_eq!(f.events(session).await.last().unwrap(), "step.ended stop");
    }
    assert_eq!(f.model.requests().len(), 5);
}

#[tokio::test]
async fn a_step_of_the_wall_clock_changes_no_wait() {
    for step in [-3_600_000, 3_600_000] {
        let (f, sessions) = sessions(4).await;
        let mut live = f.live();
        limited(&f, &sessions[..3], &mut live).await;
        f.model.otherwise(|_| Reply::says("Hello"));
        f.clock.step(step);
        f.prompt(&sessions[3], "Hi").await;
        until_waiting(&f, &mut live).await;
        assert_eq!(f.model.requests().len(), 1, "{step}");
        f.clock.advance(60_000);
        for session in &sessions {
            f.wait(session).await;
            assert_eq!(f.events(session).await.last().unwrap(), "step.ended stop");
        }
    }
}

#[tokio::test]
async fn the_answer_to_an_earlier_request_widens_the_limit_and_does_not_end_it() {
    let (f, sessions) = sessions(4).await;
    let mut live = f.live();
    let earlier = Gate::new();
    f.model.reply(
        Reply::nothing()
            .hold(&earlier)
            .events([])
            .text("Early")
            .stop(),
    );
    f.prompt(&sessions[3], "Hi").await;
    f.reached(&earlier).await;
    limited(&f, &sessions[..3], &mut live).await;
    earlier.release();
    f.wait(&sessions[3]).await;
    assert_eq!(f.model.requests().len(), 2, "the limit still holds");
    let gates = [Gate::new(), Gate::new()];
    for gate in &gates {
        f.model
            .reply(Reply::nothing().hold(gate).events([]).text("Hello").stop());
    }
    f.model.otherwise(|_| Reply::says("Hello"));
    f.clock.advance(60_000);
    f.asked(4).await;
    gates.iter().for_each(Gate::release);
    for session in &sessions {
        f.wait(session).await;
        assert_eq!(f.events(session).await.last().unwrap(), "step.ended stop");
    }
}
